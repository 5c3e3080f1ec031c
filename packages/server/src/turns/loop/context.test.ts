/**
 * Exchanges from contexts: every rule with rows of blocks, and random trees through a real kernel, whose every head gives
 * an exchange that passes the checks.
 */
import {
  type BlockId,
  type ContextBlock,
  contextOf,
  isProblem,
  type Json,
  type JsonObject,
  Kernel,
  KINDS,
  type Kind,
  type LooseBlock,
  MemoryStore,
  type NewBlock,
  RESULT_KINDS,
  ROLES,
  VirtualEnv,
} from "@blockyard/kernel";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { madeBlock } from "../made-block.ts";
import { exchangeOf } from "./context.ts";
import { type Exchange, type Message, validate } from "./exchange.ts";

/** A block of a path, as contextOf gives it. */
function block(kind: Kind, text: string, more: Partial<LooseBlock> = {}): ContextBlock {
  return { block: madeBlock(kind, text, { agent: "a", role: "model", ...more }), included: false };
}

const user = (text: string) => block("text", text, { role: "user" });
const said = (text: string, metadata: JsonObject = {}) => block("text", text, { metadata });

function called(id: string, metadata: JsonObject = {}, more: Partial<LooseBlock> = {}): ContextBlock {
  const full = { toolUseId: id, toolName: "look", input: { at: id }, ...metadata };
  return block("tool_call", JSON.stringify(full.input), { metadata: full, ...more });
}

function result(call: ContextBlock, text: string, metadata: JsonObject = {}, kind: Kind = "tool_result") {
  const { toolUseId, toolName } = call.block.metadata as { toolUseId: string; toolName: string };
  const full = { toolUseId, toolName, ...metadata };
  return block(kind, text, { role: "tool", side: true, parent: call.block.id, metadata: full });
}

function thought(text: string, metadata: JsonObject = {}, more: Partial<LooseBlock> = {}): ContextBlock {
  return block("thinking", text, {
    metadata: { provider: "anthropic", signature: "sig", messageId: "m", ...metadata },
    ...more,
  });
}

/** An exchange in a line per message. */
function lines({ messages }: Exchange): string[] {
  return messages.map(({ role, parts }) => {
    const words = (parts as readonly Message["parts"][number][]).map((part) => {
      if (part.type === "text") return part.text;
      if (part.type === "thinking") return `(${part.text}|${part.signature ?? part.opaque})`;
      if (part.type === "call") return `${part.name}#${part.id}`;
      if (part.type === "result") return `${part.isError ? "!" : "="}${part.id}:${part.text}`;
      return "picture";
    });
    return `${role}: ${words.join(" · ")}`;
  });
}

function check(blocks: readonly ContextBlock[], expected: readonly string[], reasoner = "anthropic"): void {
  const exchange = exchangeOf(blocks, { system: "S", reasoner });
  expect(lines(exchange)).toEqual(expected);
  expect(validate(exchange)).toBeUndefined();
}

