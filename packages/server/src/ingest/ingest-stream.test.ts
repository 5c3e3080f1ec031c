/** The author of a stream's blocks, their title, and the end of a stopped stream. */
import { readFileSync } from "node:fs";
import {
  type BlockEvent,
  isProblem,
  type JsonObject,
  Kernel,
  type LlmEvent,
  LlmEvents,
  limits,
  MemoryStore,
  parseBlockId,
  speakerOf,
  VirtualEnv,
} from "@blockyard/kernel";
import { type Provider, providers } from "@blockyard/providers";
import { expect, it } from "vitest";
import { nodeEnv } from "../system/env.ts";
import { CallStarts } from "./call-starts.ts";
import { ingestStream, StreamIngest } from "./ingest-stream.ts";

const owner = { role: "owner", agent: "ada", by: "token" } as const;

async function* stream(): AsyncGenerator<Uint8Array> {
  const message = { id: "m1", model: "m", content: [{ type: "text", text: "hello" }] };
  yield Buffer.from(`${JSON.stringify({ type: "assistant", session_id: "s", message })}\n`);
}

const kernel = new Kernel(nodeEnv, new MemoryStore("here"));
const ingest = async (query: Record<string, string>) =>
  (await ingestStream(kernel, owner, { provider: "claude", ...query }, stream())) as JsonObject;

it.each(["../../x", "A B", "x/y", "\u001b]0;x", "", "a".repeat(65), "disk", "blockyard"])(
  "[AC17] a stream cannot belong to %j, whose blocks nobody could name, or which is the server's own",
  async (agent) => expect(await ingest({ agent })).toMatchObject({ problem: "invalid" }),
);

it("[AC17] it can be of any other agent, and its ids are accepted again", async () => {
  const { conversation } = await ingest({ agent: "my-agent" });
  const blocks = await kernel.blocks({ conversation: String(conversation), order: "first", limit: 10 });
  if (isProblem(blocks)) throw new Error(blocks.message);
  expect(blocks.map(({ id }) => parseBlockId(id)?.agent)).toEqual(["my-agent"]);
});

it.each([
  [{}, "opencode"],
  [{ agent: "my-agent" }, "my-agent"],
])("[U99] a prompt in a stream that the owner ingests as %j is the owner's", async (named, agent) => {
  const recorded = new URL("../../../providers/fixtures/acp/opencode/text.jsonl", import.meta.url);
  const body = (async function* () {
    yield readFileSync(recorded);
  })();
  const query = { provider: "acp", agent: "opencode", ...named };
  const { conversation } = (await ingestStream(kernel, owner, query, body)) as JsonObject;
  const blocks = await kernel.blocks({ conversation: String(conversation), order: "first", limit: 10 });
  if (isProblem(blocks)) throw new Error(blocks.message);
  const said = blocks.filter(({ kind }) => kind === "text");
  const names = said.map((block) => speakerOf(block, { createdBy: "ada", provider: "acp" })?.id);
  expect(names.slice(0, 2)).toEqual(["ada", agent]);
});

it("[AC24] a long title is cut as every other", async () => {
  const { conversation } = await ingest({ title: "x".repeat(10_000) });
  expect(await kernel.conversation(String(conversation))).toMatchObject({
    title: "x".repeat(limits.titleChars),
  });
});

it("[D1] an agent's own error does not replace that it was stopped", async () => {
  const conversation = await kernel.createConversation("ada", "t");
  if (isProblem(conversation)) throw new Error(conversation.message);
  const provider = providers.get("claude") as Provider;
  const stopped = new StreamIngest(kernel, { conversation, agent: "claude", provider });
  await stopped.open();
  stopped.explain({ reason: "cancelled", error: "Stopped." });
  const result = { type: "result", subtype: "error_during_execution", is_error: true };
  await stopped.push(Buffer.from(`${JSON.stringify({ ...result, terminal_reason: "aborted_streaming" })}\n`));
  await stopped.end();
  const turns = await kernel.turns(conversation);
  expect(turns).toMatchObject([{ status: "error", reason: "cancelled", error: "Stopped." }]);
});

