/**
 * The load, in a process of its own: agents that write at a steady pace and viewers that see all of it, through our server or
 * through the bare relay. It is told over IPC what to do, one segment at a time, and answers with what the viewers saw.
 */
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { WebSocket } from "ws";
import { quantile } from "../bench.ts";
import { lineOf, Seen } from "./line.ts";

export interface Order {
  readonly target: "yard" | "relay";
  readonly url: string;
  readonly token: string;
  readonly agents: number;
  readonly viewers: number;
  /** Viewers that subscribe and then never read. */
  readonly stalled: number;
  readonly flushesPerSecond: number;
  readonly lineChars: number;
  readonly seconds: number;
}

export interface Outcome {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly delivered: number;
  readonly lost: number;
  readonly doubled: number;
}

const SETTLE_MS = 10_000;
/** The first moments of a segment are not measured: connections and code are cold. */
const WARM_MS = 500;

type Write = (agent: number, line: string) => void;

interface Stage {
  readonly write: Write;
  readonly seen: readonly Seen[];
  close(): void;
}

process.on("message", async (order: Order) => {
  const stage = order.target === "yard" ? await openYard(order) : await openRelay(order);
  const sent = await play(order, stage);
  const isThere = () => stage.seen.every((seen) => sent.every((count, agent) => seen.count(agent) === count));
  for (const since = performance.now(); !isThere() && performance.now() - since < SETTLE_MS; )
    await sleep(20);
  const outcome = judge(stage.seen, sent);
  stage.close();
  process.send?.(outcome);
});

/** Writes at a steady pace; how many lines each agent sent. */
async function play(order: Order, { write, seen }: Stage): Promise<number[]> {
  const { agents, flushesPerSecond, seconds, lineChars } = order;
  const gapMs = 1_000 / flushesPerSecond;
  const sent = Array.from({ length: agents }, () => 0);
  // Each agent in its own step of the beat, as agents are that know nothing of each other.
  const due = sent.map((_, agent) => (agent * gapMs) / agents);
  const startMs = performance.now();
  let isWarm = false;
  for (let nowMs = 0; nowMs < seconds * 1_000; nowMs = performance.now() - startMs) {
    if (!isWarm && nowMs > WARM_MS) {
      isWarm = true;
      for (const each of seen) each.latencies.length = 0;
    }
    due.forEach((dueMs, agent) => {
      if (dueMs > nowMs) return;
      write(agent, lineOf(agent, sent[agent]!, performance.now(), lineChars));
      sent[agent]!++;
      due[agent] = dueMs + gapMs;
    });
    await sleep(1);
  }
  return sent;
}

function judge(seen: readonly Seen[], sent: readonly number[]): Outcome {
  const latencies = seen.flatMap((each) => each.latencies);
  let lost = 0;
  for (const each of seen) {
    lost += each.lost;
    sent.forEach((count, agent) => {
      lost += Math.max(0, count - each.count(agent));
    });
  }
  return {
    p50Ms: latencies.length === 0 ? Number.NaN : quantile(latencies, 0.5),
    p99Ms: latencies.length === 0 ? Number.NaN : quantile(latencies, 0.99),
    delivered: latencies.length,
    lost,
    doubled: seen.reduce((sum, { doubled }) => sum + doubled, 0),
  };
}

async function openRelay({ url, agents, viewers }: Order): Promise<Stage> {
  const seen = Array.from({ length: viewers }, () => new Seen());
  const watching = await Promise.all(seen.map(() => connect(`${url}/view`)));
  watching.forEach((socket, index) => {
    socket.on("message", (data) => {
      const { text } = JSON.parse(String(data)) as { text: string };
      seen[index]!.lines(text, performance.now());
    });
  });
  const writing = await Promise.all(Array.from({ length: agents }, () => connect(`${url}/write`)));
  const write: Write = (agent, text) => writing[agent]!.send(JSON.stringify({ text }));
  return { write, seen, close: () => end([...watching, ...writing]) };
}

async function openYard(order: Order): Promise<Stage> {
  const { url, token, agents, viewers, stalled } = order;
  const call = async (tool: string, input: object): Promise<Record<string, string>> => {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const body = JSON.stringify(input);
    const response = await fetch(`${url}/v1/tools/${tool}`, { method: "POST", headers, body });
    if (!response.ok) throw new Error(`${tool}: ${await response.text()}`);
    return (await response.json()) as Record<string, string>;
  };
  const { conversation } = await call("conversation.create", { title: "fanout" });
  const blocks = await Promise.all(
    Array.from({ length: agents }, async () => {
      const spec = { conversation, kind: "text", role: "model", status: "running", side: true };
      return (await call("block.create", spec))["block_id"];
    }),
  );
  const join = () => connect(`${url.replace("http", "ws")}/v1/feed`, token);
  const seen = Array.from({ length: viewers }, () => new Seen());
  const watching = await Promise.all(
    seen.map(async (each) => {
      const socket = await join();
      const isOpen = watch(socket, each);
      socket.send(JSON.stringify({ type: "subscribe", sub: 1, conversation }));
      await isOpen;
      return socket;
    }),
  );
  const deaf = await Promise.all(
    Array.from({ length: stalled }, async () => {
      const socket = await join();
      socket.send(JSON.stringify({ type: "subscribe", sub: 1, conversation }));
      socket.pause();
      return socket;
    }),
  );
  const writing = await Promise.all(Array.from({ length: agents }, join));
  let id = 0;
  const write: Write = (agent, text) => {
    const input = { block_id: blocks[agent], text };
    writing[agent]!.send(JSON.stringify({ type: "call", id: ++id, tool: "block.append", input }));
  };
  for (const socket of writing)
    socket.on("message", (data) => {
      const frame = JSON.parse(String(data)) as { problem?: { message: string } };
      if (frame.problem) throw new Error(frame.problem.message);
    });
  return { write, seen, close: () => end([...watching, ...writing, ...deaf]) };
}

interface Frame {
  readonly type: string;
  readonly ops?: readonly { readonly body: { readonly type: string; readonly text?: string } }[];
  readonly blocks?: readonly { readonly text?: string }[];
}

/** What a viewer does with frames; resolves when it is subscribed. */
function watch(socket: WebSocket, seen: Seen): Promise<void> {
  return new Promise((resolve) => {
    socket.on("message", (data) => {
      const frame = JSON.parse(String(data)) as Frame;
      const nowMs = performance.now();
      if (frame.type === "verdict") resolve();
      if (frame.type !== "changes") return;
      for (const { body } of frame.ops ?? []) if (body.type === "append") seen.lines(body.text ?? "", nowMs);
      for (const { text } of frame.blocks ?? []) if (text) seen.whole(text, nowMs);
    });
  });
}

async function connect(url: string, token?: string): Promise<WebSocket> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const socket = new WebSocket(url, { headers, perMessageDeflate: false });
  await once(socket, "open");
  if (token === undefined) return socket;
  socket.send(JSON.stringify({ type: "hello", protocol: 1 }));
  await once(socket, "message");
  return socket;
}

function end(sockets: readonly WebSocket[]): void {
  for (const socket of sockets) socket.terminate();
}
