/** What people read of an answered ask. */
import { describe, expect, it } from "vitest";
import type { Ask } from "../model/ask.ts";
import type { Reason } from "../model/kind.ts";
import type { AnyMetadata } from "../model/metadata.ts";
import { answerLabel, answerWords, askWords, repeatsDenial } from "./ask-words.ts";

const asking = {
  kind: "question",
  questions: [{ id: "1", question: "Which?", multiple: true, options: [] }],
} as const;

it.each([
  ["Allow `npm test` in this workspace", undefined, "Allow `npm test` in this workspace"],
  ["Always allow", undefined, "Always allow"],
  ["Reject", undefined, "Allow: Reject"],
  ["  No, thanks", undefined, "Allow: No, thanks"],
  ["Deny once", undefined, "Allow: Deny once"],
  ["", undefined, "Allow"],
  ["Nothing but reads", undefined, "Nothing but reads"],
  ["Yes", true, "Deny: Yes"],
  ["Deny, and stop the turn", true, "Deny, and stop the turn"],
  ["", true, "Deny"],
  ["Deny\u202e\n1  Allow", undefined, "Allow: Deny\\u{202e}\\u{a}1  Allow"],
] as const)("[AC330] an answer %j that denies (%s) is offered as %j", (label, deny, words) => {
  expect(answerLabel({ label, ...(deny === undefined ? {} : { deny }) })).toBe(words);
});

describe("an answered ask in words", () => {
  it.each([
    [{ state: "asked" }, ""],
    [{ state: "expired" }, "Nobody answered in time"],
    [{ state: "allowed", answeredBy: "ann" }, "You allowed this"],
    [{ state: "allowed", answeredBy: "bob" }, "bob allowed this"],
    [{ state: "allowed" }, "Allowed"],
    [{ state: "denied", answeredBy: "ann", message: "not there" }, "You denied this: not there"],
    [{ state: "denied", answeredBy: "bob" }, "bob denied this"],
    [{ state: "denied", message: "by a rule" }, "Denied: by a rule"],
  ] as const)("[V15] %j", (ask, words) => {
    expect(askWords({ id: "a", kind: "permission", ...ask }, "ann")).toBe(words);
  });

  it.each([
    [{ kind: "plan", plan: "c/1", state: "allowed", answeredBy: "ann" }, "You approved this plan"],
    [{ kind: "plan", input: { plan: "1." }, state: "allowed", answeredBy: "bob" }, "bob approved this plan"],
    [{ kind: "plan", input: {}, state: "allowed", answeredBy: "ann" }, "You let the agent leave plan mode"],
    [
      { kind: "plan", state: "denied", answeredBy: "bob", message: "tests first" },
      "bob asked to keep planning: tests first",
    ],
    [{ kind: "permission", state: "allowed", rule: "Bash(ls *)" }, "Allowed by the rule Bash(ls *)"],
    [
      {
        ...{ kind: "permission", state: "allowed", answeredBy: "ann", answer: { suggestion: "1" } },
        suggestions: [{ id: "1", label: "Allow ls in this workspace", scope: "workspace" }],
      },
      "You allowed ls in this workspace",
    ],
    [
      {
        ...{ kind: "permission", state: "allowed", answeredBy: "bob", message: "but no more" },
        ...{ answer: { suggestion: "1" }, suggestions: [{ id: "1", label: "Allow once" }] },
      },
      "bob allowed this: but no more",
    ],
    [
      {
        ...{ kind: "permission", state: "allowed", answeredBy: "ann", answer: { suggestion: "1" } },
        suggestions: [{ id: "1", label: "Yes, and don't ask again" }],
      },
      "You allowed this: Yes, and don't ask again",
    ],
    [
      {
        ...asking,
        state: "answered",
        answeredBy: "ann",
        answer: { questions: { 1: { chosen: ["a", "b"], notes: "soon" } } },
      },
      "You answered: a, b (soon)",
    ],
    [
      {
        ...{ kind: "elicitation", state: "answered", answeredBy: "ann" },
        answer: { content: { priority: "urgent", hours: 3, parts: ["a", "b"], blocking: false } },
      },
      "You answered: priority: urgent; hours: 3; parts: a, b; blocking: false",
    ],
    [
      { ...asking, state: "answered", answer: { questions: { 1: { chosen: [], skipped: true } } } },
      "Answered: skipped",
    ],
    [{ ...asking, state: "answered", answer: { questions: {}, text: "Later" } }, "Answered: Later"],
  ] as const)("[V15] %j", (ask, words) => {
    expect(askWords({ id: "a", ...ask } as unknown as Ask, "ann")).toBe(words);
  });

  it.each<[AnyMetadata, string]>([
    [{ toolName: "AskUserQuestion", result: { answers: { "Which?": "Half up" } } }, "Answered: Half up"],
    [
      { toolName: "AskUserQuestion", result: { answers: { "Which?": ["a", "b"], "When?": "now" } } },
      "Answered: a, b; now",
    ],
    [{ toolName: "AskUserQuestion", result: { answers: {} } }, ""],
    [{ toolName: "AskUserQuestion", result: ["x"] }, ""],
    [{ toolName: "Quiz", result: { answers: { "Which?": "Half up" } } }, ""],
  ])("[V129] the answer that a session log has: %j", (metadata, words) => {
    expect(answerWords({ metadata: {} }, [{ metadata }])).toBe(words);
  });

  it("[V129] an ask shows its answer before the result does", () => {
    const result = { toolName: "AskUserQuestion", result: { answers: { "Which?": "Half up" } } };
    const ask = { id: "a", kind: "permission", state: "denied" } as const;
    expect(answerWords({ metadata: { ask } }, [{ metadata: result }])).toBe("Denied");
  });

  it.each<[Reason, string]>([
    ["cancelled", "Not answered: the turn was stopped"],
    ["interrupted", "Not answered: the turn was cut off"],
    ["failed", "Nobody answered in time"],
  ])("[V15] nobody answered a call that ended as %s", (reason, words) => {
    expect(askWords({ id: "a", kind: "permission", state: "expired" }, "ann", reason)).toBe(words);
  });

  const asked = (state: Ask["state"]): AnyMetadata => ({ ask: { id: "a", kind: "permission", state } });

  it.each<[AnyMetadata, AnyMetadata, boolean]>([
    [{ ...asked("expired"), reason: "cancelled" }, { isError: true }, true],
    [{ ...asked("expired"), reason: "failed" }, { isError: true }, false],
    [{ ...asked("allowed"), reason: "cancelled" }, { isError: true }, false],
    [asked("denied"), { isError: true }, true],
    [asked("denied"), {}, false],
    [asked("allowed"), { isError: true }, false],
    [{}, { isError: true }, false],
    [{ ...asked("allowed"), reason: "cancelled" }, { isError: true, reason: "cancelled" }, true],
    [{ reason: "interrupted" }, { isError: true, reason: "interrupted" }, true],
  ])("[V37] what a denied or stopped call's result adds: %j %j", (call, metadata, isRepeated) => {
    expect(repeatsDenial(call, { kind: "tool_result", metadata })).toBe(isRepeated);
  });

  it("[V37] shows what a stopped command has printed", () => {
    const metadata = { isError: true, reason: "cancelled" } as const;
    expect(repeatsDenial({ reason: "cancelled" }, { kind: "command", metadata })).toBe(false);
  });
});
