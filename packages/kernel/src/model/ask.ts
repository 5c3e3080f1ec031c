/**
 * An ask: what an agent needs from its owner before it continues. Permission for a call, questions with options, a plan to approve,
 * or the fields of a form (MCP elicitation). It is stored as `ask` in the metadata of its block, with what was shown, the
 * answer, and the person or rule that gave it. An ask is answered once.
 *
 * Earlier versions stored `approval` instead, for permissions only. Only `askOf` reads both.
 */

import { z } from "zod";
import { defined, type Exact, type Json, type JsonObject, sameJson } from "./json.ts";

export const ASK_KINDS = ["permission", "question", "plan", "elicitation"] as const;
export type AskKind = (typeof ASK_KINDS)[number];

/** `allowed` and `denied` answer a permission, a plan, and a form or question that was declined; `answered` the rest. */
const ASK_STATES = ["asked", "allowed", "denied", "answered", "expired"] as const;
export type AskState = (typeof ASK_STATES)[number];

/** How long an answer applies. */
const ASK_SCOPES = ["once", "conversation", "workspace", "always"] as const;

const json: z.ZodType<Json> = z.custom<Json>((value) => value !== undefined);

/** What the permission is for, ready to be shown: a diff, a command, an address or a tool. */
const subject = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("diff"), diff: z.string(), paths: z.array(z.string()).optional() }),
  z.strictObject({ type: z.literal("command"), command: z.string(), cwd: z.string().optional() }),
  z.strictObject({ type: z.literal("url"), url: z.string() }),
  z.strictObject({ type: z.literal("tool"), tool: z.string(), server: z.string().optional() }),
]);

const option = z.strictObject({
  label: z.string(),
  description: z.string().optional(),
  /** Markdown that shows what the option means. */
  preview: z.string().optional(),
});

const question = z.strictObject({
  /** Unique in its ask; answers name it. */
  id: z.string(),
  header: z.string().optional(),
  question: z.string(),
  /** Several options may be chosen. */
  multiple: z.boolean(),
  options: z.array(option),
  /** The agent accepts free text with or instead of an option. */
  freeText: z.boolean().optional(),
  /** The typed answer is neither shown nor stored. */
  secret: z.boolean().optional(),
});

/** The fields of an elicitation: by a JSON schema, or on a page elsewhere. */
const form = z.strictObject({
  message: z.string(),
  schema: json.optional(),
  url: z.string().optional(),
  server: z.string().optional(),
});

/** Another answer that the agent offers: a rule to remember, a mode to switch to, another way to deny. */
const suggestion = z.strictObject({
  id: z.string(),
  label: z.string(),
  scope: z.enum(ASK_SCOPES),
  /** This answer denies. */
  deny: z.literal(true).optional(),
  /** What is sent to the agent, in its own format. */
  native: json.optional(),
});

const answerToQuestion = z.strictObject({
  /** Labels, in the order of the options. */
  chosen: z.array(z.string()),
  text: z.string().optional(),
  notes: z.string().optional(),
  skipped: z.literal(true).optional(),
});

const answer = z.strictObject({
  /** By question id. A question without an entry was not answered. */
  questions: z.record(z.string(), answerToQuestion).optional(),
  /** A reply instead of answers; for a plan that was edited before approval, the approved text. */
  text: z.string().optional(),
  /** The fields of a form. */
  content: z.record(z.string(), json).optional(),
  /** The suggestion that was taken, by its id. */
  suggestion: z.string().optional(),
});

export const askSchema = z.strictObject({
  /** The agent's own id of the request. */
  id: z.string(),
  kind: z.enum(ASK_KINDS),
  state: z.enum(ASK_STATES),
  title: z.string().optional(),
  /** The agent's input, unchanged. */
  input: json.optional(),
  /** For a permission. */
  subject: subject.optional(),
  questions: z.array(question).optional(),
  form: form.optional(),
  /** The text block that holds the plan, by id; in adapter events, by key. */
  plan: z.string().optional(),
  suggestions: z.array(suggestion).optional(),
  askedAt: z.number().optional(),
  answeredAt: z.number().optional(),
  answeredBy: z.string().optional(),
  /** The reason for a denial, or a comment with the answer. */
  message: z.string().optional(),
  /** The rule that answered, if no person did. */
  rule: z.string().optional(),
  answer: answer.optional(),
});

/** What earlier versions wrote. */
export const approvalSchema = z.strictObject({
  id: z.string(),
  state: z.enum(["asked", "allowed", "denied", "expired"]),
  title: z.string().optional(),
  input: json.optional(),
  diff: z.string().optional(),
  suggestions: json.optional(),
  askedAt: z.number().optional(),
  answeredAt: z.number().optional(),
  answeredBy: z.string().optional(),
  message: z.string().optional(),
});

export type Ask = Exact<z.infer<typeof askSchema>>;
export type AskSubject = Exact<z.infer<typeof subject>>;
export type AskQuestion = Exact<z.infer<typeof question>>;
export type AskOption = Exact<z.infer<typeof option>>;
export type AskSuggestion = Exact<z.infer<typeof suggestion>>;
export type AskAnswer = Exact<z.infer<typeof answer>>;

interface Asking {
  readonly ask?: unknown;
  readonly approval?: unknown;
}

/** The ask of a block, from any version. */
export function askOf(metadata: Asking | undefined): Ask | undefined {
  if (metadata?.ask !== undefined && metadata.ask !== null) return metadata.ask as Ask;
  const old = metadata?.approval as Exact<z.infer<typeof approvalSchema>> | null | undefined;
  if (old === undefined || old === null) return undefined;
  const { diff, suggestions: _raw, ...same } = old;
  return { ...same, kind: "permission", ...(diff === undefined ? {} : { subject: { type: "diff", diff } }) };
}