describe("pairs", () => {
  it("[L2] parallel calls of one message stand in one, their results together behind it", () => {
    const m = { messageId: "m" };
    const a = called("a", { ...m, index: 1 });
    const b = called("b", { ...m, index: 2 });
    check(
      [user("Hi"), said("Both", { ...m, index: 0 }), a, result(a, "1"), b, result(b, "2"), said("Done")],
      ["user: Hi", "assistant: Both · look#a · look#b", "user: =a:1 · =b:2", "assistant: Done"],
    );
  });

  it("[L2] calls of two messages do not", () => {
    const a = called("a", { messageId: "m", index: 0 });
    const b = called("b", { messageId: "n", index: 0 });
    const expected = ["user: Hi", "assistant: look#a", "user: =a:1", "assistant: look#b", "user: =b:2"];
    check([user("Hi"), a, result(a, "1"), b, result(b, "2")], expected);
    // Nor do those of a server that gives every message the same id.
    const again = called("b", { messageId: "m", index: 0 });
    check([user("Hi"), a, result(a, "1"), again, result(again, "2")], expected);
  });

  it("[L2] a call without a result has one that says so", () => {
    const a = called("a", { reason: "interrupted" }, { status: "error" });
    check(
      [user("Hi"), a, user("And?")],
      [
        "user: Hi",
        "assistant: look#a",
        "user: !a:This call has no result: interrupted. It may have run partly. · And?",
      ],
    );
  });

  it("[L2] several results of one call are one", () => {
    const a = called("a");
    const picture = { mediaType: "image/png", data: "aaaa" };
    const blocks = [user("Hi"), a, result(a, "1"), result(a, "alt", picture, "image"), result(a, "2")];
    check(blocks, ["user: Hi", "assistant: look#a", "user: =a:1\n\n2"]);
    const exchange = exchangeOf(blocks, { system: "" });
    expect(exchange.messages[2]?.parts[0]).toMatchObject({ pictures: [picture] });
  });

  it("[L3] a call whose input was cut is left out with its results", () => {
    const cut = called("a", { reason: "truncated" }, { status: "error" });
    const open = block("tool_call", '{"a', { metadata: { toolUseId: "b", toolName: "look" } });
    check(
      [user("Hi"), said("I"), cut, result(cut, "x"), open, user("So?")],
      ["user: Hi", "assistant: I", "user: So?"],
    );
  });

  it("[L3] ids that repeat, or that an API does not take, are made ones that it does", () => {
    const a = called("item_0");
    const b = called("item_0");
    const c = called("toolu.1/ä", { toolName: "mcp.do it" });
    check(
      [user("Hi"), a, result(a, "1"), b, result(b, "2"), c, result(c, "3")],
      [
        "user: Hi",
        "assistant: look#item_0",
        "user: =item_0:1",
        "assistant: look#item_0_2",
        "user: =item_0_2:2",
        "assistant: mcp_do_it#call_toolu_1__",
        "user: =call_toolu_1__:3",
      ],
    );
  });

  it("[L3] an input is an object; one that somebody edited counts as edited, if it is one", () => {
    const inputs = (call: ContextBlock) => {
      const [, message] = exchangeOf([user("Hi"), call], { system: "" }).messages;
      return message?.role === "assistant" && message.parts[0]?.type === "call" && message.parts[0].input;
    };
    expect(inputs(called("a", { input: "text" }))).toEqual({ input: "text" });
    expect(inputs(called("a"))).toEqual({ at: "a" });
    const edited = (text: string) => called("a", {}, { text } as Partial<LooseBlock>);
    expect(inputs(edited('{"at":"b"}'))).toEqual({ at: "b" });
    expect(inputs(edited('{"at":"b'))).toEqual({ at: "a" });
  });
});

describe("[L4] reasoning", () => {
  const m = { messageId: "m" };
  const kept = ["user: Hi", "assistant: (T|sig) · A"];
  const gone = ["user: Hi", "assistant: A"];

  it.each<[string, ContextBlock, readonly string[], string]>([
    ["as it was signed", thought("T"), kept, "anthropic"],
    ["to another provider", thought("T"), gone, "openai"],
    ["that somebody edited", thought("T", {}, { promoted: true }), gone, "anthropic"],
    ["that was cut", thought("T", {}, { status: "error" }), gone, "anthropic"],
    ["without a signature", thought("T", { signature: "" }), gone, "anthropic"],
    ["whose bytes could not be kept", thought("T\u2400"), gone, "anthropic"],
    ["sealed", thought("", { signature: "", opaque: "o" }), ["user: Hi", "assistant: (|o) · A"], "anthropic"],
    [
      "sealed, with a summary that somebody edited",
      thought("T", { signature: "", opaque: "o" }, { promoted: true }),
      ["user: Hi", "assistant: (|o) · A"],
      "anthropic",
    ],
    ["of another message", thought("T", { messageId: "n" }), gone, "anthropic"],
  ])("%s", (_, thinking, expected, reasoner) => {
    check([user("Hi"), thinking, said("A", m)], expected, reasoner);
  });

  it("that led to nothing is left out", () => {
    check([user("Hi"), thought("T"), user("So?")], ["user: Hi · So?"]);
    const cut = called("a", { ...m, reason: "truncated" });
    check([user("Hi"), thought("T"), cut, user("So?")], ["user: Hi · So?"]);
  });
});

describe("[L5] what is not said to a model", () => {
  it("errors, notices, unknown and retracted blocks, texts without words", () => {
    check(
      [
        user("Hi"),
        said("Gone", { reason: "retracted" }),
        said("Retrying", { notice: "retry" }),
        block("error", "Overloaded", { role: "system", status: "error" }),
        block("unknown", "{}", { role: "system" }),
        said(" \n"),
        user("So?"),
      ],
      ["user: Hi · So?"],
    );
  });

  it("what a person put in as a system's words goes into the system prompt", () => {
    const blocks = [block("text", "Be brief", { role: "system" }), user("Hi")];
    expect(exchangeOf(blocks, { system: "S" })).toMatchObject({ system: "S\n\nBe brief" });
  });
});

