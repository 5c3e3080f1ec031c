/**
 * conversation.context compared with the built-in loop: what it returns for a prompt is what the loop had sent for it,
 * word for word, as the scripted model server received it.
 */
import { afterAll, afterEach, beforeAll, expect, it, vi } from "vitest";
import { type Body, call, say } from "../model/script.ts";
import { Rig } from "./rig.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await Rig.start();
});
afterEach(() => vi.unstubAllEnvs());
afterAll(() => rig.stop());

interface Context {
  readonly head: string | null;
  readonly system: string;
  readonly blocks?: readonly {
    readonly block_id: string;
    readonly included: boolean;
    readonly content: string;
  }[];
  readonly messages?: readonly { readonly role: string; readonly content: readonly Body[] }[];
  readonly unsendable?: string;
}

const context = (input: object) => rig.tool<Context>("conversation.context", input);

/** As Anthropic's API calls the same things. */
function asRequest(part: Body): Body {
  if (part["type"] === "tool_call")
    return {
      type: "tool_use",
      id: part["tool_use_id"],
      name: part["tool_name"],
      input: part["input"],
    } as Body;
  if (part["type"] === "thinking")
    return { type: "thinking", thinking: part["text"], signature: part["signature"] } as Body;
  if (part["type"] !== "tool_result") return part;
  const isError = part["is_error"] === true ? { is_error: true } : {};
  return { type: "tool_result", tool_use_id: part["tool_use_id"], content: part["text"], ...isError } as Body;
}

it("[L12] conversation.context gives what the built-in loop sends: path, pruning, includes, results", async () => {
  const elsewhere = await rig.conversation();
  const spec = {
    conversation: elsewhere,
    kind: "text",
    role: "model",
    content: "From elsewhere",
    status: "done",
  };
  const note = await rig.tool<{ block_id: string }>("block.create", spec);
  rig.model.play([
    { parts: [{ thinking: "Look." }, { text: "I look." }, call("glob", { pattern: "*.none" })] },
    say("Nothing there."),
    say("Of no importance."),
    say("Last words."),
  ]);
  const { conversation } = await rig.run("anthropic", "First");
  const second = await rig.run("anthropic", "Second", { conversation });
  await rig.tool("conversation.include", { conversation, block_id: note.block_id });
  await rig.tool("conversation.prune", { block_id: String(second.blocks.at(-1)?.id) });
  const third = await rig.run("anthropic", "Third", { conversation });
  // A turn that starts while the one before still ends is queued first: its prompt is the block that its answer is below.
  const prompt = third.blocks.findLast(({ text }) => text === "Third")?.id;
  const asked = rig.model.asked.at(-1)?.body as Body | undefined;
  const sent = asked?.["messages"];
  const now = await context({ conversation, head: prompt, reasoner: "anthropic" });
  const asSent = JSON.parse(
    JSON.stringify(sent, (key, value) => (key === "cache_control" ? undefined : value)),
  ) as unknown;
  expect(now.messages?.map(({ role, content }) => ({ role, content: content.map(asRequest) }))).toEqual(
    asSent,
  );
  expect(now.unsendable).toBeUndefined();
  expect(now.head).toBe(prompt);
  expect(now.blocks?.[0]).toMatchObject({
    block_id: note.block_id,
    included: true,
    content: "From elsewhere",
  });
  expect(now.blocks?.map(({ content }) => content)).not.toContain("Of no importance.");
  // Without a reasoner no reasoning goes back; the head is the conversation's own.
  const plain = await context({ conversation, blocks: false });
  expect(plain.blocks).toBeUndefined();
  expect(JSON.stringify(plain.messages)).not.toContain('"thinking"');
  expect(plain.messages?.at(-1)).toEqual({
    role: "assistant",
    content: [{ type: "text", text: "Last words." }],
  });
});

it("[L12] it says why a context cannot be sent, and what of it is the system's", async () => {
  const conversation = await rig.conversation();
  expect(await context({ conversation })).toMatchObject({
    head: null,
    messages: [],
    unsendable: expect.any(String),
  });
  const say = (role: string, content: string) =>
    rig.tool("block.create", { conversation, kind: "text", role, content });
  await say("system", "Be brief.");
  await say("user", "Hi");
  const { system, messages } = await context({ conversation });
  expect({ system, messages }).toEqual({
    system: "Be brief.",
    messages: [{ role: "user", content: [{ type: "text", text: "Hi" }] }],
  });
  expect(await rig.ask("conversation.context", { conversation: "none" })).toMatchObject({
    problem: "not_found",
  });
  const head = `${conversation}/ann/99`;
  expect(await rig.ask("conversation.context", { conversation, head })).toMatchObject({
    problem: "not_found",
  });
});
