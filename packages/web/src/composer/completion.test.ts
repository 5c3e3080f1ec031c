/** Completions at a caret, and the field's text afterwards. */
import { expect, test } from "vitest";
import { completed, mentionOf, triggerAt, withoutTrigger } from "./completion.ts";

/** The caret is at the bar. */
function at(text: string) {
  const caret = text.indexOf("|");
  return triggerAt(text.replace("|", ""), caret);
}

test.each([
  ["/|", { kind: "command", query: "", from: 0, to: 1 }],
  ["/comp|", { kind: "command", query: "comp", from: 0, to: 5 }],
  ["/co|mp", { kind: "command", query: "co", from: 0, to: 3 }],
  ["/compact |", undefined],
  ["say /comp|", undefined],
  ["/usr/bin|", undefined],
  ["@|", { kind: "mention", query: "", from: 0, to: 1 }],
  ["look at @src/a|", { kind: "mention", query: "src/a", from: 8, to: 14 }],
  ["one\n@a|", { kind: "mention", query: "a", from: 4, to: 6 }],
  ["me@home|", undefined],
  ["@src/a.ts and|", undefined],
  ["plain|", undefined],
])("[CM5] %s", (text, expected) => {
  expect(at(text)).toEqual(expected);
});

test("[CM5] the choice replaces the typed text, followed by one space", () => {
  const trigger = triggerAt("look at @sr and on", 11);
  expect(trigger && completed("look at @sr and on", trigger, "@src/a.ts")).toEqual({
    text: "look at @src/a.ts and on",
    caret: 18,
  });
  const end = triggerAt("/co", 3);
  expect(end && completed("/co", end, "/compact")).toEqual({ text: "/compact ", caret: 9 });
  expect(end && withoutTrigger("/co", end)).toEqual({ text: "", caret: 0 });
  expect(mentionOf("a b.ts")).toBe('@"a b.ts"');
});
