/**
 * [R4] [R8] What the server carries: durable changes in a second, kept up for a minute; and a block of ten megabytes, which
 * is appended to and read as if it were small.
 */
import { once } from "node:events";
import { WebSocket } from "ws";
import { median, quantile } from "../../bench/bench.ts";
import type { Driver } from "../../bench/fanout/driver.ts";
import type { Trial } from "./trial.ts";

const WRITERS = 50;
/** Calls that one writer has under way: it waits for none before it sends the next, as a stream does. */
const UNDER_WAY = 8;
const DURABLE_SECONDS = 60;
const LINES = 200_000;
const LINE = `${"ten megabytes in lines of fifty characters each.".padEnd(49, ".")}\n`;
const SAMPLES = 300;
const RANGE = 100;

export const durable: Trial = {
  name: "durable",
  question: "How many changes a second are durable, end to end, for a minute?",
  async run(driver, { minutes }) {
    const { server } = driver;
    const { conversation } = await server.do("conversation.create", { title: "durable" });
    const seconds = Math.min(DURABLE_SECONDS, minutes * 60);
    const writers = await Promise.all(Array.from({ length: WRITERS }, () => writer(driver, conversation)));
    const opsBefore = await driver.metric("blockyard_ops_total");
    const startMs = performance.now();
    const acknowledged = await Promise.all(writers.map((write) => write(startMs + seconds * 1_000)));
    const took = (performance.now() - startMs) / 1_000;
    const ops = (await driver.metric("blockyard_ops_total")) - opsBefore;
    return [
      { rule: "R4", figure: "durable changes a second", value: ops / took, target: { min: 5_000 } },
      {
        rule: "R4",
        figure: "acknowledged calls a second",
        value: acknowledged.reduce((sum, count) => sum + count, 0) / took,
      },
    ];
  },
};

/** Appends lines to a block of its own, each acknowledged when it is durable; how many until the end. */
async function writer(
  { server }: Driver,
  conversation: string,
): Promise<(untilMs: number) => Promise<number>> {
  const spec = { conversation, kind: "text", role: "model", status: "running", side: true };
  const { block_id } = await server.do("block.create", spec);
  const headers = { authorization: `Bearer ${server.token}` };
  const socket = new WebSocket(`${server.url.replace("http", "ws")}/v1/feed`, { headers });
  await once(socket, "open");
  socket.send(JSON.stringify({ type: "hello", protocol: 1 }));
  await once(socket, "message");
  return (untilMs) =>
    new Promise((resolve, reject) => {
      let sent = 0;
      let answered = 0;
      const send = () => {
        const input = { block_id, text: LINE, wait: true };
        socket.send(JSON.stringify({ type: "call", id: ++sent, tool: "block.append", input }));
      };
      socket.on("message", (data) => {
        const frame = JSON.parse(String(data)) as { type: string; problem?: { message: string } };
        if (frame.problem) return reject(new Error(frame.problem.message));
        if (frame.type !== "answer") return;
        answered++;
        if (performance.now() < untilMs) send();
        else if (answered === sent) {
          socket.terminate();
          resolve(answered);
        }
      });
      for (let i = 0; i < UNDER_WAY; i++) send();
    });
}

export const bigBlock: Trial = {
  name: "big-block",
  question: "Is a block of 10 MB and 200,000 lines appended to and read as if it were small?",
  async run(driver) {
    const { conversation } = await driver.server.do("conversation.create", { title: "big" });
    const make = async (lines: number) => {
      const content = LINE.repeat(lines);
      const spec = { conversation, kind: "text", role: "model", status: "running", side: true, content };
      return (await driver.server.do("block.create", spec)).block_id as string;
    };
    const [big, small] = [await make(LINES), await make(LINES / 1_000)];
    const append = (block_id: string) =>
      timed(() => driver.server.do("block.append", { block_id, text: LINE, wait: true }));
    const appends = { big: [] as number[], small: [] as number[] };
    for (let i = 0; i < SAMPLES; i++) {
      appends.small.push(await append(small));
      appends.big.push(await append(big));
    }
    const reads: number[] = [];
    for (let i = 0; i < SAMPLES; i++) {
      const start = (i * 7_919) % (LINES - RANGE);
      const input = { block_id: big, range: { start, end: start + RANGE } };
      reads.push(await timed(() => driver.server.do("block.read", input)));
    }
    await driver.restart();
    const cold = { block_id: big, range: { start: LINES - RANGE, end: LINES } };
    const coldMs = await timed(() => driver.server.do("block.read", cold));
    const p99 = { big: quantile(appends.big, 0.99), small: quantile(appends.small, 0.99) };
    return [
      { rule: "R8", figure: "append p99 ms, 10 KB", value: p99.small },
      {
        rule: "R8",
        figure: "append p99, 10 MB against 10 KB",
        value: p99.big / p99.small,
        target: { max: 2 },
      },
      {
        rule: "R8",
        figure: "append p50, 10 MB against 10 KB",
        value: median(appends.big) / median(appends.small),
      },
      { rule: "R8", figure: "read of a range, p50 ms", value: median(reads) },
      { rule: "R8", figure: "read of a range, p99 ms", value: quantile(reads, 0.99), target: { max: 50 } },
      { rule: "R8", figure: "cold load ms", value: coldMs, target: { max: 2_000 } },
    ];
  },
};

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startMs = performance.now();
  await work();
  return performance.now() - startMs;
}
