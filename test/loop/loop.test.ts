/**
 * The loop through the real server: turns on three APIs, made by the official SDKs, answered by the project's own scripted
 * model server, which refuses what the real ones refuse.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  type Block,
  isProblem,
  type JsonObject,
  LlmEvents,
  type LlmMessage,
  reduceLlm,
} from "@blockyard/kernel";
import { type Provider, providers } from "@blockyard/providers";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { StreamIngest } from "../../packages/server/src/ingest/ingest-stream.ts";
import { keepPicture } from "../../packages/server/src/ingest/pictures.ts";
import { type Answer, type Body, call, overloaded, say, tooMany } from "../model/script.ts";
import { FLAVOURS, Rig, shown } from "./rig.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await Rig.start();
});
afterAll(() => rig.stop());
beforeEach(() => {
  rig.model.asked.length = 0;
  rig.clear();
});
afterEach(() => {
  vi.unstubAllEnvs();
  expect(rig.faults).toEqual([]);
});

/** One red pixel. */
const PIXEL = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==",
  "base64",
);

const lastBody = () => rig.model.asked.at(-1)?.body as Body;
const everything = (value: unknown) => JSON.stringify(value);

describe.each(FLAVOURS)("%s", (flavour) => {
  it("[L20] answers in words, with its reasoning; usage is the message's", async () => {
    rig.model.play([
      { parts: [{ thinking: "Hm." }, { text: "Hello there." }], usage: { input: 11, output: 7 } },
    ]);
    const { turn, blocks, conversation } = await rig.run(flavour, "Hi");
    expect(turn).toMatchObject({ status: "done", usage: { input: 11, output: 7 } });
    expect(turn.reason).toBeUndefined();
    expect(shown(blocks)).toEqual(["text done", "thinking done", "text done"]);
    expect(blocks.map(({ text }) => text)).toEqual(["Hi", "Hm.", "Hello there."]);
    expect(blocks.every(({ metadata }) => metadata["turn"] === turn.id)).toBe(true);
    const [rawRun] = await rig.server.store.rawRuns(conversation);
    const raw = await rig.server.store.raw({ conversation, run: String(rawRun) });
    expect(Buffer.from(raw).toString().trim().split("\n").length).toBeGreaterThan(3);
  });

  it("[L20] [L21] goes through rounds of tools; results go back; usage is summed", async () => {
    writeFileSync(join(rig.root, "a.txt"), "one\ntwo\n");
    rig.model.play([
      { parts: [{ thinking: "Look." }, { text: "I read it." }, call("read", { path: "a.txt" })] },
      { parts: [call("grep", { pattern: "tw." })], usage: { input: 5, output: 5 } },
      say("It says two."),
    ]);
    const { turn, blocks } = await rig.run(flavour, "What does a.txt say?");
    expect(shown(blocks)).toEqual([
      "text done",
      "thinking done",
      "text done",
      "tool_call done",
      "code done",
      "tool_call done",
      "tool_result done",
      "text done",
    ]);
    expect(turn).toMatchObject({ status: "done", usage: { input: 205, output: 45 } });
    expect(blocks[4]).toMatchObject({
      text: "one\ntwo\n",
      parent: blocks[3]?.id,
      metadata: { filename: "a.txt", startLine: 1, toolName: "read" },
    });
    expect(blocks[3]?.metadata).toMatchObject({
      stage: "end",
      success: true,
      compactParams: "a.txt",
      shortResult: "2 lines",
    });
    expect(blocks[6]?.text).toBe("a.txt:2:two");
    expect(rig.model.asked).toHaveLength(3);
    expect(everything(lastBody())).toContain("a.txt:2:two");
  });

  it("[L22] runs parallel calls, and gives their results back together", async () => {
    writeFileSync(join(rig.root, "a.txt"), "one\n");
    writeFileSync(join(rig.root, "b.txt"), "two\n");
    rig.model.play([
      {
        parts: [
          { text: "Both." },
          call("read", { path: "a.txt" }),
          call("read", { path: "missing.txt" }),
          call("read", { path: "b.txt" }),
        ],
      },
      say("Done."),
    ]);
    const { turn, blocks } = await rig.run(flavour, "Read");
    expect(turn.status).toBe("done");
    const calls = blocks.filter(({ kind }) => kind === "tool_call");
    expect(calls.map(({ metadata }) => metadata["success"])).toEqual([true, false, true]);
    const results = calls.map(({ id }) => blocks.find(({ parent, side }) => parent === id && side)?.text);
    expect(results).toEqual(["one\n", "missing.txt does not exist", "two\n"]);
    if (flavour !== "anthropic") return;
    const messages = lastBody()["messages"] as { role: string; content: Body[] }[];
    expect(messages.map(({ role, content }) => [role, ...content.map(({ type }) => type)])).toEqual([
      ["user", "text"],
      ["assistant", "text", "tool_use", "tool_use", "tool_use"],
      ["user", "tool_result", "tool_result", "tool_result"],
    ]);
    expect(messages[2]?.content[1]).toMatchObject({ is_error: true });
  });

  it("[L23] tries again after 429 and 529, with a notice each time", async () => {
    rig.model.play([tooMany, overloaded, say("At last.")]);
    const { turn, blocks } = await rig.run(flavour, "Hi");
    expect(turn.status).toBe("done");
    expect(shown(blocks)).toEqual(["text done", "text done retry", "text done retry", "text done"]);
    expect(blocks[1]?.text).toMatch(/Too many requests\nRetrying in 0\.0 s \(attempt 2 of 6\)/);
    expect(blocks[1]).toMatchObject({ role: "system", side: true });
    expect(rig.model.asked).toHaveLength(3);
  });

  it("[L23] gives up on permanent errors, and reports them", async () => {
    const fails = { status: 401, type: "authentication_error", message: "invalid x-api-key" };
    rig.model.play([{ fails }]);
    const { turn, blocks } = await rig.run(flavour, "Hi");
    expect(turn).toMatchObject({ status: "error", reason: "failed" });
    expect(turn.error).toContain("invalid x-api-key");
    expect(shown(blocks)).toEqual(["text done", "error error failed"]);
    expect(rig.model.asked).toHaveLength(1);
  });

  it("[L23] gives up after six attempts", async () => {
    rig.model.play(() => overloaded);
    const { turn, blocks } = await rig.run(flavour, "Hi");
    expect(turn).toMatchObject({ status: "error", reason: "failed" });
    expect(rig.model.asked).toHaveLength(6);
    expect(blocks.at(-1)?.text).toContain("Gave up after 6 attempts");
  });

  it.each<[string, Omit<Answer, "parts">]>([
    ["a connection that breaks", { cutAfter: 6 }],
    ["an error event", { failAfter: { events: 6, type: "overloaded_error", message: "Overloaded" } }],
    [
      "a response that fails",
      { failAfter: { events: 6, type: "server_error", message: "Broken", asResponse: true } },
    ],
  ])("[L24] %s in mid-answer: what was said is out of the context, and asked for again", async (_, how) => {
    rig.model.play([
      {
        parts: [{ text: "Half of an answer that is long" }, call("read", { path: "a.txt" })],
        deltaChars: 2,
        ...how,
      },
      say("A whole one."),
      say("Yes."),
    ]);
    const { turn, blocks, conversation } = await rig.run(flavour, "Hi");
    expect(turn.status).toBe("done");
    expect(blocks.some(({ pruned, metadata }) => pruned && metadata["reason"] === "interrupted")).toBe(true);
    expect(blocks.at(-1)?.text).toBe("A whole one.");
    expect(everything(lastBody())).not.toContain("Half");
    await rig.run(flavour, "Really?", { conversation });
    expect(everything(lastBody())).not.toContain("Half");
    expect(everything(lastBody())).toContain("A whole one.");
  });

  it("[L25] max_tokens ends the turn as truncated", async () => {
    rig.model.play([say("It goes on and", { stop: "max_tokens" })]);
    const { turn, blocks } = await rig.run(flavour, "Hi");
    expect(turn).toMatchObject({ status: "done", reason: "truncated" });
    expect(shown(blocks)).toEqual(["text done", "text done", "text done truncated"]);
  });

  it("[L25] a call that was cut is never run; whole ones beside it are, and the turn goes on", async () => {
    writeFileSync(join(rig.root, "a.txt"), "one\n");
    rig.model.play([
      {
        parts: [
          call("read", { path: "a.txt" }),
          { ...call("write", { path: "cut.txt", content: "long" }), inputChars: 22 } as never,
        ],
        stop: "max_tokens",
      },
      say("Right."),
    ]);
    const { turn, blocks } = await rig.run(flavour, "Hi", { allow: ["write"] });
    expect(turn.status).toBe("done");
    expect(shown(blocks).filter((line) => line.startsWith("tool_call"))).toEqual([
      "tool_call done",
      "tool_call error truncated",
    ]);
    expect(existsSync(join(rig.root, "cut.txt"))).toBe(false);
    expect(everything(lastBody())).not.toContain("cut.txt");
  });

  it("[L26] a refusal ends the turn, says so, and runs nothing", async () => {
    rig.model.play([{ parts: [{ refusal: "I will not." }], stop: "refusal" }]);
    const { turn, blocks } = await rig.run(flavour, "Hi");
    expect(turn).toMatchObject({ status: "done", stopReason: "refusal" });
    const told = blocks.filter(({ metadata }) => metadata["notice"] === "refusal");
    expect(told.map(({ text }) => text)).toEqual([
      flavour === "anthropic" ? "The model declined to answer this." : "I will not.",
    ]);
  });

  it("[L27] stopped in mid-answer: closed as cancelled, and the request is let go", async () => {
    const left = rig.model.left;
    rig.model.play([
      say("A long story", { deltaChars: 2, hold: { after: 6, until: new Promise(() => undefined) } }),
    ]);
    const { conversation, turn } = await rig.start(flavour, "Tell");
    await rig.block(conversation, ({ role, text }) => role === "model" && text !== "");
    expect(await rig.tool("turn.stop", { conversation })).toEqual({ stopped: 1, dropped: 0, held: 0 });
    const ran = await rig.ended(conversation, turn);
    expect(ran.turn).toMatchObject({ status: "error", reason: "cancelled" });
    expect(shown(ran.blocks)).toEqual(["text done", "text error cancelled"]);
    await vi.waitFor(() => expect(rig.model.left).toBe(left + 1));
  });

  it("[L27] stopped in the middle of a command: it is killed, and everything ends once", async () => {
    rig.model.play([
      { parts: [call("bash", { command: "echo started; echo $$; exec sleep 600" }), call("todo", {})] },
    ]);
    const { conversation, turn } = await rig.start(flavour, "Sleep", { allow: ["bash"] });
    const command = await rig.block(
      conversation,
      ({ kind, text }) => kind === "command" && /started\n\d+\n/.test(text),
    );
    expect(command).toMatchObject({ status: "running" });
    const pid = Number(/\n(\d+)\n/.exec(command.text)?.[1]);
    expect(existsSync(`/proc/${pid}`)).toBe(true);
    await rig.tool("turn.stop", { conversation });
    const ran = await rig.ended(conversation, turn);
    expect(existsSync(`/proc/${pid}`)).toBe(false);
    expect(ran.turn).toMatchObject({ status: "error", reason: "cancelled" });
    expect(shown(ran.blocks).slice(1)).toEqual([
      "tool_call error cancelled",
      "tool_call error cancelled",
      "command error cancelled",
    ]);
    expect(ran.blocks.at(-1)?.metadata).toMatchObject({ interrupted: true });
  });

  it("[L30] asks before it writes; allowed, it does exactly what was shown", async () => {
    rig.model.play([{ parts: [call("write", { path: "new/x.ts", content: "let x = 1;\n" })] }, say("Done.")]);
    const { conversation, turn } = await rig.start(flavour, "Write");
    const asked = await rig.block(conversation, ({ metadata }) => metadata["ask"] !== undefined);
    const ask = asked.metadata["ask"] as JsonObject;
    expect(ask).toMatchObject({
      state: "asked",
      title: "write: new/x.ts",
      input: { path: "new/x.ts", content: "let x = 1;\n" },
      subject: { type: "diff", diff: "--- new/x.ts\n+++ new/x.ts\n@@ -0,0 +1 @@\n+let x = 1;\n" },
    });
    expect(existsSync(join(rig.root, "new/x.ts"))).toBe(false);
    const answer = { block_id: asked.id, ask_id: ask["id"], allow: true };
    await rig.tool("turn.answer", answer);
    expect(await rig.ask("turn.answer", answer)).toMatchObject({ problem: expect.any(String) });
    const { blocks } = await rig.ended(conversation, turn);
    expect(readFileSync(join(rig.root, "new/x.ts"), "utf8")).toBe("let x = 1;\n");
    expect(shown(blocks)).toEqual(["text done", "tool_call done", "file_change done", "text done"]);
    expect(blocks[2]?.text).toBe("--- /dev/null\n+++ new/x.ts\n@@ -0,0 +1 @@\n+let x = 1;\n");
    expect(blocks[1]?.metadata["ask"]).toMatchObject({ state: "allowed", answeredBy: "ann" });
  });

  it("[D41] asks to edit with the change as a diff, made of its input alone, and to run a command with its text", async () => {
    mkdirSync(join(rig.root, "app"), { recursive: true });
    writeFileSync(join(rig.root, "app/.env"), "KEY=planted\nMODE=old\n");
    const edit = { path: "app/.env", old_text: "MODE=old", new_text: "MODE=new\nMORE=1" };
    rig.model.play([
      { parts: [call("edit", edit)] },
      { parts: [call("bash", { command: "true" })] },
      say("Done."),
    ]);
    const { conversation, turn } = await rig.start(flavour, "Edit");
    for (const diff of [
      "--- app/.env\n+++ app/.env\n@@ -0 +0,2 @@\n-MODE=old\n+MODE=new\n+MORE=1\n",
      undefined,
    ]) {
      const isOpen = ({ metadata }: Block) => (metadata["ask"] as JsonObject)?.["state"] === "asked";
      const asked = await rig.block(conversation, isOpen);
      const ask = asked.metadata["ask"] as JsonObject;
      expect(ask["subject"]).toEqual(diff ? { type: "diff", diff } : { type: "command", command: "true" });
      expect(JSON.stringify(asked)).not.toContain("planted");
      await rig.tool("turn.answer", { block_id: asked.id, ask_id: ask["id"], allow: false });
    }
    await rig.ended(conversation, turn);
  });

  it("[L30] denied, it does not, and the model learns why", async () => {
    rig.model.play([{ parts: [call("bash", { command: "touch no" })] }, say("I see.")]);
    const { conversation, turn } = await rig.start(flavour, "Touch", { allow: ["write"] });
    const asked = await rig.block(conversation, ({ metadata }) => metadata["ask"] !== undefined);
    const { id } = asked.metadata["ask"] as JsonObject;
    await rig.tool("turn.answer", { block_id: asked.id, ask_id: id, allow: false, message: "Not now" });
    const { blocks } = await rig.ended(conversation, turn);
    expect(existsSync(join(rig.root, "no"))).toBe(false);
    expect(shown(blocks)[1]).toBe("tool_call error denied");
    expect(everything(lastBody())).toContain("The user denied this tool call. Reason: Not now");
  });

  it("[D7] leave for what another agent's stream shows under the same request is no leave", async () => {
    rig.model.play([{ parts: [call("bash", { command: "touch spoofed" })] }]);
    const { conversation, turn } = await rig.start(flavour, "Touch");
    const asked = await rig.block(conversation, ({ metadata }) => metadata["ask"] !== undefined);
    const { id } = asked.metadata["ask"] as JsonObject;
    for (const agent of ["bob", asked.agent]) {
      const provider = providers.get("claude") as Provider;
      const stream = new StreamIngest(rig.server.kernel, { conversation, agent, provider });
      await stream.open();
      const request = { subtype: "can_use_tool", tool_name: "Read", input: { file_path: "README.md" } };
      const line = { type: "control_request", request_id: id, request };
      await stream.push(Buffer.from(`${JSON.stringify(line)}\n`));
      const fake = await rig.block(
        conversation,
        (block) => block.agent === agent && block.metadata["toolName"] === "Read" && "ask" in block.metadata,
      );
      const answer = { block_id: fake.id, ask_id: id, allow: true };
      expect(await rig.ask("turn.answer", answer)).toMatchObject({ problem: "conflict" });
      await stream.end();
    }
    await rig.tool("turn.stop", { conversation });
    await rig.ended(conversation, turn);
    expect(existsSync(join(rig.root, "spoofed"))).toBe(false);
  });

  it("[L30] stopped while it waits for leave: nothing runs, the request expires", async () => {
    rig.model.play([{ parts: [call("bash", { command: "touch never" })] }]);
    const { conversation, turn } = await rig.start(flavour, "Touch");
    const asked = await rig.block(conversation, ({ metadata }) => metadata["ask"] !== undefined);
    await rig.tool("turn.stop", { conversation });
    const { blocks } = await rig.ended(conversation, turn);
    expect(shown(blocks)).toEqual(["text done", "tool_call error cancelled"]);
    expect(blocks[1]?.metadata["ask"]).toMatchObject({ state: "expired" });
    const { id } = asked.metadata["ask"] as JsonObject;
    const late = { block_id: asked.id, ask_id: id, allow: true };
    expect(await rig.ask("turn.answer", late)).toMatchObject({ problem: "gone" });
    expect(existsSync(join(rig.root, "never"))).toBe(false);
  });

  it("[L21] an unknown tool and a wrong input are results that a model can act on", async () => {
    rig.model.play([
      { parts: [call("fly", { to: "moon" }), call("read", { file: "a" }), call("block_read", { id: 1 })] },
      say("Sorry."),
    ]);
    const { blocks } = await rig.run(flavour, "Hi");
    const results = blocks.filter(({ kind }) => kind === "tool_result").map(({ text }) => text);
    expect(results.find((text) => text.includes("There is no tool fly"))).toContain("read, write, edit");
    expect(results.some((text) => text.startsWith("Invalid input for read"))).toBe(true);
    expect(results.some((text) => text.startsWith("block.read"))).toBe(true);
  });

  it("[L33] the block tools act as the agent", async () => {
    const conversation = await rig.conversation();
    const note = await rig.tool<{ block_id: string }>("block.create", {
      conversation,
      kind: "text",
      role: "model",
      content: "one\ntwo",
      status: "done",
    });
    const operations = [{ op: "replace", start_line: 1, end_line: 2, content: "three" }];
    rig.model.play([{ parts: [call("block_edit", { block_id: note.block_id, operations })] }, say("Done.")]);
    await rig.run(flavour, "Edit", { conversation });
    const history = await rig.tool<object>("block.history", { block_id: note.block_id });
    const { blocks } = await rig.run(flavour, "Thanks", { conversation });
    expect(blocks[0]?.text).toBe("one\nthree");
    expect(everything(history)).toContain(`"agent":"${flavour === "anthropic" ? "anthropic" : "openai"}"`);
  });

  it("[L28] a message that waits is answered next, behind the whole first answer", async () => {
    const { promise: until, resolve: open } = Promise.withResolvers<void>();
    rig.model.play([say("First answer.", { hold: { after: 4, until } }), say("Second answer.")]);
    const first = await rig.start(flavour, "First");
    await rig.model.askedTimes(1);
    const second = await rig.tool<{ turn: string; queued: boolean }>("turn.start", {
      conversation: first.conversation,
      provider: flavour === "anthropic" ? "anthropic" : "openai",
      prompt: "Second",
    });
    expect(second.queued).toBe(true);
    open();
    const { blocks } = await rig.ended(first.conversation, second.turn);
    const path = blocks.filter(({ side }) => !side).map(({ text }) => text);
    expect(path).toEqual(["First", "First answer.", "Second", "Second answer."]);
    expect(everything(lastBody())).toMatch(/First answer\..*Second/);
  });

  it("[L28] a message that its owner changed is sent as it reads now, one that another agent changed is not sent", async () => {
    const { promise: until, resolve: open } = Promise.withResolvers<void>();
    rig.model.play([say("First answer.", { hold: { after: 4, until } }), say("Third answer.")]);
    const { conversation } = await rig.start(flavour, "First");
    await rig.model.askedTimes(1);
    const provider = flavour === "anthropic" ? "anthropic" : "openai";
    const queue = (prompt: string) =>
      rig.tool<{ turn: string; block_id: string }>("turn.start", { conversation, provider, prompt });
    const second = await queue("Second");
    const third = await queue("Third");
    const edit = (block: string, content: string) => ({
      block_id: block,
      operations: [{ op: "replace", start_line: 0, end_line: 1, content }],
    });
    const { kernel } = rig.server;
    const changed = await kernel.writeBlock(second.block_id, {
      agent: "mallory",
      plan: (draft) => draft.splice(second.block_id, [{ at: 0, del: "Second", ins: "Delete it all" }]),
    });
    expect(isProblem(changed)).toBe(false);
    await rig.tool("block.edit", edit(third.block_id, "Third, corrected"));
    open();
    const { blocks } = await rig.ended(conversation, third.turn);
    const path = blocks.filter(({ side }) => !side).map(({ text }) => text);
    expect(path).toEqual(["First", "First answer.", "Third, corrected", "Third answer."]);
    expect(blocks.find(({ id }) => id === second.block_id)).toMatchObject({
      status: "error",
      metadata: { reason: "interrupted" },
    });
    expect(blocks.find(({ kind }) => kind === "error")?.text).toContain("mallory changed this message");
    expect(everything(lastBody())).not.toContain("Delete it all");
  });

  it("[L8] [D10] what comes with a prompt stands in front of it and is sent whole, also in a fresh start", async () => {
    const kept = await keepPicture(rig.server.store, PIXEL);
    if (isProblem(kept)) throw new Error(kept.message);
    rig.model.play([say("A pixel."), say("Still one.")]);
    const long = "x".repeat(100_000);
    const attachments = [
      { type: "text", name: "notes.md", text: `${long} and its end` },
      { type: "image", name: "pixel.png", blob: kept.blob },
    ];
    const first = await rig.run(flavour, "What is it?", { attachments });
    expect(first.blocks.filter(({ side }) => !side).map(({ kind }) => kind)).toEqual([
      ...["code", "image", "text", "text"],
    ]);
    expect(first.blocks[1]).toMatchObject({ role: "user", text: "pixel.png", metadata: { blob: kept.blob } });
    const sent = everything(lastBody());
    expect(sent).toContain(`Attached file notes.md:\\n\\n${long} and its end`);
    expect(sent).toContain(PIXEL.toString("base64"));
    await rig.run(flavour, "And now?", { conversation: first.conversation, attachments, fresh: true });
    const fresh = everything(lastBody());
    expect(fresh).not.toContain("What is it?");
    expect(fresh).toContain(PIXEL.toString("base64"));
  });

  it("[D15] a stop sends nothing that waits: it is held with its files, and sent when somebody says so", async () => {
    const { promise: until, resolve: open } = Promise.withResolvers<void>();
    rig.model.play([say("First answer.", { hold: { after: 4, until } }), say("Second answer.")]);
    const { conversation } = await rig.start(flavour, "First");
    await rig.model.askedTimes(1);
    const second = await rig.tool<{ turn: string; block_id: string }>("turn.start", {
      conversation,
      provider: flavour === "anthropic" ? "anthropic" : "openai",
      prompt: "Second",
      attachments: [{ type: "text", name: "notes.md", text: "the notes, whole" }],
    });
    expect(await rig.tool("turn.stop", { conversation })).toEqual({ stopped: 1, dropped: 0, held: 1 });
    open();
    const held = await rig.block(conversation, ({ id }) => id === second.block_id);
    expect(held).toMatchObject({ status: "pending", metadata: { queued: { held: "stopped" } } });
    expect(await rig.tool("turn.release", { conversation, turn: second.turn })).toEqual({ sent: 1 });
    const { blocks } = await rig.ended(conversation, second.turn);
    expect(blocks.filter(({ side }) => !side).at(-1)?.text).toBe("Second answer.");
    expect(everything(lastBody())).toContain("Attached file notes.md:\\n\\nthe notes, whole");
    expect(rig.model.asked).toHaveLength(2);
  });

  it("[L28] one message that waits is dropped; what runs and what waits besides is not", async () => {
    const { promise: until, resolve: open } = Promise.withResolvers<void>();
    rig.model.play([say("First answer.", { hold: { after: 4, until } }), say("Third answer.")]);
    const { conversation } = await rig.start(flavour, "First");
    await rig.model.askedTimes(1);
    const queue = (prompt: string) =>
      rig.tool<{ turn: string; block_id: string }>("turn.start", {
        conversation,
        provider: flavour === "anthropic" ? "anthropic" : "openai",
        prompt,
      });
    const second = await queue("Second");
    const third = await queue("Third");
    const stop = { conversation, turn: second.turn };
    expect(await rig.tool("turn.stop", stop)).toEqual({ stopped: 0, dropped: 1, held: 0 });
    expect(await rig.tool("turn.stop", stop)).toEqual({ stopped: 0, dropped: 0, held: 0 });
    open();
    const { blocks } = await rig.ended(conversation, third.turn);
    const path = blocks.filter(({ side }) => !side).map(({ text }) => text);
    expect(path).toEqual(["First", "First answer.", "Third", "Third answer."]);
    expect(blocks.find(({ id }) => id === second.block_id)).toMatchObject({
      status: "error",
      metadata: { reason: "cancelled" },
    });
  });
});

