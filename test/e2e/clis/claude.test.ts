/**
 * The real Claude Code as turns of our server, against the scripted model. Each test says what the model says; Claude Code
 * does what it then does; what is checked is what everybody sees of it.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { repeatsDenial } from "@blockyard/kernel";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Auth } from "../../../packages/server/src/access/auth.ts";
import { findMarked } from "../../../packages/server/src/processes/child-mark.ts";
import { homeMark } from "../../../packages/server/src/processes/process-tracker.ts";
import { type Asked, type Body, call, type Script, type Step, say } from "../../model/script.ts";
import { fetchCli } from "./fetch.ts";
import { Lab, type LabTurn } from "./lab.ts";

const claude = await fetchCli("claude");
const why = "missing" in claude ? ` (not run: ${claude.missing})` : "";
const program = "program" in claude ? claude.program : "";

let lab: Lab;
beforeAll(async () => {
  if (why === "") lab = await Lab.open("claude", program, { "a.txt": "one\ntwo\n" });
});
afterAll(() => lab?.close());

/** Kind, status and text of each block, for a look at a whole turn. */
async function rows(conversation: string): Promise<string[]> {
  const blocks = (await lab.blocks(conversation)).filter(({ metadata }) => metadata.notice !== "queued");
  return blocks.map(({ kind, status, content }) => `${kind} ${status} ${content.trimEnd()}`);
}

/** The content of the last tool result that the model was given. */
function lastResult({ body }: Asked): string {
  const messages = body["messages"] as { content: Body[] | string }[];
  const parts = messages.flatMap(({ content }) => (typeof content === "string" ? [] : content));
  return JSON.stringify(parts.filter(({ type }) => type === "tool_result").at(-1)?.["content"] ?? "");
}

