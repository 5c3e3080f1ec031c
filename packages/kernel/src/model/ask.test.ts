/** Asks as they are written today, and as earlier versions wrote them. */
import { describe, expect, it } from "vitest";
import { type Ask, askOf, askSchema, expiredAsk, isAsked, unanswered, waitsFor } from "./ask.ts";
import type { JsonObject } from "./json.ts";
import { checkMetadata } from "./metadata.ts";
import { isProblem } from "./problem.ts";

const permission = { id: "a", kind: "permission", state: "asked" } as const;
const always = (command: string) => [
  { id: "1", label: "Always", scope: "always" as const, native: { command } },
];
const asking = (question: string) => [{ id: "1", question, multiple: false, options: [] }];

describe("the ask of a block", () => {
  it.each([
    [{ ask: permission }, permission],
    [{}, undefined],
    [undefined, undefined],
    [{ ask: null, approval: null }, undefined],
    [{ approval: { id: "a", state: "asked", suggestions: [{}] } }, permission],
    [
      { approval: { id: "a", state: "denied", diff: "@@", message: "no", answeredBy: "ann" } },
      {
        ...{ id: "a", kind: "permission", state: "denied", message: "no", answeredBy: "ann" },
        subject: { type: "diff", diff: "@@" },
      },
    ],
  ])("[D50] of %j", (metadata, ask) => {
    expect(askOf(metadata)).toEqual(ask);
  });

  it.each([
    [{ ask: permission }, { ask: { ...permission, state: "expired" } }],
    [{ approval: { id: "a", state: "asked" } }, { approval: { id: "a", state: "expired" } }],
    [{ approval: { id: "a", state: "allowed" } }, {}],
    [{}, {}],
  ])("[D50] an ask that ends with its block keeps its name: %j", (metadata, patch) => {
    expect(expiredAsk(metadata)).toEqual(patch);
    expect(isAsked({ ...metadata, ...patch })).toBe(false);
  });

  it("[D50] both are metadata of a call, and an ask of any block", () => {
    const call = { toolUseId: "u", toolName: "Bash" };
    for (const asked of [{ ask: permission }, { approval: { id: "a", state: "asked" } }])
      expect(isProblem(checkMetadata("tool_call", { ...call, ...asked }))).toBe(false);
    expect(isProblem(checkMetadata("text", { ask: { ...permission, kind: "elicitation" } }))).toBe(false);
    expect(isProblem(checkMetadata("text", { ask: { ...permission, kind: "else" } }))).toBe(true);
  });

  it("[D6] questions, forms, plans and suggestions are typed", () => {
    const question = { id: "1", question: "Which?", multiple: false, options: [{ label: "a" }] };
    expect(askSchema.safeParse({ ...permission, kind: "question", questions: [question] }).success).toBe(
      true,
    );
    expect(askSchema.safeParse({ ...permission, questions: [{ question: "Which?" }] }).success).toBe(false);
    expect(waitsFor({ ...permission, kind: "question" })).toBe("answer");
    expect(waitsFor({ ...permission, kind: "plan" })).toBe("approval");
  });

  it.each<[string, Partial<Ask>, Partial<Ask>, boolean]>([
    ["the same, over", {}, { state: "expired" }, true],
    ["the same, asked again", { state: "expired" }, {}, true],
    ["another under its own id", {}, { id: "b", input: { command: "rm" } }, true],
    ["another input under its id", {}, { input: { command: "rm" } }, false],
    ["another input behind its end", { state: "expired" }, { input: { command: "rm" } }, false],
    ["another subject under its id", {}, { subject: { type: "command", command: "rm" } }, false],
    ["another kind under its id", {}, { kind: "elicitation" }, false],
    ["another title under its id", { title: "ls" }, { title: "rm" }, false],
    ["another meaning of an answer", { suggestions: always("ls") }, { suggestions: always("rm") }, false],
    ["an answer that was not offered", {}, { suggestions: always("ls") }, false],
    ["another question", { questions: asking("A?") }, { questions: asking("B?") }, false],
    ["another form", { form: { message: "a" } }, { form: { message: "a", url: "https://b.example" } }, false],
    ["another plan", { plan: "id of p" }, { plan: "q" }, false],
    ["the same plan", { plan: "id of p" }, { plan: "p" }, true],
    ["a plan that is there by now", {}, { plan: "p" }, true],
    ["what is answered", { state: "allowed", answeredBy: "ann" }, { state: "expired" }, false],
  ])("[D52] %s: what is told of an ask that was shown counts: %j then %j", (_, before, told, isTaken) => {
    const shown: Ask = {
      ...permission,
      input: { command: "ls" },
      subject: { type: "command", command: "ls" },
    };
    const known = { ask: { ...shown, ...before } as JsonObject };
    const metadata = { stage: "running", ask: { ...shown, ...told } as JsonObject };
    const taken = unanswered(metadata, known, (key) => `id of ${key}`);
    const plan = told.plan === undefined ? {} : { plan: `id of ${told.plan}` };
    const ask = { ...metadata.ask, ...plan };
    expect(taken).toEqual(isTaken ? { ...metadata, ask } : { stage: "running" });
  });

  it("[D52] ends although its agent does not know the rules that were offered with it", () => {
    const shown: Ask = { ...permission, input: { command: "ls" }, suggestions: always("ls") };
    const { suggestions, ...own } = shown;
    const known = { ask: shown as JsonObject };
    const ended = (told: Partial<Ask>) =>
      unanswered({ ask: { ...own, state: "expired", ...told } as JsonObject }, known, () => undefined);
    expect(ended({})).toEqual({ ask: { ...own, state: "expired", suggestions } });
    expect(ended({ suggestions: always("rm") })).toEqual({ ask: { ...own, state: "expired", suggestions } });
  });
});
