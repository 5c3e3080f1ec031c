/**
 * Fifty agents write, twenty viewers see all of it, over real WebSockets: how much later than through a relay that does
 * nothing, and is anything lost or doubled? Server, relay and load are processes of their own; both ways are measured in
 * turn, in the same minute, since on a busy machine only the difference means something.
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Server } from "../test/e2e/server.ts";
import { type Bench, median, type Report } from "./bench.ts";
import type { Order, Outcome } from "./fanout/load.ts";

const PAIRS = 5;
const ORDER = {
  agents: 50,
  viewers: 20,
  stalled: 0,
  flushesPerSecond: 10,
  lineChars: 60,
  seconds: 3.5,
} as const;
/** Ten megabytes a second, so that a buffer without bounds would show. */
const STALLED = { agents: 25, viewers: 0, flushesPerSecond: 10, lineChars: 40_000, seconds: 6 } as const;

export const bench: Bench = {
  name: "fanout",
  question:
    "How much later do 20 viewers see what 50 agents write than through a bare relay, and is all of it there?",
  targets: {
    p50ExtraMs: { max: 15 },
    p99Ratio: { max: 4 },
    lost: { max: 0 },
    doubled: { max: 0 },
    stalledMb: { max: 32 },
  },
  run,
};

async function run(report: Report): Promise<Record<string, number>> {
  const home = mkdtempSync(join(tmpdir(), "blockyard-fanout-"));
  const server = await Server.start({ home, root: home });
  const relay = fork(new URL("./fanout/relay.ts", import.meta.url), { stdio: "inherit" });
  const [{ port }] = (await once(relay, "message")) as [{ port: number }];
  const load = fork(new URL("./fanout/load.ts", import.meta.url), { stdio: "inherit" });
  try {
    const yard = { target: "yard", url: server.url, token: server.token } as const;
    const bare = { target: "relay", url: `ws://127.0.0.1:${port}`, token: "" } as const;
    // Nobody measures programs that have just started: each is warmed up once.
    for (const target of [yard, bare]) await play(load, { ...ORDER, ...target });
    const pairs: { yard: Outcome; bare: Outcome }[] = [];
    for (let pair = 0; pair < PAIRS; pair++) {
      const isYardFirst = pair % 2 === 0;
      const first = await play(load, { ...ORDER, ...(isYardFirst ? yard : bare) });
      const second = await play(load, { ...ORDER, ...(isYardFirst ? bare : yard) });
      pairs.push(isYardFirst ? { yard: first, bare: second } : { yard: second, bare: first });
    }
    tell(report, pairs);
    const stalledMb = await growth(load, server, yard, report);
    return {
      p50ExtraMs: median(pairs.map(({ yard, bare }) => yard.p50Ms - bare.p50Ms)),
      p99Ratio: median(pairs.map(({ yard, bare }) => yard.p99Ms / bare.p99Ms)),
      p99Ms: median(pairs.map(({ yard }) => yard.p99Ms)),
      lost: pairs.reduce((sum, { yard, bare }) => sum + yard.lost + bare.lost, 0),
      doubled: pairs.reduce((sum, { yard, bare }) => sum + yard.doubled + bare.doubled, 0),
      stalledMb,
    };
  } finally {
    load.kill();
    relay.kill();
    await server.stop();
    rmSync(home, { recursive: true, force: true });
  }
}

async function play(load: ChildProcess, order: Order): Promise<Outcome> {
  load.send(order);
  return new Promise((resolve, reject) => {
    const ended = () => reject(new Error("the load has ended before its time"));
    load.once("exit", ended);
    load.once("message", (outcome) => {
      load.off("exit", ended);
      resolve(outcome as Outcome);
    });
  });
}

function tell(report: Report, pairs: readonly { yard: Outcome; bare: Outcome }[]): void {
  report.table(
    pairs.map(({ yard, bare }, index) => ({
      pair: index + 1,
      "p50 ms": round(yard.p50Ms),
      "relay p50 ms": round(bare.p50Ms),
      "p99 ms": round(yard.p99Ms),
      "relay p99 ms": round(bare.p99Ms),
      delivered: yard.delivered,
      lost: yard.lost,
      doubled: yard.doubled,
    })),
  );
}

/** How much more memory the server takes for viewers that never read, against the same load without them. */
async function growth(
  load: ChildProcess,
  server: Server,
  yard: Pick<Order, "target" | "url" | "token">,
  report: Report,
): Promise<number> {
  const grown: number[] = [];
  for (const stalled of [0, 0, 2]) {
    const beforeMb = residentMb(server.pid);
    await play(load, { ...STALLED, ...yard, stalled });
    grown.push(residentMb(server.pid) - beforeMb);
    report.note(`  ${stalled} viewers that never read: ${round(grown.at(-1)!)} MB more memory`);
  }
  return Math.max(0, (grown[2]! - grown[1]!) / 2);
}

function residentMb(pid: number): number {
  const kb = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return Number(kb) / 1024;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
