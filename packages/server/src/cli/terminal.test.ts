// What gets out to a terminal, and how.

import type { ConversationView } from "@blockyard/kernel";
import { expect, it, vi } from "vitest";
import { trustText } from "./ask-trust.ts";
import { helpText } from "./help.ts";
import { firstOf, isListed, row } from "./ls.ts";
import { allCommands } from "./program.ts";
import { excerptOf } from "./search.ts";
import {
  oneLine,
  printData,
  printJson,
  printNote,
  safeOutput,
  safeText,
  styleFor,
  terminalWidth,
  wrapped,
} from "./terminal.ts";

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
  ["a\u200bb\u2060c\ufeffd\u00ade\u3164", "a\ufffdb\ufffdc\ufffdd\ufffde\ufffd"],
  ["hid\u{e0068}\u{e0069}\u{e0100}den", "hid\ufffd\ufffd\ufffdden"],
  ["👩\u200d💻 ❤\ufe0f می\u200cخواهم", "👩\u200d💻 ❤\ufe0f می\u200cخواهم"],
])("[U15] %j is printed as %j", (text, shown) => expect(safeText(text)).toBe(shown));

it("[U15] prints the last state of output that overwrites itself", () => {
  expect(safeOutput("50%\r100%\n\u001b]52;c;ZXZpbA==\u0007x\r\n")).toBe("100%\nx\n");
});

it("[U15] what is printed for a file is obeyed by no terminal, and is exact anywhere else", async () => {
  const { isTTY } = process.stdout;
  const printed = vi.spyOn(process.stdout, "write").mockReturnValue(true);
  const text = "a\u001b]52;c;ZXZpbA==\u0007\u009b2J é";
  const body = async function* () {
    yield text;
    yield* [...Buffer.from(text)].map((byte) => Uint8Array.of(byte));
  };
  const shown: string[] = [];
  for (const isTerminal of [true, false]) {
    process.stdout.isTTY = isTerminal;
    printed.mockClear();
    await printData(body());
    shown.push(Buffer.concat(printed.mock.calls.map(([piece]) => Buffer.from(piece))).toString("utf8"));
  }
  printed.mockRestore();
  process.stdout.isTTY = isTTY;
  const [onTerminal = "", elsewhere] = shown;
  expect(onTerminal).not.toMatch(/[^\P{C}\n]/u);
  expect(onTerminal).toContain(" é");
  expect(elsewhere).toBe(text + text);
});

it("[U15] no terminal executes JSON for programs either, and it is the same JSON", async () => {
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

it("[U20] a list has no more lines than requested, and says that there are more", () => {
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

it("[D62] a list marks open asks, also ones cut off by a restart", () => {
  const mark = (more: object) => {
    const view = { conversation: "c", title: "t", blocks: 1, cost_usd: null, updated_at: 0, metadata: {} };
    return row({ ...view, running: [], ...more } as unknown as ConversationView, 1).slice(0, 2);
  };
  expect([mark({ asking: ["b"] }), mark({ late_asks: ["b"] }), mark({ running: ["t"] }), mark({})]).toEqual([
    ...["? ", "? ", "● ", "  "],
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

it.each<[string, string, number, number, string]>([
  ["fits", "one two", 7, 0, "one two"],
  ["is broken between words", "one two three", 8, 0, "one two\nthree"],
  ["goes on below itself", "    one two three", 12, 4, "    one two\n    three"],
  [
    "has a word that is longer than the line",
    "see https://example.org/long now",
    10,
    2,
    "see\n  https://example.org/long\n  now",
  ],
  ["has lines of its own", "one\ntwo three", 5, 0, "one\ntwo\nthree"],
])("[U64] a text that %s", (_, text, width, hang, expected) => {
  expect(wrapped(text, width, hang)).toBe(expected);
});

it("[U64] help fits a terminal of 80 columns; only examples, which are copied, may be longer", async () => {
  const commands = await allCommands();
  const texts = [undefined, ...commands].map((one) => helpText(commands, one, 80));
  const lines = texts.flatMap((text) => text.replace(/^Examples\n(?: {2}.*\n)*/m, "").split("\n"));
  expect(lines.filter((line) => line.length > 80)).toEqual([]);
  // Nothing is left out for it.
  const words = (text: string) => text.split(/\s+/).toSorted().join(" ");
  for (const [i, one] of [undefined, ...commands].entries())
    expect(words(texts[i] ?? "")).toBe(words(helpText(commands, one, Number.POSITIVE_INFINITY)));
});

it("[U98] help names the agents that can be run", async () => {
  const commands = await allCommands();
  const run = commands.find(({ name }) => name === "run");
  expect(helpText(commands, run, 80)).toMatch(/^ {2}<agent> +one of claude, codex, opencode, /m);
});

it("[U20] files of the workspace are not listed among the conversations", () => {
  const view = { created_by: "ann", metadata: {} } as unknown as ConversationView;
  const isShown = (more: object, isAll = false) => isListed({ ...view, ...more }, isAll);
  expect([isShown({}), isShown({ created_by: "disk" }), isShown({ created_by: "disk" }, true)]).toEqual([
    ...[true, false, false],
  ]);
  expect([
    isShown({ metadata: { archived: true } }),
    isShown({ metadata: { archived: true } }, true),
  ]).toEqual([...[false, true]]);
});

it.each<[string, string, string]>([
  ["a line that fits", "a cent is missing", "a [cent] is missing"],
  ["one that is too long behind it", "a cent is missing from this price", "a [cent] is missing from…"],
  ["one that is too long before it", "somewhere in this text a cent", "…re in this text a [cent]"],
  [
    "one that is too long on both sides",
    "somewhere in this text a cent is missing, and more",
    "…xt a [cent] is missing,…",
  ],
])("[U64] of %s a search shows the match", (_, content, expected) => {
  const at = content.indexOf("cent");
  const match = { line: 1, content_line: 1, content, match_start: at, match_end: at + 4 };
  const { before, hit, after } = excerptOf(match, "text", 23);
  expect(`${before}[${hit}]${after}`).toBe(expected);
  // The middle of a line begins with a mark.
  const place = { match_start: at + 1_000, match_end: at + 1_004, shown_from: 1_000 };
  const far = excerptOf({ ...match, ...place, content: `…${content}` }, "text", 24);
  expect(far.hit).toBe("cent");
});

it("[U64] of a tool's input the terminal shows the text that was found, and a script all of it", () => {
  const content = String.raw`{"file_path":"/shop/cart.ts","content":"a cent\n\u001b[31mis missing"}`;
  const at = content.indexOf("cent\\");
  const match = { line: 1, content_line: 1, content, match_start: at, match_end: at + 4 };
  const shown = (kind: string) => Object.values(excerptOf(match, kind, 200)).join("|");
  expect(shown("tool_call")).toBe("a |cent| is missing");
  expect(shown("text")).toBe(content.replace("cent\\", "|cent|\\"));
});
