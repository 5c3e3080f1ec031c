/** Answers that are taken, and those that are refused with the ask left open. */
import { type Ask, isProblem, type JsonObject, Kernel, MemoryStore, VirtualEnv } from "@blockyard/kernel";
import { describe, expect, it } from "vitest";
import type { Run } from "./run.ts";
import { byQuestion, type Given, writeAnswer } from "./write-answer.ts";

const question: Ask = {
  ...{ id: "q", kind: "question", state: "asked" },
  questions: [
    { id: "1", question: "Which?", multiple: false, options: [{ label: "a" }, { label: "b" }] },
    {
      id: "2",
      question: "Which ones?",
      multiple: true,
      freeText: true,
      options: [{ label: "c" }, { label: "d" }],
    },
    { id: "3", question: "Token?", multiple: false, freeText: true, secret: true, options: [] },
  ],
};
const permission: Ask = {
  ...{ id: "q", kind: "permission", state: "asked" },
  suggestions: [
    { id: "1", label: "Allow ls", scope: "workspace" },
    { id: "2", label: "Deny ls", scope: "workspace", deny: true },
  ],
};

/** Over ACP, of an agent that offers no yes for once. */
const lasting: Ask = {
  ...{ id: "q", kind: "permission", state: "asked" },
  suggestions: [
    { id: "a", label: "Always", scope: "always", native: { kind: "allow_always" } },
    { id: "r", label: "No", scope: "once", deny: true, native: { kind: "reject_once" } },
    { id: "rule-workspace", label: "Allow `ls` in this workspace", scope: "workspace" },
  ],
};

async function answered(ask: Ask, given: Given): Promise<Ask | string> {
  const kernel = new Kernel(new VirtualEnv(1), new MemoryStore("m"));
  const conversation = (await kernel.createConversation("ann", "")) as string;
  const metadata = { toolUseId: "u", toolName: "T", ask: ask as JsonObject };
  const made = await kernel.write(conversation, {
    agent: "fake",
    plan: (draft) =>
      draft.create({ kind: "tool_call", role: "model", status: "running", text: "", metadata }),
  });
  if (isProblem(made)) throw new Error(made.message);
  const run = { asks: () => made.id } as unknown as Run;
  const written = await kernel.writeBlock(made.id, {
    agent: "ann",
    plan: (draft) => writeAnswer(draft, made.id, "q", given, run),
  });
  const now = await kernel.block(made.id);
  if (isProblem(now)) throw new Error(now.message);
  const kept = now.metadata["ask"] as unknown as Ask;
  if (!isProblem(written)) return kept;
  expect(kept).toEqual(ask);
  return written.message;
}

function chose(id: string, chosen: string[], text?: string): Given {
  return {
    allow: true,
    answer: { questions: { [id]: { chosen, ...(text === undefined ? {} : { text }) } } },
  };
}

it("[D51] [D52] an agent that accepts no single yes does not get a standing one instead", async () => {
  const refused = "this agent does not offer one-time approval: choose one of its answers";
  expect(await answered(lasting, { allow: true })).toBe(refused);
  expect(await answered(lasting, { allow: true, answer: { suggestion: "rule-workspace" } })).toBe(refused);
  expect(await answered(lasting, { allow: true, answer: { suggestion: "a" } })).toMatchObject({
    state: "allowed",
  });
  expect(await answered(lasting, { allow: false })).toMatchObject({ state: "denied" });
});

describe("an answer to questions", () => {
  it.each<[Given, string]>([
    [chose("1", ["a", "b"]), "question 1 takes one option"],
    [chose("1", ["c"]), '"c" is not an option of question 1'],
    [chose("1", [], "own"), "question 1 takes an option, not text"],
    [chose("2", ["c", "c"]), "question 2 has an option twice"],
    [chose("9", ["a"]), "there is no question 9"],
    [{ allow: true, answer: { content: {} } }, "this request has no fields"],
    [{ allow: true, answer: { suggestion: "1" } }, "1 is not one of this request's suggestions"],
  ])("[D51] %j is refused", async (given, why) => {
    expect(await answered(question, given)).toBe(why);
  });

  it("[D51] is stored with its author, without secrets", async () => {
    const { questions } = chose("2", ["c", "d"], "e").answer ?? {};
    const answer = { questions: { ...questions, 3: { chosen: [], text: "hunter2" } } };
    expect(await answered(question, { allow: true, answer })).toMatchObject({
      ...{ state: "answered", answeredBy: "ann" },
      answer: { questions: { 2: { chosen: ["c", "d"], text: "e" }, 3: { chosen: [] } } },
    });
    expect(JSON.stringify(await answered(question, { allow: true, answer }))).not.toContain("hunter2");
  });

  it("[D51] by the words of their questions, as earlier callers give them", () => {
    expect(byQuestion(question, { "Which?": "b", "Which ones?": "c, d", Other: "x" })).toEqual({
      questions: { 1: { chosen: ["b"] }, 2: { chosen: ["c", "d"] } },
    });
    expect(byQuestion(question, { "Which ones?": "mine" })).toEqual({
      questions: { 2: { chosen: [], text: "mine" } },
    });
  });
});

describe("a suggestion", () => {
  it.each<[Given, string | object]>([
    [
      { allow: true, answer: { suggestion: "1" } },
      { state: "allowed", answer: { suggestion: "1" } },
    ],
    [
      { allow: false, answer: { suggestion: "2" } },
      { state: "denied", answer: { suggestion: "2" } },
    ],
    [{ allow: false, answer: { suggestion: "1" } }, "1 allows this, which contradicts allow"],
    [{ allow: true, answer: { suggestion: "2" } }, "2 denies this, which contradicts allow"],
  ])("[D52] %j", async (given, expected) => {
    const now = await answered(permission, given);
    if (typeof expected === "string") expect(now).toBe(expected);
    else expect(now).toMatchObject(expected);
  });
});
