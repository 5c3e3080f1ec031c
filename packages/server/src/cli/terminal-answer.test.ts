/** How a typed line answers an agent's question. */
import type { Ask, AskQuestion } from "@blockyard/kernel";
import { expect, it } from "vitest";
import { answerIn, answersText, answersTo, choiceIn, isSlip, questionText } from "./terminal-answer.ts";

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
  [many, "7", "Type a number from 1 to 2, or your own words."],
  [{ ...one, options: [] }, "7", { chosen: [], text: "7" }],
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
  expect(questionText(many)).toBe("Which? (numbers, such as 1,3, or your own words)\n  1  a\n  2  b");
  expect(await answersTo({ ...ask, questions: [one] }, async () => undefined)).toBeUndefined();
});

it("[U97] an unknown number is asked again, and denies nothing", () => {
  const suggestions = [{ id: "s", label: "Always", scope: "always" }] as const;
  const ask: Ask = { id: "1", kind: "permission", state: "asked", suggestions };
  expect(["1", "2", "0", "9 lives", "no"].filter((line) => isSlip(ask, line))).toEqual([]);
  expect(["3", "17"].every((line) => isSlip(ask, line))).toBe(true);
});

it("[D61] a number takes the suggestion, which is shown completely", () => {
  const ask: Ask = {
    ...{ id: "1", kind: "permission", state: "asked" },
    suggestions: [
      { id: "rule-conversation", label: "Allow `npm test …` in this conversation", scope: "conversation" },
      { id: "rule-deny", label: "Always deny it\u202e", scope: "workspace", deny: true },
    ],
  };
  const [first, ...rows] = answersText(ask).split("\n");
  expect([first, ...rows.slice(0, 3)]).toEqual([
    ...["", "  1  Allow once", "  2  Allow `npm test …` in this conversation", "  0  Deny"],
  ]);
  expect(rows[3]).toMatch(/^ {2}3 {2}Always deny it/);
  expect(answersText(ask)).not.toContain("\u202e");
  expect(answerIn(ask, "1")).toEqual({ allow: true, suggestion: undefined });
  expect(answerIn(ask, "2")).toMatchObject({ allow: true, suggestion: { id: "rule-conversation" } });
  expect(answerIn(ask, "3")).toMatchObject({ allow: false, suggestion: { id: "rule-deny" } });
  expect(answerIn(ask, "0")).toEqual({ allow: false, suggestion: undefined });
  for (const line of ["4", "y", "1 2", ""]) expect(answerIn(ask, line), line).toBeUndefined();
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
  expect(answersText(ask).split("\n")).toEqual([
    ...["", "  1  Allow once", "  2  Allow: No⟨U+000A⟩  2  Cancel", "  3  Yes, always", "  0  Deny"],
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
  expect(answersText(ask)).toBe("\n  1  Allow once\n  2  Always\n  0  Deny\n  3  Stop");
  expect(answerIn(ask, "3")).toMatchObject({ suggestion: { id: "Stop" } });
  // A plan's options are the ways in which it can be approved.
  expect(answersText({ ...ask, kind: "plan" })).toContain(
    "\n  1  Allow once\n  2  Always\n  0  Keep planning",
  );
  expect(answersText({ ...ask, kind: "plan", suggestions: [] })).toBe("\n  1  Approve\n  0  Keep planning");
});