it("[L2] [L4] a fork goes on with the other provider: calls and results go, its reasoning stays", async () => {
  writeFileSync(join(rig.root, "a.txt"), "one\n");
  rig.model.play([
    { parts: [{ thinking: "Secret thought" }, call("read", { path: "a.txt" })] },
    say("It says one."),
    say("A says one, B agrees."),
    say("And back."),
  ]);
  const first = await rig.run("anthropic", "Read a.txt");
  const thinking = first.blocks.find(({ kind }) => kind === "thinking");
  const at = first.blocks.find(({ text }) => text === "It says one.");
  const second = await rig.run("responses", "Do you agree?", {
    conversation: first.conversation,
    parent_id: at?.id,
  });
  expect(second.turn).toMatchObject({ status: "done", provider: "openai" });
  const sent = everything(lastBody());
  expect(sent).toContain('"type":"function_call"');
  expect(sent).toContain('"type":"function_call_output"');
  expect(sent).not.toContain("Secret thought");
  await rig.run("anthropic", "And you?", { conversation: first.conversation });
  const back = everything(lastBody());
  expect(back).toContain("Secret thought");
  expect(back).toContain(String(thinking?.metadata["signature"]));
  expect(back).toContain("A says one, B agrees.");
});

it("[L4] OpenAI's reasoning goes back sealed, in front of its call", async () => {
  writeFileSync(join(rig.root, "a.txt"), "one\n");
  rig.model.play([
    { parts: [{ thinking: "I should look." }, call("read", { path: "a.txt" })] },
    say("It says one."),
  ]);
  await rig.run("responses", "Read a.txt");
  const input = lastBody()["input"] as Body[];
  expect(input.map(({ type, role }) => type ?? role)).toEqual([
    "user",
    "reasoning",
    "function_call",
    "function_call_output",
  ]);
  expect(lastBody()).toMatchObject({ store: false, include: ["reasoning.encrypted_content"] });
});

