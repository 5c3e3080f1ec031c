/**
 * The tests of access at their full count, for `npm run faults`: cuts and resends on real sockets, a million frames, every
 * payload in every field on every transport, unauthenticated clients that hold on and readers that do not read. Memory is that of a
 * server in a process of its own, as it tells it.
 */
import { connect } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Auth } from "../../packages/server/src/access/auth.ts";
import { makeDirectory, type Outcome, type Run, removeDirectory } from "../faults/lab.ts";
import { Random } from "../sim/random.ts";
import { encode, fuzzFrames, upgraded } from "./frames.ts";
import { TestHarness } from "./harness.ts";
import { Held } from "./held.ts";
import { inject } from "./injection.ts";
import { Process } from "./process.ts";
import { sendThrice, watchAndCut } from "./resume.ts";

const MIB = 1024 * 1024;
const SLICES = 20;

/** [R15] [R16] As many cuts behind frames, as many at random bytes, and as many writes sent three times. */
export async function cutViewers({ rounds, seed, tell }: Run): Promise<Outcome> {
  const random = new Random(seed);
  const chance = () => random.below(1e9) / 1e9;
  const harness = await TestHarness.start();
  const failures: string[] = [];
  const summary: string[] = [];
  for (const how of ["frames", "bytes"] as const) {
    const watched = await watchAndCut(harness, how, rounds, chance);
    failures.push(...watched.failures);
    const { ok = 0, reset = 0, ops = 0 } = watched.counts;
    summary.push(`${how}: ${watched.cuts} cuts, ${ok} resumed, ${reset} reset, ${ops} ops`);
    tell?.(summary.at(-1) ?? "");
  }
  const { lost, doubled, problems } = await sendThrice(harness, rounds, chance);
  if (lost + doubled > 0) failures.push(`of ${rounds} writes ${lost} lost, ${doubled} doubled`);
  failures.push(...problems);
  await harness.stop();
  return { name: "cuts", rounds, summary: `${summary.join("; ")}; ${rounds} writes thrice`, failures };
}

/** [R39] `rounds` is the share of all combinations, in percent. */
export async function injectEverything({ rounds }: Run): Promise<Outcome> {
  const { failures, fields, payloads, calls } = await inject(Math.max(1, Math.round(100 / rounds)));
  const summary = `${fields} fields, ${payloads} payloads, ${calls} calls`;
  return { name: "injection", rounds, summary, failures };
}

/** [R41] `rounds` thousand frames. */
export async function sendFrames({ rounds, seed, tell }: Run): Promise<Outcome> {
  return withProcess("frames", rounds, async (server, failures) => {
    const target = await aBlock(server);
    // The collector lets the heap find its size first, and one look may fall before or after it has run. So what counts
    // is whether the second half holds more memory than the first, and more that is in use at the least.
    const memory: number[] = [];
    const used: number[] = [];
    let sent = 0;
    let connections = 0;
    for (let slice = 0; slice < SLICES; slice++) {
      const fuzzed = await fuzzFrames(target, (rounds * 1_000) / SLICES, seed + slice);
      sent += fuzzed.frames;
      connections += fuzzed.connections;
      if ((fuzzed.closes[-1] ?? 0) > 0) failures.push(`${fuzzed.closes[-1]} connections hung`);
      memory.push((await server.metric("process_resident_memory_bytes")) / MIB);
      used.push((await server.metric("nodejs_heap_used_bytes")) / MIB);
      tell?.(`${sent} frames, ${memory.at(-1)?.toFixed(0)} MiB`);
    }
    const [first, second] = [mean(memory.slice(2, SLICES / 2)), mean(memory.slice(SLICES / 2))];
    if (second - first > 64)
      failures.push(`memory grew from ${first.toFixed(0)} to ${second.toFixed(0)} MiB`);
    const [least, later] = [Math.min(...used.slice(0, SLICES / 2)), Math.min(...used.slice(SLICES / 2))];
    if (later - least > 32)
      failures.push(`what is in use grew from ${least.toFixed(0)} to ${later.toFixed(0)} MiB`);
    if ((await server.metric("blockyard_faults_total")) > 0) failures.push("there were faults inside");
    return `${sent} frames, ${connections} connections, ${first.toFixed(0)} then ${second.toFixed(0)} MiB, of which ${later.toFixed(0)} in use`;
  });
}

