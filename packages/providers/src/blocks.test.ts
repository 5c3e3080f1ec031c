/** The command: its output for a recording, and its error if it fails. */
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { logs, streams } from "../../../test/recordings.ts";
import { main } from "./blocks.ts";

function run(...args: readonly string[]): { code: number; out: string; err: string } {
  let out = "";
  let err = "";
  const code = main(
    args,
    (text) => (out += text),
    (text) => (err += text),
  );
  return { code, out, err };
}

function fixture(name: string): string {
  const found = [...streams, ...logs].find((recording) => recording.name.startsWith(name));
  if (found === undefined) throw new Error(`no recording ${name}`);
  return found.path;
}

const toolUse = fixture("anthropic-sse/api-anthropic-tool-use.sse");

describe("[P1] prints", () => {
  it("one JSON object per block, then the turns", () => {
    const { code, out } = run(toolUse);
    expect(code).toBe(0);
    const lines = out
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines.map((line) => line["kind"])).toEqual(["text", "tool_call", undefined]);
    expect(Object.keys(lines[0] ?? {})).toEqual([
      "id",
      "parent",
      "kind",
      "role",
      "status",
      "text",
      "metadata",
    ]);
    expect(lines.at(-1)).toMatchObject({
      turns: [{ status: "done", stopReason: "tool_use" }],
      unknown: {},
      kinds: { text: 1, tool_call: 1 },
      asks: { opened: 0, open: 0 },
    });
  });

  it("the same for any chunk, and with the provider named", () => {
    const { out } = run(toolUse);
    expect(run("--chunk", "1", toolUse).out).toBe(out);
    expect(run("--provider", "anthropic", toolUse).out).toBe(out);
  });

  it("a tree for people", () => {
    expect(run("--pretty", toolUse).out).toContain("● tool_call model running");
  });

  it("session logs", () => {
    expect(run(fixture("claude-sessions/subagent/")).out).toContain('"kind":"tool_call"');
    expect(run(fixture("codex-sessions/text/")).out).toContain('"kind":"text"');
  });

  it("nothing for nothing", () => {
    const none = { input: 0, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0 };
    expect(JSON.parse(run(fixture("codex/bad-config.jsonl")).out)).toEqual({
      turns: [],
      unknown: {},
      kinds: {},
      asks: { opened: 0, answered: 0, expired: 0, open: 0 },
      usage: none,
    });
  });

  it("help", () => {
    expect(run("--help")).toMatchObject({ code: 0, err: "" });
  });
});

describe("[P9] reports the error", () => {
  const strange = join(mkdtempSync(join(tmpdir(), "blocks-")), "strange.txt");
  writeFileSync(strange, "Hello\n");

  it.each<[string, readonly string[], RegExp]>([
    ["no file", [], /give one FILE/],
    ["a missing file", ["no/such/file.jsonl"], /cannot read no\/such\/file\.jsonl/],
    ["an unknown provider", ["--provider", "hal", toolUse], /no provider hal: there are claude/],
    ["an unknown format", [strange], /name it with --provider/],
    ["an unknown option", ["--frobnicate", toolUse], /frobnicate/],
    ["a chunk of nothing", ["--chunk", "0", toolUse], /--chunk takes/],
    ["a log of an API", ["--log", "--provider", "openai", toolUse], /has no session logs/],
  ])("%s", (_, args, expected) => {
    const { code, err, out } = run(...args);
    expect(code).toBe(2);
    expect(out).toBe("");
    expect(err).toMatch(expected);
  });
});
