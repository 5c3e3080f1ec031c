/** Whose blocks a stream makes, under which title, and how one that was stopped ends. */
import { isProblem, type JsonObject, Kernel, limits, MemoryStore, parseBlockId } from "@blockyard/kernel";
import { type Provider, providers } from "@blockyard/providers";
import { expect, it } from "vitest";
import { nodeEnv } from "./env.ts";
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
  "[AC17] a stream cannot be of %j, whose blocks nobody could name, or which is the server's own",
  async (agent) => expect(await ingest({ agent })).toMatchObject({ problem: "invalid" }),
);

it("[AC17] it can be of any other agent, and its ids are accepted again", async () => {
  const { conversation } = await ingest({ agent: "my-agent" });
  const blocks = await kernel.blocks({ conversation: String(conversation), order: "first", limit: 10 });
  if (isProblem(blocks)) throw new Error(blocks.message);
  expect(blocks.map(({ id }) => parseBlockId(id)?.agent)).toEqual(["my-agent"]);
});

it("[AC24] a long title is cut as every other", async () => {
  const { conversation } = await ingest({ title: "x".repeat(10_000) });
  expect(await kernel.conversation(String(conversation))).toMatchObject({
    title: "x".repeat(limits.titleChars),
  });
});

it("[D1] what an agent calls being stopped does not replace that it was", async () => {
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

it("[D13] [E9] what an agent was told is kept before it says anything, in a line of its own", async () => {
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