describe("[L6] the beginning", () => {
  it("is the user's", () => {
    check([said("Hello")], ["user: [The beginning of this conversation is not shown.]", "assistant: Hello"]);
  });

  it("has what was included, with its origin", () => {
    const file = { ...block("file", "let x;", { metadata: { path: "src/x.ts" } }), included: true };
    check([file, user("Hi")], [`user: Included: block ${file.block.id} (file src/x.ts)\n\nlet x; · Hi`]);
  });
});

describe("[L7] results in words", () => {
  it.each<[Kind, string, JsonObject, string]>([
    ["command", "out\n", { command: "x", exitCode: 2, stderr: "err" }, "out\n\nerr\n[exit code 2]"],
    ["command", "out", { command: "x", interrupted: true }, "out\n[stopped before it finished]"],
    ["command", "", { command: "x", exitCode: 0 }, "(no output)"],
    ["code", "b\n", { startLine: 2, totalLines: 9 }, "[from line 2 of 9]\nb\n"],
    ["image", "a cat", {}, "[an image: a cat]"],
    [
      "tool_result",
      "x".repeat(70_000),
      {},
      `${"x".repeat(30_000)}\n[… 10000 characters left out …]\n${"x".repeat(30_000)}`,
    ],
  ])("%s", (kind, text, metadata, expected) => {
    const a = called("a");
    const [, , message] = exchangeOf([user("Hi"), a, result(a, text, metadata, kind)], {
      system: "",
    }).messages;
    expect(message?.parts[0]).toMatchObject({ text: expected });
  });
});

describe("[L1] validate", () => {
  const text = (words: string) => ({ type: "text", text: words }) as const;
  const use = (id: string) => ({ type: "call", id, name: "look", input: {} }) as const;
  const answer = (id: string) => ({ type: "result", id, text: "", pictures: [], isError: false }) as const;
  const u = (...parts: Extract<Message, { role: "user" }>["parts"]): Message => ({ role: "user", parts });
  const a = (...parts: Extract<Message, { role: "assistant" }>["parts"]): Message => ({
    role: "assistant",
    parts,
  });

  it.each<[string, readonly Message[]]>([
    ["is empty", []],
    ["the assistant's, not the user's", [a(text("x"))]],
    ["the user's, not the assistant's", [u(text("x")), u(text("x"))]],
    ["an empty message", [u()]],
    ["a blank text", [u(text(" "))]],
    ["with nothing after it", [u(text("x")), a({ type: "thinking", text: "t", signature: "s" })]],
    ["reasoning without a signature", [u(text("x")), a({ type: "thinking", text: "t" }, text("y"))]],
    ["with the results none", [u(text("x")), a(use("1"))]],
    ["with the results 2", [u(text("x")), a(use("1")), u(answer("2"))]],
    ["calls 1, 2 with the results 2, 1", [u(text("x")), a(use("1"), use("2")), u(answer("2"), answer("1"))]],
    ["without its call 1", [u(answer("1"))]],
    ["does not directly follow its call", [u(text("x")), a(use("1")), u(text("y"), answer("1"))]],
    ["two calls with the id 1", [u(text("x")), a(use("1"), use("1")), u(answer("1"), answer("1"))]],
    ["a call named", [u(text("x")), a(use("1.2")), u(answer("1.2"))]],
  ])("%s", (message, messages) => {
    expect(validate({ system: "", messages })?.message).toContain(message);
  });
});

// ---------------------------------------------------------------------------------------------------------------------
// Random trees

interface Act {
  readonly kind: Kind;
  readonly role: (typeof ROLES)[number];
  readonly side: boolean;
  readonly parent: number;
  readonly text: string;
  readonly status: "done" | "error" | "running";
  readonly id: number;
  readonly message: number;
  /** Undefined: where it comes in the tree. */
  readonly index: number | undefined;
  readonly provider: string;
  readonly flags: readonly boolean[];
  readonly input: Json | undefined;
}

const often = ["tool_call", "tool_call", "tool_result", "thinking", "thinking", "text", "text"] as const;

const act: fc.Arbitrary<Act> = fc.record({
  kind: fc.constantFrom(...KINDS, ...often),
  role: fc.constantFrom(...ROLES, "model", "user"),
  side: fc.constantFrom(false, false, false, true),
  parent: fc.constantFrom(0, 0, 0, 0, 0, 1, 2, 5),
  text: fc.constantFrom("", " ", "words", "\n\n", "two\nlines", '{"a":1}', "\u2400"),
  status: fc.constantFrom("done", "done", "done", "error", "running"),
  id: fc.nat(3),
  message: fc.constantFrom(0, 0, 0, 0, 1),
  index: fc.constantFrom(undefined, undefined, undefined, 0, 2),
  provider: fc.constantFrom("anthropic", "anthropic", "openai", "claude"),
  flags: fc.array(fc.boolean(), { minLength: 6, maxLength: 6 }),
  input: fc.constantFrom<Json | undefined>({}, { a: 1 }, "text", [1], null, undefined),
});