export function isAsked(metadata: Asking | undefined): boolean {
  return askOf(metadata)?.state === "asked";
}

/** The patch that expires an open ask when its block ends. */
export function expiredAsk(metadata: JsonObject): JsonObject {
  if (!isAsked(metadata)) return {};
  const name = metadata.ask === undefined ? "approval" : "ask";
  return { [name]: { ...(metadata[name] as JsonObject), state: "expired" } };
}

/** The fields of a conversation's last turn that decide whether its asks can still be answered. */
interface LastTurn {
  readonly id: string;
  readonly status: string;
  readonly reason?: string | undefined;
  readonly startedBy?: string | undefined;
}

/**
 * Whether an ask that was open when its server went away can still be answered: its turn was interrupted, not stopped, and is the
 * conversation's last.
 */
export function isAnswerableLate(
  { state }: Pick<Ask, "state">,
  turn: string | undefined,
  last: LastTurn | undefined,
): boolean {
  if (state !== "expired" && state !== "asked") return false;
  if (last === undefined || last.id !== turn || last.status === "running") return false;
  return last.reason === "interrupted" && last.startedBy !== undefined;
}

/**
 * An ask as it is answered late: without the answers that only the process which asked could carry out, such as "until this turn
 * ends". What is offered with nothing for the agent is our own, and still counts.
 */
export function lateAsk<A extends Pick<Ask, "kind" | "suggestions">>(ask: A): A {
  if (ask.kind !== "permission") return ask;
  return { ...ask, suggestions: ask.suggestions?.filter(({ native }) => native === undefined) ?? [] };
}

/** The answers besides plain allow and deny. ACP agents list those two as options too; they are left out here. */
export function furtherAnswers({
  kind,
  suggestions = [],
}: Pick<Ask, "kind" | "suggestions">): readonly AskSuggestion[] {
  if (kind !== "permission") return suggestions;
  const plain = ["allow_once", "reject_once"].map((name) =>
    suggestions.find(({ native }) => (native as JsonObject | null | undefined)?.["kind"] === name),
  );
  return suggestions.filter((each) => !plain.includes(each));
}

const REACH: Readonly<Record<AskSuggestion["scope"], number>> = {
  conversation: 1,
  workspace: 2,
  once: 3,
  always: 4,
};

/**
 * The answers that allow, in the order in which page and command number them: plain allow (undefined) first, then those that apply
 * for longer. If the agent offers modes to follow a plan, the plan is approved together with one of them.
 */
export function allowingAnswers(
  ask: Pick<Ask, "kind" | "suggestions">,
): readonly (AskSuggestion | undefined)[] {
  const offered = furtherAnswers(ask)
    .filter((each) => each.deny !== true)
    .sort((a, b) => REACH[a.scope] - REACH[b.scope]);
  const hasPlain = offered.length === 0 || (ask.kind !== "plan" && allowsOnce(ask));
  return hasPlain ? [undefined, ...offered] : offered;
}

/** Whether the agent accepts "allow once". ACP agents list their options; without that one, every allow is remembered. */
export function allowsOnce({ kind, suggestions = [] }: Pick<Ask, "kind" | "suggestions">): boolean {
  const kinds = suggestions.flatMap(
    ({ native }) => (native as JsonObject | null | undefined)?.["kind"] ?? [],
  );
  return kind !== "permission" || kinds.length === 0 || kinds.includes("allow_once");
}

/** What the owner has to give: approval or an answer. */
export function waitsFor({ kind }: Ask): "approval" | "answer" {
  return kind === "question" || kind === "elicitation" ? "answer" : "approval";
}

/** Whether there is a plan to approve: an agent may ask to leave plan mode without having written one. */
export function hasPlan({ kind, plan, input }: Pick<Ask, "kind" | "plan" | "input">): boolean {
  if (kind !== "plan") return false;
  const written = (input as JsonObject | null | undefined)?.["plan"];
  return plan !== undefined || (typeof written === "string" && written.trim() !== "");
}

/**
 * A stream's metadata for a block, without an ask that is already answered, or was shown with other contents: a late event must
 * neither reopen it nor change it. Adapters name the block of a plan by key; here it becomes an id.
 */
export function unanswered(
  metadata: JsonObject,
  before: JsonObject,
  idOf: (key: string) => string | undefined,
): JsonObject {
  const { ask, approval, ...rest } = metadata;
  const told = askOf({ ask, approval });
  if (told === undefined) return metadata;
  const plan = told.plan === undefined ? undefined : idOf(told.plan);
  const known = askOf(before);
  const isKnown = known?.id === told.id;
  if (isKnown && (known.answeredBy ?? known.rule) !== undefined) return rest;
  const next = {
    ...told,
    ...(plan === undefined ? {} : { plan }),
    // Our rules are offered with it as well, and the adapter does not know them: its end changes nothing of what was offered.
    ...(isKnown && told.state !== "asked" ? { suggestions: known.suggestions } : {}),
  };
  if (isKnown && !isShownAlike(known, next)) return rest;
  return { ...rest, ask: defined(next) as JsonObject };
}

/** What somebody reads, and is about to allow or answer. It does not become something else under the same id. */
const SHOWN = ["kind", "title", "input", "subject", "questions", "form", "suggestions"] as const;

function isShownAlike(known: Ask, told: Ask): boolean {
  const isPlanKept = known.plan === undefined || known.plan === told.plan;
  return isPlanKept && SHOWN.every((field) => sameJson(known[field], told[field]));
}
