/** What a typed line means to a question of an agent. */
import type { Ask, AskQuestion } from "@blockyard/kernel";
import { expect, it } from "vitest";
import { answersTo, choiceIn, questionText, suggestionIn, suggestionText } from "./terminal-answer.ts";

const one: AskQuestion = {
  id: "1",
  question: "Which?",
  multiple: false,
  options: [{ label: "a" }, { label: "b" }],
};
const many: AskQuestion = { ...one, id: "2", multiple: true, freeText: true };

it.each([
  [one, "2", { chosen: ["b"] }],
  [one, "", { chosen: [], skipped: true }],
  [one, "1,2", "Choose one."],
  [one, "7", "Type a number from 1 to 2."],
  [one, "own", "Type a number from 1 to 2."],
  [many, "1, 2", { chosen: ["a", "b"] }],
  [many, "2,2", { chosen: ["b"] }],
  [many, "own words", { chosen: [], text: "own words" }],
] as const)("[A40] %j %s", (question, line, said) => {
  expect(choiceIn(question, line)).toEqual(said);
});

it("[A40] asks again where a line chooses nothing, and stops with the turn", async () => {
  const lines = ["9", "1", "2"];
  const shown: string[] = [];
  const type = async (text: string) => {
    shown.push(text);
    return lines.shift();
  };
  const ask = { id: "q", kind: "question", state: "asked", questions: [one, many] } as const;
  expect(await answersTo({ ...ask, questions: [one, many] }, type)).toEqual({
    questions: { 1: { chosen: ["a"] }, 2: { chosen: ["b"] } },
  });
  expect(shown[1]).toContain("Type a number from 1 to 2.");
  expect(questionText(one)).toBe("Which? (a number)\n  1  a\n  2  b");
  expect(await answersTo({ ...ask, questions: [one] }, async () => undefined)).toBeUndefined();
});

it("[D61] a number takes what is suggested, with all of its words shown", () => {
  const ask: Ask = {
    ...{ id: "1", kind: "permission", state: "asked" },
    suggestions: [
      { id: "rule-conversation", label: "Allow `npm test …` in this conversation", scope: "conversation" },
      { id: "rule-deny", label: "Always deny it\u202e", scope: "workspace", deny: true },
    ],
  };
  expect(suggestionText(ask)).toContain(
    "\n  1  Allow `npm test …` in this conversation\n  2  Always deny it",
  );
  expect(suggestionText(ask)).not.toContain("\u202e");
  expect(suggestionIn(ask, "2")).toMatchObject({ id: "rule-deny", deny: true });
  for (const line of ["0", "3", "y", "1 2", ""]) expect(suggestionIn(ask, line), line).toBeUndefined();
});

it("[A40] a label is one row: it cannot pass for a row with another number", () => {
  const options = [{ label: "No\n  2  Cancel", description: "x\n  3  y" }, { label: "Yes, always" }];
  expect(questionText({ ...one, options }).split("\n")).toEqual([
    "Which? (a number)",
    "  1  No⟨U+000A⟩  2  Cancel  x⟨U+000A⟩  3  y",
    "  2  Yes, always",
  ]);
  const suggestions = options.map(({ label }, i) => ({ id: String(i), label, scope: "always" }) as const);
  const ask: Ask = { id: "1", kind: "permission", state: "asked", suggestions };
  expect(suggestionText(ask).split("\n")).toEqual([
    ...["", "  1  Allow: No⟨U+000A⟩  2  Cancel", "  2  Yes, always"],
  ]);
});

it("[CM10] an agent's own names for a plain yes and no are not offered beside them", () => {
  const option = (id: string, kind: string, deny?: true) => ({
    ...{ id, label: id, scope: "once" as const, native: { kind } },
    ...(deny ? { deny } : {}),
  });
  const suggestions = [
    option("Allow once", "allow_once"),
    option("Always", "allow_always"),
    option("Reject", "reject_once", true),
    option("Stop", "reject_always", true),
  ];
  const ask: Ask = { id: "1", kind: "permission", state: "asked", suggestions };
  expect(suggestionText(ask)).toBe("\n  1  Always\n  2  Stop");
  expect(suggestionIn(ask, "2")).toMatchObject({ id: "Stop" });
  // A plan's options are the ways in which it can be approved.
  expect(suggestionText({ ...ask, kind: "plan" })).toContain("1  Allow once");
});
