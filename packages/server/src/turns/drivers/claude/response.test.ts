/** What Claude Code gets for an answer. The traps of its protocol, one row each. */
import { type Ask, type AskAnswer, askWords, type JsonObject } from "@blockyard/kernel";
import { describe, expect, it } from "vitest";
import { codexAnswer } from "../codex/answer.ts";
import { claudeResponse } from "./response.ts";

const input = {
  questions: [
    { question: "Which library?", options: [{ label: "luxon", preview: "# L" }, { label: "temporal" }] },
    {
      question: "Which parts?",
      multiSelect: true,
      options: [{ label: "Search" }, { label: "Export, import" }],
    },
  ],
};
const question: Ask = {
  ...{ id: "r", kind: "question", state: "asked" },
  questions: [
    {
      ...{ id: "1", question: "Which library?", multiple: false, freeText: true },
      options: [{ label: "luxon", preview: "# L" }, { label: "temporal" }],
    },
    {
      ...{ id: "2", question: "Which parts?", multiple: true },
      options: [{ label: "Search" }, { label: "Export, import" }],
    },
  ],
};

function said(shown: Ask, allow: boolean, answer?: AskAnswer, more: object = {}): JsonObject {
  const json = shown.kind === "question" ? input : { command: "ls" };
  return claudeResponse({ ask: "r", allow, shown, input: json, message: "refused", answer, ...more });
}

it("[AC360] a question whose id is the name of what every object has can be left unanswered", () => {
  const [first, second] = question.questions ?? [];
  if (first === undefined || second === undefined) throw new Error("two questions");
  const odd: Ask = {
    ...question,
    questions: [
      { ...first, id: "constructor" },
      { ...second, id: "toString" },
    ],
  };
  expect(said(odd, true, { questions: { constructor: { chosen: ["temporal"] } } })).toMatchObject({
    updatedInput: { answers: { "Which library?": "temporal" } },
  });
  expect(
    codexAnswer("item/tool/requestUserInput", {}, {
      ask: "r",
      allow: true,
      shown: odd,
      answer: { text: "x" },
    } as never),
  ).toEqual({
    answers: { constructor: { answers: ["x"] } },
  });
  expect(
    askWords({ ...odd, state: "answered", answeredBy: "ann", answer: { questions: {} } }, "ann", undefined),
  ).toContain("answered");
});

describe("questions", () => {
  it.each<[AskAnswer, JsonObject]>([
    [{ questions: { 1: { chosen: ["temporal"] } } }, { answers: { "Which library?": "temporal" } }],
    [
      { questions: { 2: { chosen: ["Search", "Export, import"] } } },
      { answers: { "Which parts?": 'Search, "Export, import"' } },
    ],
    [{ questions: { 2: { chosen: ["Export, import"] } } }, { answers: { "Which parts?": "Export, import" } }],
    [
      { questions: { 1: { chosen: ["luxon"], notes: "offline" } } },
      {
        answers: { "Which library?": "luxon" },
        annotations: { "Which library?": { notes: "offline", preview: "# L" } },
      },
    ],
    [{ questions: { 1: { chosen: [], text: "own" } } }, { answers: { "Which library?": "own" } }],
    [
      { questions: { 1: { chosen: [], skipped: true } } },
      { answers: {}, annotations: { "Which library?": { unanswered: "skipped" } } },
    ],
    [{ text: "Let us talk first." }, { answers: {}, response: "Let us talk first." }],
  ])("[D51] %j goes back with the whole input, by the exact text of the question", (answer, expected) => {
    expect(said(question, true, answer)).toEqual({
      behavior: "allow",
      updatedInput: { ...input, ...expected },
    });
  });

  it("[D51] a denial stays a denial, with its message", () => {
    expect(said(question, false)).toEqual({ behavior: "deny", message: "refused" });
  });
});

describe("permissions", () => {
  const native = [{ type: "addRules" }, { type: "setMode" }];
  const permission: Ask = {
    ...{ id: "r", kind: "permission", state: "asked" },
    suggestions: native.map((each, i) => ({ id: `${i}`, label: "", scope: "workspace", native: each })),
  };
  it("[D52] one suggestion is sent, never all of them", () => {
    expect(said(permission, true, { suggestion: "1" })).toEqual({
      ...{ behavior: "allow", updatedInput: { command: "ls" } },
      updatedPermissions: [native[1]],
    });
    expect(said(permission, true)).toEqual({ behavior: "allow", updatedInput: { command: "ls" } });
  });
});

describe("plans", () => {
  const plan: Ask = { id: "r", kind: "plan", state: "asked" };
  const asked = { plan: "# A", planFilePath: "/p" };
  it.each([
    ["# A", { behavior: "allow", updatedInput: asked }],
    ["# B", { behavior: "allow", updatedInput: { ...asked, plan: "# B" } }],
    [undefined, { behavior: "allow", updatedInput: asked }],
  ])("[D53] approval sends the plan as it reads now: %s", (now, expected) => {
    expect(said(plan, true, undefined, { input: asked, plan: now })).toEqual(expected);
  });
  it("[D53] a remark goes to the agent as written, and the plan continues", () => {
    expect(said(plan, false, undefined, { said: "Tests first." })).toEqual({
      behavior: "deny",
      message: "Tests first.",
    });
  });
});

it("[D51] the fields of a form", () => {
  const form: Ask = { id: "r", kind: "elicitation", state: "asked" };
  expect(said(form, true, { content: { people: 4 } })).toEqual({ action: "accept", content: { people: 4 } });
  expect(said(form, false)).toEqual({ action: "decline" });
});
