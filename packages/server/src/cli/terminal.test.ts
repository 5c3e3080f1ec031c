// What gets out to a terminal, and how.

import { expect, it } from "vitest";
import { oneLine, safeText, styleFor } from "./terminal.ts";

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
  ["50%\r100%", "100%"],
])("[U15] %j is printed as %j", (text, shown) => expect(safeText(text)).toBe(shown));

it("[U15] one line stays one line", () => {
  expect(oneLine("a\n\tb \u001b[31mc", 80)).toBe("a b c");
  expect(oneLine("abcdef", 4)).toBe("abc…");
  expect(oneLine("ab😀def", 4)).toBe("ab\ufffd…");
});
