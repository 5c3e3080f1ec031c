/**
 * The real Codex as turns of our server, over its app-server, against the scripted model. Like claude.test.ts; Codex takes patches as
 * plain text.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Auth } from "../../../packages/server/src/access/auth.ts";
import { findMarked } from "../../../packages/server/src/processes/child-mark.ts";
import { homeMark } from "../../../packages/server/src/processes/process-tracker.ts";
import { call, type Part, type Step, say } from "../../model/script.ts";
import { fetchCli } from "./fetch.ts";
import { Lab } from "./lab.ts";

const codex = await fetchCli("codex");
const why = "missing" in codex ? ` (not run: ${codex.missing})` : "";
const program = "program" in codex ? codex.program : "";

let lab: Lab;
beforeAll(async () => {
  if (why === "") lab = await Lab.open("codex", program, { "a.txt": "one\ntwo\n", "old.txt": "old\n" });
});
afterAll(() => lab?.close());

const shell = (cmd: string): Part => call("exec_command", { cmd });
const patch = (...lines: string[]): Part => ({
  call: "apply_patch",
  input: {},
  freeform: ["*** Begin Patch", ...lines, "*** End Patch", ""].join("\n"),
});

async function rows(conversation: string): Promise<string[]> {
  const blocks = (await lab.blocks(conversation)).filter(({ metadata }) => metadata.notice !== "queued");
  return blocks.map(({ kind, status, content }) => `${kind} ${status} ${content.trimEnd()}`);
}

describe.skipIf(why !== "")(`Codex as a turn${why}`, () => {
  it("reasoning, text, commands that work and fail, a patch that adds, changes and deletes", async () => {
    const conversation = await lab.conversation();
    const turn = await lab.turn(conversation, "Work", [
      { parts: [{ thinking: "First I look." }, { text: "I look." }, shell("cat a.txt")] },
      { parts: [shell("echo out; exit 3")] },
      {
        parts: [
          patch(
            "*** Add File: new.txt",
            "+new",
            "*** Update File: a.txt",
            "@@",
            "-two",
            "+2",
            "*** Delete File: old.txt",
          ),
        ],
      },
      say("Done."),
    ]);
    expect(turn).toMatchObject({ status: "done", usage: { input: 400, output: 80 } });
    expect(await rows(conversation)).toEqual([
      "text done Work",
      "thinking done First I look.",
      "text done I look.",
      expect.stringMatching(/^tool_call done .*cat a\.txt/),
      "command done one\ntwo",
      expect.stringMatching(/^tool_call error .*exit 3/),
      "command error out",
      expect.stringMatching(/^tool_call done .*"changes"/),
      expect.stringMatching(/^file_change done/),
      "text done Done.",
    ]);
    const change = (await lab.blocks(conversation)).find(({ kind }) => kind === "file_change");
    const changes = change?.metadata.changes as { path: string; kind: string }[];
    expect(changes.map(({ kind }) => kind).toSorted()).toEqual(["add", "delete", "modify"]);
    expect(readFileSync(join(lab.work, "a.txt"), "utf8")).toBe("one\n2\n");
    expect(existsSync(join(lab.work, "old.txt"))).toBe(false);
  });

  it("[D10] a file and a picture that come with the prompt reach the model, also when a session goes on", async () => {
    const conversation = await lab.conversation();
    const sent = () => JSON.stringify(lab.model.asked.at(-1)?.body);
    for (const prompt of ["Look", "Look again"]) {
      const turn = await lab.turnWithAttached(conversation, prompt, [say("Seen.")]);
      expect(turn).toMatchObject({ status: "done" });
      expect(sent()).toContain("the attached words");
      expect(sent()).toContain(prompt);
      expect(sent().match(/data:image\/png;base64/g)?.length).toBe(prompt === "Look" ? 1 : 2);
    }
    const asked = (await lab.blocks(conversation)).filter(
      ({ role, metadata }) => role === "user" && metadata.notice !== "queued",
    );
    expect(asked.map(({ kind }) => kind)).toEqual(["code", "image", "text", "code", "image", "text"]);
  });

  it("a patch that does not fit changes nothing, and the turn goes on", async () => {
    const conversation = await lab.conversation();
    const turn = await lab.turn(conversation, "Patch", [
      { parts: [patch("*** Update File: README.md", "@@", "-nowhere to be found", "+x")] },
      say("It does not fit."),
    ]);
    expect(turn.status).toBe("done");
    expect(readFileSync(join(lab.work, "README.md"), "utf8")).toBe("# Demo\n");
    const said = (await rows(conversation)).slice(-2);
    expect(said[0]).toBe("text done It does not fit.");
    // Codex has no item for a call that failed before it ran: that there was one is told.
    expect(said[1]).toContain("At least 1 call of this turn is missing here");
  });

  it("a session goes on, and each turn counts its own usage", async () => {
    const conversation = await lab.conversation();
    const first = await lab.turn(conversation, "My name is Ann", [say("Hello Ann.")]);
    const second = await lab.turn(conversation, "What is my name?", [say("Ann.")]);
    expect(JSON.stringify(lab.model.asked.at(-1)?.body["input"])).toContain("My name is Ann");
    const usage = { input: 100, output: 20 };
    expect([first.usage, second.usage]).toMatchObject([usage, usage]);
    expect(await rows(conversation)).toEqual([
      "text done My name is Ann",
      "text done Hello Ann.",
      "text done What is my name?",
      "text done Ann.",
    ]);
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
    const texts = (await rows(conversation)).filter((row) => /First|Second/.test(row));
    expect(texts).toEqual(["text done First, slowly.", "text done Second."]);
  });

  it("[D2] is stopped while a command runs; the command and what it started are gone", async () => {
    const conversation = await lab.conversation();
    const { turn } = await lab.start(conversation, "Wait", [
      { parts: [shell("(sleep 1234 &) ; sleep 1234")] },
    ]);
    const mark = homeMark(join(lab.folder, "data"));
    await lab.wait("the command to run", async () => {
      const commands = (await findMarked(mark)).map(commandOf);
      return commands.filter((command) => command === "sleep 1234 ").length === 2 ? true : undefined;
    });
    await lab.server.do("turn.stop", { conversation });
    expect(await lab.over(conversation, turn)).toMatchObject({ status: "error", reason: "cancelled" });
    expect(await findMarked(mark)).toEqual([]);
    const open = (await lab.blocks(conversation)).filter(({ status }) => !["done", "error"].includes(status));
    expect(open).toEqual([]);
  });

  it("an error of the API is an error of the turn, with its words", async () => {
    const conversation = await lab.conversation();
    const fails = { status: 400, type: "invalid_request_error", message: "the model is not to be had" };
    const turn = await lab.turn(conversation, "Hi", () => ({ fails }));
    expect(turn.status).toBe("error");
    expect((await rows(conversation)).join("\n")).toContain("the model is not to be had");
  });

  it("edits a block with our own MCP server", async () => {
    const token = new Auth(join(lab.folder, "data"), "owner", Date.now).create("codex-cli", "agent");
    const config = join(lab.folder, "codex", "config.toml");
    const server = `[mcp_servers.blockyard]
url = "${lab.server.url}/mcp"
http_headers = { Authorization = "Bearer ${token}" }
default_tools_approval_mode = "approve"
`;
    writeFileSync(config, `${readFileSync(config, "utf8")}\n${server}`);
    const conversation = await lab.conversation();
    const { block_id } = await lab.server.do("block.create", {
      conversation,
      kind: "text",
      role: "model",
      content: "one\ntwo\n",
      status: "done",
    });
    const operations = [{ op: "replace", start_line: 1, end_line: 2, content: "2", expected_text: "two" }];
    const edit = { call: "block_edit", namespace: "mcp__blockyard", input: { block_id, operations } };
    const turn = await lab.turn(conversation, "Change line 1", [{ parts: [edit] }, say("Changed.")]);
    expect(turn.status).toBe("done");
    const block = await lab.server.do("block.read", { block_id, line_numbers: false });
    expect(block.content).toBe("one\n2\n");
    const called = (await lab.blocks(conversation)).find(({ kind }) => kind === "tool_call");
    expect(called).toMatchObject({ status: "done", metadata: { server: "blockyard" } });
  });
});

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
  } catch {
    return "";
  }
}