it("[L4] reasoning that somebody edited is not sent, and the turn goes on", async () => {
  writeFileSync(join(rig.root, "a.txt"), "one\n");
  rig.model.play([{ parts: [{ thinking: "Think once" }, { text: "Thought." }] }, say("Again.")]);
  const { conversation, blocks } = await rig.run("anthropic", "Think");
  const thinking = blocks.find(({ kind }) => kind === "thinking");
  const operations = [{ op: "replace", start_line: 0, end_line: 1, content: "Think twice" }];
  await rig.tool("block.edit", { block_id: thinking?.id, operations });
  const { turn } = await rig.run("anthropic", "And now?", { conversation });
  expect(turn.status).toBe("done");
  expect(everything(lastBody())).not.toContain("Think twice");
});

it("[L20] the events for simple clients count on over all messages of the turn", async () => {
  writeFileSync(join(rig.root, "a.txt"), "one\n");
  rig.model.play([
    { parts: [{ text: "Look" }, call("read", { path: "a.txt" })] },
    { parts: [{ thinking: "Again" }, call("read", { path: "b.txt" })] },
    say("Done"),
  ]);
  const conversation = await rig.conversation();
  const events = new LlmEvents();
  let messages: readonly LlmMessage[] = [];
  const stop = rig.server.kernel.listen((told) => {
    if (told.conversation !== conversation) return;
    for (const event of events.commit(told.ops, told.blocks)) messages = reduceLlm(messages, event);
  });
  const { turn } = await rig.run("anthropic", "Read", { conversation });
  stop();
  expect(messages).toMatchObject([
    {
      messageId: turn.id,
      isComplete: true,
      contentBlocks: [
        { index: 0, type: "text", content: "Look" },
        { index: 1, type: "tool_use", toolName: "read" },
        { index: 2, type: "thinking", content: "Again" },
        { index: 3, type: "tool_use" },
        { index: 4, type: "text", content: "Done" },
      ],
      toolExecutions: [
        { status: "success", result: "one\n" },
        { status: "error", error: "b.txt does not exist" },
      ],
    },
  ]);
});