/** Metadata that fits the kind, with everything that decides in it. */
function metadataOf(one: Act, place: number): JsonObject {
  const { kind, id, message, index = place, provider, flags, input, status } = one;
  const ids = { toolUseId: ["a", "b", "x.y/z", ""][id] ?? "a", toolName: ["look", "do it", ""][id] ?? "ä" };
  const own: Record<string, JsonObject> = {
    tool_call: { ...ids, ...(input === undefined ? {} : { input }) },
    tool_result: ids,
    image: flags[4] ? { ...ids, mediaType: "image/png", data: "aaaa" } : {},
    error: flags[4] ? ids : {},
    command: { command: "x", ...(flags[4] ? ids : {}) },
    file_change: { changes: [] },
    todo: { items: [] },
    file: { path: "f" },
    thinking: {
      ...(flags[2] ? { signature: "s" } : {}),
      ...(flags[3] ? { opaque: "o", extra: { itemId: "r" } } : {}),
    },
  };
  return {
    provider,
    ...(flags[0] || flags[1] ? { messageId: `m${message}`, index } : {}),
    ...(flags[1] && flags[2] && flags[3] && kind === "text" ? { notice: "n" } : {}),
    ...(status === "error" ? { reason: flags[5] ? "truncated" : "interrupted" } : {}),
    ...own[kind],
  };
}

async function grow(acts: readonly Act[]): Promise<{ kernel: Kernel; conversation: string; ids: BlockId[] }> {
  const kernel = new Kernel(new VirtualEnv(1), new MemoryStore("m"));
  const conversation = await kernel.createConversation("ann", "t");
  if (isProblem(conversation)) throw new Error(conversation.message);
  const ids: BlockId[] = [];
  for (const one of acts) {
    const parent = ids.at(-1 - one.parent) ?? null;
    const side = RESULT_KINDS.includes(one.kind) || one.side;
    const { kind, role, text, status } = one;
    const spec: NewBlock = { kind, role, text, status, parent, side, metadata: metadataOf(one, ids.length) };
    const made = await kernel.write(conversation, {
      agent: "a",
      plan: (draft) => {
        const block = draft.create(spec);
        if (isProblem(block)) return block;
        if (one.flags[1] && !one.flags[2]) draft.promote(block.id);
        if (one.flags[3] && one.flags[4] && one.flags[5]) draft.prune(block.id, true);
        if (one.flags[0] && one.flags[3] && one.flags[5]) draft.conversation({ include: block.id });
        return { id: block.id };
      },
    });
    if (isProblem(made)) throw new Error(`${kind}: ${made.message}`);
    ids.push(made.id);
  }
  return { kernel, conversation, ids };
}

it("[L1] every head of any tree gives an exchange that passes the checks", async () => {
  const seen = { calls: 0, missing: 0, thinking: 0, parallel: 0, exchanges: 0 };
  await fc.assert(
    fc.asyncProperty(fc.array(act, { minLength: 1, maxLength: 30, size: "max" }), async (acts) => {
      const { kernel, conversation, ids } = await grow(acts);
      for (const head of ids.slice(-6)) {
        const context = await contextOf(kernel, conversation, head);
        if (isProblem(context)) throw new Error(context.message);
        for (const reasoner of ["anthropic", "openai", undefined]) {
          const exchange = exchangeOf(context, { system: "S", reasoner });
          if (exchange.messages.length === 0) continue;
          expect(validate(exchange)).toBeUndefined();
          count(seen, exchange);
        }
      }
    }),
    { numRuns: 500, seed: 11 },
  );
  for (const [what, times] of Object.entries(seen)) expect(times, what).toBeGreaterThan(20);
});

function count(
  seen: { calls: number; missing: number; thinking: number; parallel: number; exchanges: number },
  { messages }: Exchange,
): void {
  seen.exchanges++;
  for (const message of messages) {
    if (message.role === "user") {
      seen.missing += message.parts.filter((part) => part.type === "result" && part.isError).length;
      continue;
    }
    const calls = message.parts.filter((part) => part.type === "call").length;
    seen.calls += calls;
    seen.parallel += calls > 1 ? 1 : 0;
    seen.thinking += message.parts.filter((part) => part.type === "thinking").length;
  }
}
