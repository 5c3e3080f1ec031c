/** Work for agents and viewers is done in small pieces, and the owner's calls come in between. */
import { Connection, limits, Replica } from "@blockyard/kernel";
import { nodeEnv } from "@blockyard/server";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import type { Caller } from "../../packages/server/src/access/auth.ts";
import { CallScheduler } from "../../packages/server/src/app/call-scheduler.ts";
import { TestHarness } from "./harness.ts";
import { allTransports, openReplica, overHttp, readWhole } from "./transports.ts";

let harness: TestHarness;
let conversation: string;
/** How often whose turn it was. */
const turns = new Map<string, number>();

beforeAll(async () => {
  harness = await TestHarness.start();
  conversation = (await harness.call("conversation.create", { title: "slices" }))["conversation"] ?? "";
  const run = CallScheduler.prototype.run;
  vi.spyOn(CallScheduler.prototype, "run").mockImplementation(function (this: CallScheduler, ...given) {
    const { agent } = given[0] as Caller;
    turns.set(agent, (turns.get(agent) ?? 0) + 1);
    return run.apply(this, given) as Promise<never>;
  });
});

afterAll(async () => {
  vi.restoreAllMocks();
  await harness.stop();
});

async function made(fields: object, token?: string): Promise<string> {
  const answer = await harness.call("block.create", { conversation, kind: "text", ...fields }, token);
  expect(answer).toMatchObject({ block_id: expect.any(String) });
  return answer["block_id"] ?? "";
}

it("[AC260] agents and viewers read 64 KiB of a text at a time, on every transport, and can read on", async () => {
  const content = "a line of words\n".repeat(20_000);
  const block_id = await made({ role: "user", content });
  const own = await harness.call("block.read", { block_id, line_numbers: false });
  expect(own).toMatchObject({ truncated: false, content });
  for (const token of [harness.viewer("reader"), harness.agent("model-mcp")]) {
    for (const transport of await allTransports(harness, token)) {
      const { text, longest } = await readWhole(transport, block_id);
      expect(longest).toBeLessThan(limits.guestReadBytes + 300);
      expect(text).toBe(content);
      await transport.close();
    }
  }
});

it("[AC260] a long answer is made in turns of its own, and is what the owner gets", async () => {
  const notes = '\u0001"😀'.repeat(100_000);
  const metadata = { extra: { notes } };
  const block_id = await made({ role: "user", content: "x", metadata });
  const whole = await overHttp(harness, harness.owner).call("block.read", { block_id });
  expect(whole).toMatchObject({ metadata });
  for (const transport of await allTransports(harness, harness.viewer("long"))) {
    turns.clear();
    expect(await transport.call("block.read", { block_id })).toEqual(whole);
    // The call, and its JSON in as many pieces as it needs.
    expect(turns.get("long")).toBe(transport.name === "mcp" ? 1 : 2);
    await transport.close();
  }
});

it("[AC261] a stream of an agent is taken in by small pieces, each in its turn; the owner's is not", async () => {
  const body = `${JSON.stringify({ type: "x", text: "y".repeat(900) })}\n`.repeat(250);
  for (const [name, token, least, most] of [
    ["streamer", harness.agent("streamer"), body.length / (16 * 1024), 400],
    ["root", harness.owner, 0, 30],
  ] as const) {
    turns.clear();
    const path = "/v1/ingest?provider=claude";
    const { status } = await harness.ask(path, { method: "POST", body, token });
    const taken = Math.max(...turns.values(), 0);
    expect([name, status, taken >= least, taken <= most]).toEqual([name, 200, true, true]);
  }
});

it("[AC261] opening a text to edit, and each change of it, waits for its turn", async () => {
  const token = harness.agent("editor");
  const block_id = await made({ role: "model", content: "text\n" }, token);
  const { replica, socket } = await openReplica(harness.running.url, token, new Replica({ env: nodeEnv }));
  turns.clear();
  const frames: Record<string, unknown>[] = [];
  socket.on("message", (data: Buffer) => frames.push(JSON.parse(data.toString("utf8"))));
  const heard = (type: string, id?: number) =>
    expect.poll(() => frames.some((frame) => frame["type"] === type && frame["id"] === id)).toBe(true);
  socket.send(JSON.stringify({ type: "sync", block: block_id }));
  await heard("state");
  expect(turns.get("editor")).toBe(1);
  socket.send(JSON.stringify({ type: "update", id: 7_000, block: block_id, update: "AAA=", key: "k1" }));
  await heard("answer", 7_000);
  expect(turns.get("editor")).toBe(2);
  expect(replica.isConnected).toBe(true);
  socket.terminate();
});

it("[AC261] of the messages that came together on a guest's socket, one is looked at in each round, whether it may come in included", async () => {
  let round = 0;
  let isOver = false;
  const count = () => {
    round++;
    if (!isOver) setImmediate(count);
  };
  count();
  const receive = Connection.prototype.receive;
  for (const [token, most] of [
    [harness.agent("chatty"), 1],
    [harness.owner, 20],
  ] as const) {
    const { socket } = await openReplica(harness.running.url, token, new Replica({ env: nodeEnv }));
    const rounds = new Map<number, number>();
    const counted = new Map<number, number>();
    const look = (seen: Map<number, number>) => seen.set(round, (seen.get(round) ?? 0) + 1);
    const spy = vi.spyOn(Connection.prototype, "receive").mockImplementation(function (
      this: Connection,
      ...given
    ) {
      look(rounds);
      return receive.apply(this, given);
    });
    const { quotas } = harness.running;
    const charge = quotas.charge.bind(quotas);
    const charged = vi.spyOn(quotas, "charge").mockImplementation((...given) => {
      look(counted);
      return charge(...given);
    });
    const { _socket: wire } = socket as unknown as { _socket: import("node:net").Socket };
    wire.cork();
    for (let n = 0; n < 20; n++) socket.send(JSON.stringify({ type: "ping", n }));
    wire.uncork();
    await expect.poll(() => [...rounds.values()].reduce((sum, each) => sum + each, 0)).toBe(20);
    expect(Math.max(...rounds.values())).toBe(most);
    expect(Math.max(...counted.values())).toBe(most);
    charged.mockRestore();
    spy.mockRestore();
    socket.terminate();
  }
  isOver = true;
});