describe.skipIf(why !== "")(`Claude Code as a turn${why}`, () => {
  it("text, thinking, a command that fails, a file that is written: each as its kind", async () => {
    const conversation = await lab.conversation();
    const file = join(lab.work, "new.txt");
    const turn = await lab.turn(conversation, "Look and write", [
      {
        parts: [
          { thinking: "First I look." },
          { text: "I **look**." },
          call("Bash", { command: "cat a.txt; exit 2", description: "Look" }),
        ],
      },
      { parts: [call("Write", { file_path: file, content: "new\n" })] },
      say("Written."),
    ]);
    expect(turn).toMatchObject({ status: "done", usage: { input: 300, output: 60 } });
    expect(await rows(conversation)).toEqual([
      "text done Look and write",
      "thinking done First I look.",
      "text done I **look**.",
      expect.stringMatching(/^tool_call error \{"command":"cat a\.txt; exit 2"/),
      "command error one\ntwo",
      expect.stringMatching(/^tool_call done \{"file_path"/),
      expect.stringMatching(/^file_change done [\s\S]*\+new$/),
      "text done Written.",
    ]);
    expect(readFileSync(file, "utf8")).toBe("new\n");
    const approvals = (await lab.blocks(conversation)).flatMap(({ metadata }) => metadata.ask ?? []);
    expect(approvals).toMatchObject([
      { state: "allowed", input: { command: "cat a.txt; exit 2" }, answeredBy: expect.any(String) },
      { state: "allowed", input: { file_path: file, content: "new\n" }, answeredBy: expect.any(String) },
    ]);
  });

  it("[D10] a file and a picture that come with the prompt reach the model, also when a session goes on", async () => {
    const conversation = await lab.conversation();
    const sent = () => JSON.stringify(lab.model.asked.at(-1)?.body);
    for (const prompt of ["Look", "Look again"]) {
      const turn = await lab.turnWithAttached(conversation, prompt, [say("Seen.")]);
      expect(turn).toMatchObject({ status: "done" });
      expect(sent()).toContain("the attached words");
      expect(sent()).toContain(prompt);
      expect(sent().match(/"type":"image"/g)?.length).toBe(prompt === "Look" ? 1 : 2);
    }
    const asked = (await lab.blocks(conversation)).filter(
      ({ role, metadata }) => role === "user" && metadata.notice !== "queued",
    );
    expect(asked.map(({ kind }) => kind)).toEqual(["code", "image", "text", "code", "image", "text"]);
  });

  it("parallel calls, reading, editing, an edit that does not fit", async () => {
    const conversation = await lab.conversation();
    const path = join(lab.work, "a.txt");
    const turn = await lab.turn(conversation, "Edit", [
      {
        parts: [call("Read", { file_path: path }), call("Read", { file_path: join(lab.work, "README.md") })],
      },
      { parts: [call("Edit", { file_path: path, old_string: "two", new_string: "2" })] },
      { parts: [call("Edit", { file_path: path, old_string: "nowhere", new_string: "x" })] },
      say("Edited."),
    ]);
    expect(turn.status).toBe("done");
    expect(readFileSync(path, "utf8")).toBe("one\n2\n");
    const blocks = await lab.blocks(conversation);
    const kinds = blocks.map(({ kind, status }) => `${kind} ${status}`);
    // Whether the first of two parallel reads answers before the second is asked for is the CLI's to say.
    expect(kinds.slice(1, 5).toSorted()).toEqual([
      "code done",
      "code done",
      "tool_call done",
      "tool_call done",
    ]);
    expect(kinds.toSpliced(1, 4)).toEqual([
      "text done",
      "tool_call done",
      "file_change done",
      "tool_call error",
      expect.stringMatching(/^(tool_result|error) /),
      "text done",
    ]);
    const read = blocks.filter(({ kind }) => kind === "code");
    for (const { parent_id } of read) {
      expect(blocks.find(({ block_id }) => block_id === parent_id)).toMatchObject({ kind: "tool_call" });
    }
    expect(read.map(({ content }) => content)).toEqual(
      expect.arrayContaining([expect.stringContaining("one\ntwo"), expect.stringContaining("# Demo")]),
    );
  });

  it("[D7] what is denied is not done, and the model is told that the user refused it, and why", async () => {
    const conversation = await lab.conversation();
    const file = join(lab.work, "denied.txt");
    const script: Script = [{ parts: [call("Write", { file_path: file, content: "no" })] }, say("Then not.")];
    const turn = await lab.turn(conversation, "Write it", script, false);
    expect(turn.status).toBe("done");
    expect(existsSync(file)).toBe(false);
    expect(lastResult(lab.model.asked.at(-1) as Asked)).toContain(
      "The user denied this tool call. Reason: Not that, please",
    );
    const asked = (await lab.blocks(conversation)).find(({ metadata }) => metadata.ask);
    expect(asked).toMatchObject({
      status: "error",
      metadata: { reason: "denied", ask: { state: "denied", message: "Not that, please" } },
    });
  });

  it("a session goes on, and each turn counts its own usage", async () => {
    const conversation = await lab.conversation();
    const first = await lab.turn(conversation, "My name is Ann", [say("Hello Ann.")]);
    const second = await lab.turn(conversation, "What is my name?", [say("Ann.")]);
    expect(JSON.stringify(lab.model.asked.at(-1)?.body["messages"])).toContain("My name is Ann");
    expect([first.usage, second.usage]).toMatchObject([
      { input: 100, output: 20 },
      { input: 100, output: 20 },
    ]);
    expect(second.cost_usd).toBeCloseTo(first.cost_usd as number, 6);
    expect(await rows(conversation)).toEqual([
      "text done My name is Ann",
      "text done Hello Ann.",
      "text done What is my name?",
      "text done Ann.",
    ]);
  });

  it("[D11] a turn of a second session is counted beside that session, not beside the first", async () => {
    const conversation = await lab.conversation();
    const first = await lab.turn(conversation, "Count plums", [say("One.")]);
    lab.model.play([say("Two.")]);
    const fresh = { conversation, provider: "claude", prompt: "two", fresh: true };
    const { turn } = (await lab.server.do("turn.start", fresh)) as { turn: string };
    const second = await lab.over(conversation, turn);
    const third = await lab.turn(conversation, "three", [say("Three.")]);
    expect(JSON.stringify(lab.model.asked.at(-1)?.body["messages"])).not.toContain("plums");
    for (const { cost_usd } of [second, third]) expect(cost_usd).toBeCloseTo(first.cost_usd as number, 6);
  });

  it("[D12] that was told to clear itself is told nothing of what was before; its own commands still work", async () => {
    const conversation = await lab.conversation();
    await lab.turn(conversation, "Count plums", [say("One.")]);
    expect(await lab.turn(conversation, "/clear", [])).toMatchObject({ status: "done" });
    await lab.turn(conversation, "two", [say("Two.")]);
    await lab.turn(conversation, "three", [say("Three.")]);
    const sent = JSON.stringify(lab.model.asked.at(-1)?.body["messages"]);
    expect(sent).toContain("Two.");
    expect(sent).not.toMatch(/plums|Blockyard/);
  });

  it("a message that comes meanwhile waits its turn", async () => {
    const conversation = await lab.conversation();
    let release = () => {};
    const until = new Promise<void>((resolve) => {
      release = resolve;
    });
    const slow: Step = { ...say("First, slowly."), hold: { after: 4, until } };
    const { turn: first } = await lab.start(conversation, "one", [slow, say("Second.")]);
    const { turn: second, queued } = await lab.start(conversation, "two");
    expect(queued).toBe(true);
    release();
    expect(await lab.over(conversation, first)).toMatchObject({ status: "done" });
    expect(await lab.over(conversation, second)).toMatchObject({ status: "done" });
    const texts = (await rows(conversation)).filter((row) => row.includes("First") || row.includes("Second"));
    expect(texts).toEqual(["text done First, slowly.", "text done Second."]);
  });

  it("is stopped in the middle of an answer, and goes on afterwards", async () => {
    const conversation = await lab.conversation();
    const never = new Promise<void>(() => {});
    const { turn } = await lab.start(conversation, "Tell me", [
      { ...say("A long story that does not end."), hold: { after: 4, until: never } },
    ]);
    await lab.wait("the first words", async () =>
      (await rows(conversation)).some((row) => row.startsWith("text running A long")) ? true : undefined,
    );
    await lab.server.do("turn.stop", { conversation });
    expect(await lab.over(conversation, turn)).toMatchObject({ status: "error", reason: "cancelled" });
    const open = (await lab.blocks(conversation)).filter(({ status }) => !["done", "error"].includes(status));
    expect(open).toEqual([]);
    const after = await lab.turn(conversation, "Again", [say("Here I am.")]);
    expect(after.status).toBe("done");
  });

  it("[V37] is stopped while a call asks: nobody answered, and nothing says that it failed", async () => {
    const conversation = await lab.conversation();
    const input = { command: "touch made", description: "Make" };
    const { turn } = await lab.start(conversation, "Make it", [{ parts: [call("Bash", input)] }]);
    await lab.wait("the question", async () =>
      (await lab.blocks(conversation)).find(({ metadata }) => metadata.ask?.state === "asked"),
    );
    await lab.server.do("turn.stop", { conversation });
    await lab.wait(`turn ${turn} to end`, async () => {
      const { turns } = (await lab.server.do("turn.list", { conversation })) as { turns: LabTurn[] };
      return turns.every(({ status }) => status !== "running") ? true : undefined;
    });
    const blocks = await lab.blocks(conversation);
    const asked = blocks.find(({ kind }) => kind === "tool_call");
    expect(asked).toMatchObject({ metadata: { reason: "cancelled", ask: { state: "expired" } } });
    for (const { metadata } of blocks.filter(({ kind }) => kind === "tool_result"))
      expect(repeatsDenial(asked?.metadata, { kind: "tool_result", metadata })).toBe(true);
  });

  it("[D2] is stopped while a command runs; the command and what it started are gone", async () => {
    const conversation = await lab.conversation();
    const input = { command: "(sleep 1234 &) ; sleep 1234", description: "Wait" };
    const mark = homeMark(join(lab.folder, "data"));
    const { turn } = await lab.start(conversation, "Wait", [{ parts: [call("Bash", input)] }]);
    await lab.wait("the command to run", async () => {
      await lab.answer(conversation, true);
      const commands = (await findMarked(mark)).map(commandOf);
      return commands.filter((command) => command === "sleep 1234 ").length === 2 ? true : undefined;
    });
    await lab.server.do("turn.stop", { conversation });
    expect(await lab.over(conversation, turn)).toMatchObject({ status: "error", reason: "cancelled" });
    const left = async () => (await findMarked(mark)).map(commandOf);
    await lab.wait("the command to be gone", async () =>
      (await left()).includes("sleep 1234 ") ? undefined : true,
    );
    // The agent itself waits for its next turn.
    expect((await left()).length).toBeGreaterThan(0);
  });

  it("an error of the API is an error of the turn, with its words", async () => {
    const conversation = await lab.conversation();
    const fails = { status: 400, type: "invalid_request_error", message: "max_tokens is too large" };
    const turn = await lab.turn(conversation, "Hi", () => ({ fails }));
    expect(turn.status).toBe("error");
    expect((await rows(conversation)).join("\n")).toContain("max_tokens is too large");
  });

  it("edits a block with our own MCP server, meets a conflict, and solves it", async () => {
    const token = new Auth(join(lab.folder, "data"), "owner", Date.now).create("claude-code", "agent");
    const headers = { Authorization: `Bearer ${token}` };
    const mcpServers = { blockyard: { type: "http", url: `${lab.server.url}/mcp`, headers } };
    writeFileSync(join(lab.folder, "claude", ".claude.json"), JSON.stringify({ mcpServers }));
    const conversation = await lab.conversation();
    const { block_id } = await lab.server.do("block.create", {
      conversation,
      kind: "text",
      role: "model",
      content: "one\ntwo\nthree\n",
      status: "done",
    });
    const edit = (expected_text: string, content: string) =>
      call("mcp__blockyard__block_edit", {
        block_id,
        operations: [{ op: "replace", start_line: 1, end_line: 2, content, expected_text }],
      });
    const results: string[] = [];
    const turn = await lab.turn(conversation, "Change line 1", (asked, index) => {
      if (index > 0) results.push(lastResult(asked));
      if (index === 0) return { parts: [call("mcp__blockyard__block_read", { block_id })] };
      if (index === 1) {
        // While the model writes its edit, a person changes the same line.
        const operations = [{ op: "replace", start_line: 1, end_line: 2, content: "TWO" }];
        const edited = lab.server.do("block.edit", { block_id, operations });
        return { parts: [edit("two", "2")], hold: { after: 1, until: edited } };
      }
      return index === 2 ? { parts: [edit("TWO", "two, by both")] } : say("Solved.");
    });
    expect(turn).toMatchObject({ status: "done" });
    expect(results[0]).toContain("two");
    expect(results[1]).toMatch(/mismatch/);
    expect(results[1]).toContain("TWO");
    const block = await lab.server.do("block.read", { block_id, line_numbers: false });
    expect(block.content).toBe("one\ntwo, by both\nthree\n");
    const { units } = await lab.server.do("block.history", { block_id });
    expect((units as { agent: string }[]).map(({ agent }) => agent)).toContain("claude-code");
    const calls = (await lab.blocks(conversation)).filter(({ kind }) => kind === "tool_call");
    expect(calls.map(({ status }) => status)).toEqual(["done", "error", "done"]);
  });
});

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
  } catch {
    return "";
  }
}
