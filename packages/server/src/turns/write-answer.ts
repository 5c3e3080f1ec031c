/**
 * The owner's answer to an ask, checked against the request and written to the asking block: once, and only for what
 * the running agent has asked. Sending it to the agent is a separate step.
 */

import {
  type Ask,
  type AskAnswer,
  type AskQuestion,
  type AskState,
  allowsOnce,
  askOf,
  type Block,
  type BlockId,
  type Draft,
  isProblem,
  type JsonObject,
  type Problem,
  problem,
} from "@blockyard/kernel";
import type { Run } from "./run.ts";

/** The owner's choice. */
export interface Given {
  readonly allow: boolean;
  readonly message?: string | undefined;
  readonly answer?: AskAnswer | undefined;
  /** Of a plan: the version of its block that was read. */
  readonly planVersion?: number | undefined;
}

interface Written {
  /** The ask as it was shown. */
  readonly ask: Ask;
  readonly state: AskState;
}

interface AnswerDetails {
  /** The rule that answers it, if no person does. */
  readonly rule?: string | undefined;
  /** The approved plan, as it was read. */
  readonly plan?: Pick<Block, "id" | "version"> | undefined;
}

export function writeAnswer(
  draft: Draft,
  block: BlockId,
  id: string,
  given: Given,
  run: Run,
  { rule, plan }: AnswerDetails = {},
): Written | Problem {
  const asking = draft.block(block);
  if (isProblem(asking)) return asking;
  const ask = askOf(asking.metadata);
  if (ask?.id !== id) return problem("not_found", `block ${block} has no request ${id}`);
  if (ask.state !== "asked")
    return problem("conflict", `this request was already ${ask.state}`, { state: ask.state });
  // Another agent's stream can send the same request with another input: approval of that must not become approval of this.
  if (run.asks(id) !== block)
    return problem("conflict", `the running agent did not ask this on block ${block}`);
  const wrong = checkAnswer(ask, given) ?? checkPlan(draft, plan);
  if (wrong) return wrong;
  const state = stateAfter(ask, given);
  const full = answeredAsk(draft, ask, given, rule);
  const isCall = asking.kind === "tool_call" && state !== "denied";
  const after = draft.meta(block, { ask: full as JsonObject, ...(isCall ? { stage: "running" } : {}) });
  return isProblem(after) ? after : { ask, state };
}

/** Nothing has changed between the last check of a plan and its approval. */
export function checkPlan(draft: Draft, plan: AnswerDetails["plan"]): Problem | undefined {
  if (plan === undefined) return undefined;
  const now = draft.block(plan.id);
  if (isProblem(now)) return now;
  return now.version === plan.version
    ? undefined
    : problem("conflict", "the plan was just edited: read it again", { plan_version: now.version });
}

/** The ask with its answer. `rule`: what answered it, if no person did. */
export function answeredAsk(draft: Draft, ask: Ask, given: Given, rule?: string): Ask {
  const { message, answer } = given;
  return {
    ...ask,
    state: stateAfter(ask, given),
    answeredAt: draft.at,
    ...(rule === undefined ? { answeredBy: draft.agent } : { rule }),
    ...(message === undefined || rule !== undefined ? {} : { message }),
    ...(answer === undefined ? {} : { answer: withoutSecrets(ask, answer) }),
  };
}

export function stateAfter({ kind }: Pick<Ask, "kind">, { allow }: Given): "allowed" | "denied" | "answered" {
  if (!allow) return "denied";
  return kind === "question" || kind === "elicitation" ? "answered" : "allowed";
}

/** Only offered options can be chosen: anything else would be passed to the agent as the owner's choice. */
export function checkAnswer(ask: Ask, { allow, answer }: Given): Problem | undefined {
  const { suggestion, questions = {}, content } = answer ?? {};
  if (suggestion !== undefined) {
    const taken = ask.suggestions?.find(({ id }) => id === suggestion);
    if (taken === undefined)
      return invalid("suggestion", `${suggestion} is not one of this request's suggestions`);
    if ((taken.deny === true) === allow)
      return invalid("allow", `${suggestion} ${allow ? "denies" : "allows"} this, which contradicts allow`);
  }
  const isTheirs = ask.suggestions?.some(({ id, native }) => id === suggestion && native !== undefined);
  if (allow && isTheirs !== true && !allowsOnce(ask))
    return invalid("suggestion", "this agent does not offer one-time approval: choose one of its answers");
  if (content !== undefined && ask.kind !== "elicitation")
    return invalid("content", "this request has no fields");
  for (const [id, said] of Object.entries(questions)) {
    const asked = ask.questions?.find((each) => each.id === id);
    if (asked === undefined) return invalid("questions", `there is no question ${id}`);
    const wrong = checkChoice(asked, said.chosen, said.text);
    if (wrong !== undefined) return invalid("questions", wrong);
  }
  return undefined;
}

function checkChoice(asked: AskQuestion, chosen: readonly string[], text?: string): string | undefined {
  const other = chosen.find((label) => !asked.options.some((option) => option.label === label));
  if (other !== undefined) return `"${other.slice(0, 80)}" is not an option of question ${asked.id}`;
  if (new Set(chosen).size < chosen.length) return `question ${asked.id} has an option twice`;
  if (!asked.multiple && chosen.length > 1) return `question ${asked.id} takes one option`;
  const isText = text !== undefined && text !== "";
  if (isText && asked.freeText !== true && asked.options.length > 0)
    return `question ${asked.id} takes an option, not text`;
  return undefined;
}

function invalid(field: string, message: string): Problem {
  return problem("invalid", message, { field: `answer.${field}` });
}

/** Secret text is sent to the agent, and not stored. */
function withoutSecrets({ questions = [] }: Ask, answer: AskAnswer): AskAnswer {
  if (answer.questions === undefined || !questions.some(({ secret }) => secret === true)) return answer;
  const kept = Object.entries(answer.questions).map(([id, said]) => {
    const isSecret = questions.find((each) => each.id === id)?.secret === true;
    const { text: _text, notes: _notes, ...rest } = said;
    return [id, isSecret ? rest : said] as const;
  });
  return { ...answer, questions: Object.fromEntries(kept) };
}

/** Answers by the words of their questions, as earlier callers give them. */
export function byQuestion(ask: Ask, answers: Readonly<Record<string, string>>): AskAnswer {
  const questions = Object.fromEntries(
    (ask.questions ?? []).flatMap(({ id, question, options, multiple }) => {
      const said = Object.hasOwn(answers, question) ? answers[question] : undefined;
      if (said === undefined) return [];
      const chosen = multiple ? said.split(", ") : [said];
      const isLabels = chosen.every((label) => options.some((option) => option.label === label));
      return [[id, isLabels ? { chosen } : { chosen: [], text: said }]];
    }),
  );
  return { questions };
}