it("[D13] [E9] an agent's briefing is stored before its output, in a line of its own", async () => {
  const conversation = await kernel.createConversation("ada", "t");
  if (isProblem(conversation)) throw new Error(conversation.message);
  const provider = providers.get("claude") as Provider;
  const told = "who said what\n| 😀";
  const run = new StreamIngest(kernel, { conversation, agent: "claude", turn: "t1", provider, told });
  await run.open();
  const lines = async () =>
    Buffer.from(await kernel.store.raw({ conversation, run: run.run }))
      .toString()
      .trimEnd()
      .split("\n");
  expect((await lines()).map((line) => JSON.parse(line))).toEqual([
    { type: "blockyard_told", turn: "t1", text: told },
  ]);
  for await (const bytes of stream()) await run.push(bytes);
  await run.end();
  expect((await lines()).map((line) => JSON.parse(line).type)).toEqual(["blockyard_told", "assistant"]);
  const blocks = await kernel.blocks({ conversation, order: "first", limit: 10 });
  expect(blocks).toMatchObject([{ kind: "text", role: "model" }]);
});

it("[AC46] a call that a stream only requests waits for its result, which ends it and is sent after the message", async () => {
  async function* asks(): AsyncGenerator<Uint8Array> {
    const message = {
      id: "m1",
      type: "message",
      role: "assistant",
      model: "m",
      stop_reason: "tool_use",
      content: [{ type: "tool_use", id: "call-1", name: "get", input: { row: 1 } }],
    };
    yield Buffer.from(JSON.stringify(message));
  }
  const told: LlmEvent[] = [];
  const events = new LlmEvents();
  const stop = kernel.listen(({ ops, blocks }) => void told.push(...events.commit(ops, blocks)));
  const answer = await ingestStream(kernel, owner, { provider: "anthropic" }, asks());
  const { conversation, waiting } = answer as unknown as {
    readonly conversation: string;
    readonly waiting: readonly JsonObject[];
  };
  expect(waiting).toEqual([{ block_id: expect.any(String), tool_use_id: "call-1", tool_name: "get" }]);
  const id = String(waiting[0]?.["block_id"]);
  expect(await kernel.block(id)).toMatchObject({
    status: "running",
    metadata: { stage: "running", waiting: "result" },
  });
  const types = () => told.map(({ type }) => type.slice(4));
  expect(types().at(-1)).toBe("message_stop");
  expect(types()).not.toContain("tool_execution_complete");
  await kernel.write(conversation, {
    agent: "ada",
    plan: (draft) =>
      draft.create({
        kind: "tool_result",
        role: "tool",
        parent: id,
        status: "done",
        text: "42",
        metadata: { toolUseId: "call-1", toolName: "get" },
      }),
  });
  stop();
  expect(await kernel.block(id)).toMatchObject({ status: "done", metadata: { success: true } });
  expect(told.at(-1)).toMatchObject({
    type: "llm_tool_execution_complete",
    toolId: "call-1",
    success: true,
    result: "42",
  });
});

it("[K80] for an agent that asks nobody, a call starts when its stream says so", () => {
  const starts = new CallStarts(new VirtualEnv(1), () => {}, true);
  const whole: BlockEvent = { type: "block-meta", key: "a", metadata: { stage: "running", input: {} } };
  expect(starts.take([whole])).toEqual([whole]);
  expect(starts.end()).toEqual([]);
});

it("[AC46] a call starts if it has not asked for approval, and one that asks does not", async () => {
  const env = new VirtualEnv(1);
  const late: BlockEvent[] = [];
  const starts = new CallStarts(env, (event) => late.push(event));
  const meta = (key: string, metadata: JsonObject): BlockEvent => ({ type: "block-meta", key, metadata });
  const whole = (key: string) => meta(key, { stage: "running", input: {} });
  const ask = { id: "a", kind: "permission", state: "asked" };
  expect(starts.take([whole("asks"), whole("runs"), whole("ends")])).toEqual([
    meta("asks", { input: {} }),
    meta("runs", { input: {} }),
    meta("ends", { input: {} }),
  ]);
  expect(starts.take([meta("asks", { ask })])).toEqual([meta("asks", { ask })]);
  const end: BlockEvent = { type: "block-end", key: "ends", status: "done" };
  expect(starts.take([end])).toEqual([meta("ends", { stage: "running" }), end]);
  await env.advance(1_000);
  expect(late).toEqual([meta("runs", { stage: "running" })]);
});