it("[L20] what people edit while it runs is what the model reads next", async () => {
  rig.model.play([
    { parts: [{ text: "I will delete everything." }, call("bash", { command: "echo ran" })] },
    say("Done."),
  ]);
  const { conversation, turn } = await rig.start("anthropic", "Go");
  const asked = await rig.block(conversation, ({ metadata }) => metadata["ask"] !== undefined);
  const words = (await rig.blocks(conversation)).find(
    ({ role, kind }) => role === "model" && kind === "text",
  );
  const operations = [{ op: "replace", start_line: 0, end_line: 1, content: "I will look first." }];
  await rig.tool("block.edit", { block_id: words?.id, operations });
  const { id } = asked.metadata["ask"] as JsonObject;
  await rig.tool("turn.answer", { block_id: asked.id, ask_id: id, allow: true });
  await rig.ended(conversation, turn);
  expect(everything(lastBody())).toContain("I will look first.");
  expect(everything(lastBody())).not.toContain("delete everything");
});

it("[L29] stops after fifty rounds", async () => {
  rig.model.play(() => ({ parts: [call("todo", { items: [{ content: "x", status: "pending" }] })] }));
  const { turn, blocks } = await rig.run("anthropic", "For ever");
  expect(rig.model.asked).toHaveLength(50);
  expect(turn).toMatchObject({ status: "error", stopReason: "max_rounds" });
  expect(blocks.filter(({ kind }) => kind === "todo")).toHaveLength(50);
});

