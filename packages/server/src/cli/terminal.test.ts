// What gets out to a terminal, and how.

import type { ConversationView } from "@blockyard/kernel";
import { expect, it, vi } from "vitest";
import { trustText } from "./ask-trust.ts";
import { firstOf, row } from "./ls.ts";
import { oneLine, printJson, printNote, safeOutput, safeText, styleFor, terminalWidth } from "./terminal.ts";

const RED = "\u001b[31mx\u001b[0m";

it.each<[string, { isTTY?: boolean }, Record<string, string>, string]>([
  ["a terminal", { isTTY: true }, {}, RED],
  ["a terminal with NO_COLOR", { isTTY: true }, { NO_COLOR: "1" }, "x"],
  ["a terminal with an empty NO_COLOR", { isTTY: true }, { NO_COLOR: "" }, RED],
  ["a dumb terminal", { isTTY: true }, { TERM: "dumb" }, "x"],
  ["a pipe", {}, {}, "x"],
])("[U3] colours on %s", (_, stream, env, expected) => expect(styleFor(stream, env).red("x")).toBe(expected));

it.each<[string, string]>([
  ["plain\ttext\nlines", "plain\ttext\nlines"],
  ["\u001b]52;c;ZXZpbA==\u0007copied", "copied"],
  ["\u001b]0;title\u001b\\x", "x"],
  ["\u001b]0;never ends", "0;never ends"],
  ["a\u009b2Jb", "a\ufffd2Jb"],
  ["\u202egnp.exe", "\ufffdgnp.exe"],
  ["\u061ca\u2028b\u2029", "\ufffda\ufffdb\ufffd"],
  ["rm -rf ~ #\rls", "rm -rf ~ #\ufffdls"],
  ["two\r\nlines\r\n", "two\nlines\n"],
])("[U15] %j is printed as %j", (text, shown) => expect(safeText(text)).toBe(shown));

it("[U15] of what a program has printed over itself the last state is printed", () => {
  expect(safeOutput("50%\r100%\n\u001b]52;c;ZXZpbA==\u0007x\r\n")).toBe("100%\nx\n");
});

it("[U15] JSON for programs obeys no terminal either, and is the same JSON", async () => {
  const hostile = {
    a: "\u009b2J\u007f\u202e\u2066\u061c\u200b\u2028\ufeff\u{e0041}\u001b]52;c;x\u0007",
    b: "é 😀",
  };
  const printed = vi.spyOn(process.stdout, "write").mockReturnValue(true);
  await printJson(hostile);
  const text = String(printed.mock.lastCall?.[0]);
  printed.mockRestore();
  expect(text.trimEnd()).not.toMatch(/[\p{Cc}\p{Cf}\u2028\u2029]/u);
  expect(text).toContain("é 😀");
  expect(JSON.parse(text)).toEqual(hostile);
});

it("[AC210] the name of a file that acts by itself is spelt out: no name hides another, or passes for several", () => {
  const names = [
    ".claude/commands/a\n  README.md  nothing",
    "CLAUDE.md\rREADME.md",
    "\u202edm.EDUALC",
    "a\u001b[2Kb",
  ];
  const files = names.map((path) => ({ path, reason: "r", state: "new" }));
  const text = trustText({ folder: "/w\n/x", digest: "", files });
  expect(text.split("\n")).toHaveLength(names.length + 1);
  expect(text.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  for (const part of ["README.md  nothing", "CLAUDE.md⟨U+000D⟩README.md", "⟨U+202E⟩", "⟨U+001B⟩[2K"])
    expect(text).toContain(part);
});

it("[U15] one line stays one line", () => {
  expect(oneLine("a\n\tb \u001b[31mc", 80)).toBe("a b c");
  expect(oneLine("abcdef", 4)).toBe("abc…");
  expect(oneLine("ab😀def", 4)).toBe("ab\ufffd…");
});

it("[U15] names and messages that others chose are printed safely too", () => {
  const evil = "\u001b]0;title\u0007\u001b[2J\u009b31m\u202e";
  const view = {
    conversation: "c",
    title: evil,
    provider: evil,
    blocks: 1,
    cost_usd: null,
    updated_at: 0,
    running: [],
    metadata: {},
  };
  const told = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  printNote(`no block ${evil}`);
  const lines = [row(view as unknown as ConversationView, 1), String(told.mock.lastCall?.[0])];
  told.mockRestore();
  for (const line of lines) expect(line.replaceAll("\n", "")).not.toMatch(/\p{Cc}|\u202e/u);
});

it("[U20] a list has no more lines than were asked for, and says that there are more", () => {
  const conversations = ["a", "b", "c"].map((conversation) => ({ conversation }) as ConversationView);
  const ids = (limit: number, more: boolean) => {
    const found = firstOf({ conversations, more }, limit);
    return [found.views.map(({ conversation }) => conversation).join(""), found.more];
  };
  expect([ids(2, false), ids(3, false), ids(3, true), ids(9, false)]).toEqual([
    ["ab", true],
    ["abc", false],
    ["abc", true],
    ["abc", false],
  ]);
});

it("[U64] the columns of a list are as wide as its longest id, and no line is wider than the terminal", () => {
  const ids = ["k3vq2mz", "grmuuzmt859gww83rkq9t3d2"];
  const title = "A title that is much longer than what is left of any terminal, however wide it is made";
  const lines = ids.map((conversation) =>
    row(
      {
        ...{ conversation, title, provider: "claude", blocks: 8, cost_usd: 0.01, updated_at: Date.now() },
        ...{ running: [], metadata: {} },
      } as unknown as ConversationView,
      24,
    ),
  );
  expect(new Set(lines.map((line) => line.indexOf("claude")))).toEqual(new Set([27]));
  for (const line of lines) expect(line.trimEnd().length).toBeLessThanOrEqual(terminalWidth());
});
