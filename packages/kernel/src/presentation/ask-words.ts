/**
 * An answered ask as text, for readers of a conversation: the page, exports, the command. One place, so that all of
 * them say the same. The text for the agent is separate (a model reads it).
 */

import { type Ask, type AskSuggestion, askOf, hasPlan } from "../model/ask.ts";
import { type Json, type JsonObject, ownValue } from "../model/json.ts";
import type { Kind, Reason } from "../model/kind.ts";
import type { AnyMetadata } from "../model/metadata.ts";
import { exactName } from "../presentation/exact.ts";

/** `self` is the reader, addressed as "you"; `reason` is why its block ended. Empty while it is unanswered. */
export function askWords(ask: Ask, self?: string, reason?: Reason): string {
  const { state, answeredBy, message, rule } = ask;
  if (state === "asked") return "";
  if (state === "expired") {
    if (reason === "cancelled") return "Not answered: the turn was stopped";
    return reason === "interrupted" ? "Not answered: the turn was cut off" : "Nobody answered in time";
  }
  const who = answeredBy !== undefined && answeredBy === self ? "You" : answeredBy;
  const what = rule === undefined ? whoDid(ask, who) : `${capital(verbOf(ask))} by the rule ${rule}`;
  const allowed = rule === undefined && who !== undefined ? allowedIn(ask) : undefined;
  if (allowed !== undefined) return [`${who} allowed ${allowed}`, message].filter((each) => each).join(": ");
  const said = [answersIn(ask), message].filter((each) => each !== undefined && each !== "").join(". ");
  return said === "" ? what : `${what}: ${said}`;
}

function whoDid(ask: Ask, who: string | undefined): string {
  const verb = verbOf(ask);
  if (who === undefined) return capital(verb);
  if (ask.kind === "plan" && ask.state === "allowed")
    return hasPlan(ask) ? `${who} approved this plan` : `${who} let the agent leave plan mode`;
  if (ask.kind === "plan" && ask.state === "denied") return `${who} asked to keep planning`;
  return ask.state === "answered" ? `${who} answered` : `${who} ${verb} this`;
}

/** What a further answer allowed, in its own words: an answer "Allow edits in src/" says behind "allowed" only "edits in src/". */
function allowedIn({ kind, state, answer, suggestions = [] }: Ask): string | undefined {
  const taken = suggestions.find(({ id }) => id === answer?.suggestion);
  if (kind !== "permission" || state !== "allowed" || taken === undefined) return undefined;
  const words = answerLabel(taken);
  return /^Allow(?: once)?$/i.test(words) ? "this" : /^Allow (.+)$/s.exec(words)?.[1];
}

/** In the place of a plan that an agent did not give. */
export const NO_PLAN = "The agent gave no plan. If you approve, it leaves plan mode and starts to work.";

function verbOf({ kind, state }: Ask): string {
  return kind === "plan" && state === "allowed" ? "approved" : state;
}

function capital(word: string): string {
  return `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`;
}

/**
 * A further answer as it is offered: every character of it, preceded by its effect if the agent's own label begins with
 * the opposite or says nothing.
 */
export function answerLabel(
  { label, deny }: Pick<AskSuggestion, "label" | "deny">,
  spell: (label: string) => string = exactName,
): string {
  const words = spell(label.trim());
  const [verb, opposite] = deny === true ? (["Deny", ALLOWING] as const) : (["Allow", DENYING] as const);
  if (words === "") return verb;
  return opposite.test(words) ? `${verb}: ${words}` : words;
}

const DENYING =
  /^\W*(no|nope|not|don['’]?t|do not|deny|reject|refuse|decline|cancel|stop|block|never|skip|abort)\b/i;
const ALLOWING =
  /^\W*(yes|ok|okay|sure|allow|always allow|approve|accept|permit|proceed|continue|run|trust)\b/i;

/** The choices, one question after the other. */
function answersIn({ answer, questions = [], suggestions = [] }: Ask): string | undefined {
  const taken = suggestions.find(({ id }) => id === answer?.suggestion);
  if (taken !== undefined) return answerLabel(taken);
  const said = questions.flatMap(({ id, secret }) => {
    const given = ownValue(answer?.questions, id);
    if (given === undefined) return [];
    if (given.skipped === true) return ["skipped"];
    if (secret === true) return ["(not shown)"];
    const words = [...given.chosen, given.text ?? ""].filter((each) => each !== "").join(", ");
    return words === "" ? [] : [given.notes === undefined ? words : `${words} (${given.notes})`];
  });
  const fields = Object.entries(answer?.content ?? {}).map(([name, value]) => `${name}: ${valueText(value)}`);
  if (said.length + fields.length > 0) return [...said, ...fields].join("; ");
  return questions.length > 0 ? answer?.text : undefined;
}

function valueText(value: Json): string {
  if (Array.isArray(value)) return value.map(valueText).join(", ");
  return typeof value === "string" ? value : JSON.stringify(value);
}

/**
 * The answers to a call's questions that were not asked through us, such as one in a session log: its result has the
 * answers by question.
 */
export function givenAnswers({
  toolName,
  result,
}: Pick<AnyMetadata, "toolName" | "result">): string | undefined {
  if (toolName !== "AskUserQuestion" || !isObject(result) || !isObject(result.answers)) return undefined;
  const said = Object.values(result.answers).map((answer) =>
    Array.isArray(answer) ? answer.join(", ") : answer,
  );
  const words = said.filter((answer) => typeof answer === "string" && answer !== "");
  return words.length === 0 ? undefined : words.join("; ");
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The line below a call about its ask: who answered and what. Empty if nobody has, or nothing was asked. */
export function answerWords(
  call: { readonly metadata: AnyMetadata },
  results: readonly { readonly metadata: AnyMetadata }[],
  self?: string,
): string {
  const ask = askOf(call.metadata);
  if (ask) return askWords(ask, self, call.metadata.reason);
  const given = results.map(({ metadata }) => givenAnswers(metadata)).find((words) => words !== undefined);
  return given === undefined ? "" : `Answered: ${given}`;
}

/**
 * Whether a call's ask shows its outcome: the answers, or that a plan was approved that has a block of its own. The
 * call's result says the same to the model.
 */
export function isAnswered(call: Pick<AnyMetadata, "ask" | "approval">): boolean {
  const ask = askOf(call);
  if (ask?.kind === "plan") return ask.state === "allowed" && ask.plan !== undefined;
  return ask?.kind === "question" && ask.state === "answered" && answersIn(ask) !== undefined;
}

/**
 * The result of a call that was denied, or stopped while it asked, says only that, and the ask already shows it with
 * who did it. The same is true of one that was stopped while it ran and returned nothing: its result is for the model.
 * A command's output is always shown.
 */
export function repeatsDenial(
  call: Pick<AnyMetadata, "ask" | "approval" | "reason">,
  result: { readonly kind: Kind; readonly metadata: Pick<AnyMetadata, "isError" | "reason"> },
): boolean {
  const { isError, reason } = result.metadata;
  const state = askOf(call)?.state;
  const isCut = result.kind === "tool_result" && (reason === "cancelled" || reason === "interrupted");
  const hasRun = state !== "denied" && !(state === "expired" && call.reason === "cancelled");
  return isError === true && (isCut || !hasRun);
}