it("[L26] a refusal's explanation is told", async () => {
  rig.model.play([{ parts: [{ text: "I" }], stop: "refusal", explanation: "It is about locks." }]);
  const { blocks } = await rig.run("anthropic", "Hi");
  expect(blocks.at(-1)).toMatchObject({ text: "It is about locks.", metadata: { notice: "refusal" } });
});

it("[L26] pause_turn is continued", async () => {
  rig.model.play([say("Wait.", { stop: "pause" }), say("Done.")]);
  const { turn } = await rig.run("anthropic", "Hi");
  expect(turn).toMatchObject({ status: "done", stopReason: "end_turn" });
  expect(rig.model.asked).toHaveLength(2);
});

it.each([
  ["anthropic", "ANTHROPIC_API_KEY"],
  ["openai", "OPENAI_API_KEY"],
])("[L10] without a key %s names the variable, and writes nothing", async (provider, variable) => {
  const conversation = await rig.conversation();
  vi.stubEnv(variable, "");
  const answer = await rig.ask("turn.start", { conversation, provider, prompt: "Hi" });
  expect(answer).toMatchObject({ problem: "unavailable", details: { variable } });
  expect(await rig.blocks(conversation)).toEqual([]);
});

it("[L11] a fresh turn gets the prompt alone, and what was included", async () => {
  const elsewhere = await rig.conversation();
  const note = await rig.tool<{ block_id: string }>("block.create", {
    conversation: elsewhere,
    kind: "text",
    role: "user",
    content: "A note from elsewhere",
    status: "done",
  });
  rig.model.play([say("One."), say("Two.")]);
  const { conversation } = await rig.run("anthropic", "Old words");
  await rig.tool("conversation.include", { conversation, block_id: note.block_id });
  await rig.run("anthropic", "New words", { conversation, fresh: true });
  const sent = everything(lastBody()["messages"]);
  expect(sent).toContain(`Included: block ${note.block_id} (text)`);
  expect(sent).toContain("New words");
  expect(sent).not.toContain("Old words");
});