/** Slow unauthenticated clients and slow readers; `rounds` hundred sockets of each kind. */
export async function holdOn({ rounds, tell }: Run): Promise<Outcome> {
  return withProcess("slow", rounds, async (server, failures) => {
    const before = await server.metric("process_resident_memory_bytes");
    const startMs = performance.now();
    const heads = [
      "",
      `GET / HTTP/1.1\r\nhost: 127.0.0.1:${server.port}\r\nx: `,
      "GET /v1/feed HTTP/1.1\r\n",
    ];
    const closed = heads.flatMap((head) =>
      Array.from({ length: rounds * 100 }, () => hold(server.port, head)),
    );
    const asked = performance.now();
    for (let i = 0; i < 50; i++) await server.fetch("/health");
    const perAnswer = (performance.now() - asked) / 50;
    if (perAnswer > 100) failures.push(`an answer took ${perAnswer.toFixed(0)} ms beside them`);
    const grown = ((await server.metric("process_resident_memory_bytes")) - before) / MIB;
    if (grown > 64) failures.push(`memory grew by ${grown.toFixed(0)} MiB`);
    await Promise.all(closed);
    const held = (performance.now() - startMs) / 1_000;
    tell?.(`${closed.length} unauthenticated clients, closed after ${held.toFixed(0)} s`);
    if (held > 30) failures.push(`an unauthenticated client held on for ${held.toFixed(0)} s`);
    const readers = await neverRead(server, 5, failures);
    return `${closed.length} unauthenticated clients closed in ${held.toFixed(0)} s, ${grown.toFixed(0)} MiB; ${readers}`;
  });
}

/** [AC44] A stream of every kind, held open for `rounds` minutes: each delivers in every one of them. */
export async function holdStreams({ rounds, tell }: Run): Promise<Outcome> {
  return withProcess("held", rounds, async (server, failures, home) => {
    const { url, token } = server;
    const agentToken = new Auth(home, "owner", () => performance.now()).create("held", "agent");
    const held = await Held.open({ url, token, agentToken, call: (tool, input) => server.call(tool, input) });
    const names = [...held.streams.map(({ name }) => name), "slow export", "ingest"];
    await held.deliver("minute 0");
    for (let minute = 1; minute <= rounds; minute++) {
      await sleep(60_000);
      await held.deliver(`minute ${minute}`);
      tell?.(`${minute} min: ${held.streams.length} streams deliver, ${held.pings} pings answered`);
    }
    failures.push(...(await held.close()));
    return `${rounds} min: ${names.join(", ")}`;
  });
}

function hold(port: number, head: string): Promise<void> {
  return new Promise((gone) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(head));
    const drip = setInterval(() => socket.write("y"), 1_000);
    if (head === "") clearInterval(drip);
    socket.on("error", () => undefined);
    socket.on("data", () => undefined);
    socket.on("close", () => {
      clearInterval(drip);
      gone();
    });
  });
}

/** Viewers that follow a busy conversation and read nothing. */
async function neverRead(server: Process, viewers: number, failures: string[]): Promise<string> {
  const target = await aBlock(server);
  const before = await server.metric("process_resident_memory_bytes");
  const sockets = Array.from({ length: viewers }, () => {
    const socket = upgraded(target);
    socket.pause();
    socket.write(encode(Buffer.from('{"type":"hello","protocol":1}')));
    const follow = { type: "subscribe", sub: 1, conversation: target.conversation };
    socket.write(encode(Buffer.from(JSON.stringify(follow))));
    return socket;
  });
  const text = `${"nobody reads this ".repeat(5_000)}\n`;
  let most = 0;
  for (let i = 0; i < 300; i++) {
    await server.call("block.append", { block_id: target.block, text, wait: i % 10 === 0 });
    if (i % 20 === 0) most = Math.max(most, (await server.metric("process_resident_memory_bytes")) - before);
  }
  // Whoever is cut has some seconds to say goodbye.
  let left = await server.metric("blockyard_sockets");
  for (let tries = 0; left > 0 && tries < 100; tries++) {
    await sleep(100);
    left = await server.metric("blockyard_sockets");
  }
  for (const socket of sockets) socket.destroy();
  if (left > 0) failures.push(`${left} viewers that read nothing are still there`);
  if (most / MIB > 32 * viewers) failures.push(`memory grew by ${(most / MIB).toFixed(0)} MiB`);
  return `${viewers} viewers that read nothing: ${(most / MIB).toFixed(0)} MiB`;
}

async function aBlock(server: Process) {
  const { conversation } = (await server.call("conversation.create", { title: "x" })) as {
    conversation: string;
  };
  const made = { conversation, kind: "text", role: "model", content: "x\n".repeat(100) };
  const { block_id } = (await server.call("block.create", made)) as { block_id: string };
  return { port: server.port, token: server.token, conversation, block: block_id };
}

async function withProcess(
  name: string,
  rounds: number,
  run: (server: Process, failures: string[], home: string) => Promise<string>,
): Promise<Outcome> {
  const directory = makeDirectory();
  const failures: string[] = [];
  const home = join(directory, "home");
  const server = await Process.start(home, directory);
  const summary = await run(server, failures, home).catch((error: Error) => {
    failures.push(String(error.stack ?? error));
    return "stopped in the middle";
  });
  const { code } = await server.stop();
  if (code !== 0) failures.push(`it ended with ${code}: ${server.output.err.slice(-2_000)}`);
  removeDirectory(directory);
  return { name, rounds, summary, failures };
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
