/**
 * An ask: what an agent wants to know or to do before it goes on. Permission for a call, questions with options, a plan to approve,
 * or the fields of a form (MCP elicitation). It stands as metadata `ask` on the block that it is about, with what was shown,
 * what was answered, by whom and by which rule. One ask is answered once.
 *
 * Conversations of earlier versions hold `approval` instead, which was permission alone. `askOf` reads both; nothing else does.
 */

import { z } from "zod";
import type { Exact, Json, JsonObject } from "./json.ts";

export const ASK_KINDS = ["permission", "question", "plan", "elicitation"] as const;
export type AskKind = (typeof ASK_KINDS)[number];

/** `allowed` and `denied` answer a permission, a plan, and a form or question that was declined; `answered` the rest. */
const ASK_STATES = ["asked", "allowed", "denied", "answered", "expired"] as const;
export type AskState = (typeof ASK_STATES)[number];

/** How far an answer reaches. */
const ASK_SCOPES = ["once", "conversation", "workspace", "always"] as const;

const json: z.ZodType<Json> = z.custom<Json>((value) => value !== undefined);

/** What a permission is for, in a form that can be shown: the change, the command, the address, or the tool. */
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
  /** The agent takes words besides, or instead of, an option. */
  freeText: z.boolean().optional(),
  /** What is typed is not shown and not kept. */
  secret: z.boolean().optional(),
});

/** The fields of an elicitation: by a JSON schema, or on a page elsewhere. */
const form = z.strictObject({
  message: z.string(),
  schema: json.optional(),
  url: z.string().optional(),
  server: z.string().optional(),
});

/** A further answer that the agent offers: a rule that it will keep, a mode that follows, another way to refuse. */
const suggestion = z.strictObject({
  id: z.string(),
  label: z.string(),
  scope: z.enum(ASK_SCOPES),
  /** It refuses. */
  deny: z.literal(true).optional(),
  /** What the agent gets, in its own form. */
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
  /** By the question's id. One without an entry was not answered. */
  questions: z.record(z.string(), answerToQuestion).optional(),
  /** A reply instead of answers to the questions; of a plan, the plan as it was approved, where it was edited. */
  text: z.string().optional(),
  /** The fields of a form. */
  content: z.record(z.string(), json).optional(),
  /** The suggestion that was taken, by its id. */
  suggestion: z.string().optional(),
});

export const askSchema = z.strictObject({
  /** The agent's own name of the request. */
  id: z.string(),
  kind: z.enum(ASK_KINDS),
  state: z.enum(ASK_STATES),
  title: z.string().optional(),
  /** What was shown, as it came. */
  input: json.optional(),
  /** Of a permission. */
  subject: subject.optional(),
  questions: z.array(question).optional(),
  form: form.optional(),
  /** The text block with the plan: its id; in the events of an adapter its key. */
  plan: z.string().optional(),
  suggestions: z.array(suggestion).optional(),
  askedAt: z.number().optional(),
  answeredAt: z.number().optional(),
  answeredBy: z.string().optional(),
  /** Why not, or what was said with the answer. */
  message: z.string().optional(),
  /** The rule that answered, where nobody did. */
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

/** The ask of a block, however old the block is. */
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

/** What an ask that nobody has answered becomes when what asked it ends: a patch, under the name that it has. */
export function expiredAsk(metadata: JsonObject): JsonObject {
  if (!isAsked(metadata)) return {};
  const name = metadata.ask === undefined ? "approval" : "ask";
  return { [name]: { ...(metadata[name] as JsonObject), state: "expired" } };
}

/** What is looked at of a conversation's last turn. */
interface LastTurn {
  readonly id: string;
  readonly status: string;
  readonly reason?: string | undefined;
  readonly startedBy?: string | undefined;
}

/**
 * Whether an ask that was open when its server went away can still be answered: its turn was cut off, not stopped, and is the last one
 * of the conversation.
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

/** What can be answered besides a plain yes and no. Agents over ACP name these two as options as well: once each is enough. */
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
 * The answers that give leave, in the order of their numbers, for page and command alike: a plain yes (undefined) first, then those that
 * reach further. A plan is approved with what follows, where the agent says what can follow.
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

/** Whether a yes for this once is among what the agent takes. Over ACP it names its options: without that one, every yes lasts. */
export function allowsOnce({ kind, suggestions = [] }: Pick<Ask, "kind" | "suggestions">): boolean {
  const kinds = suggestions.flatMap(
    ({ native }) => (native as JsonObject | null | undefined)?.["kind"] ?? [],
  );
  return kind !== "permission" || kinds.length === 0 || kinds.includes("allow_once");
}

/** What the one who is asked has to give: leave, or an answer. */
export function waitsFor({ kind }: Ask): "approval" | "answer" {
  return kind === "question" || kind === "elicitation" ? "answer" : "approval";
}

/** Whether there is a plan to approve: an agent may ask to leave plan mode without one. */
export function hasPlan({ kind, plan, input }: Pick<Ask, "kind" | "plan" | "input">): boolean {
  if (kind !== "plan") return false;
  const written = (input as JsonObject | null | undefined)?.["plan"];
  return plan !== undefined || (typeof written === "string" && written.trim() !== "");
}

/**
 * What a stream says of a block, as it is written there: without an ask that somebody, or a rule, has answered already. An
 * adapter names the block of a plan by its key.
 */
export function unanswered(
  metadata: JsonObject,
  before: JsonObject,
  idOf: (key: string) => string | undefined,
): JsonObject {
  const { ask, approval, ...rest } = metadata;
  const told = askOf({ ask, approval });
  if (told === undefined) return metadata;
  const known = askOf(before);
  if (known?.id === told.id && (known.answeredBy ?? known.rule) !== undefined) return rest;
  const plan = told.plan === undefined ? undefined : idOf(told.plan);
  return { ...rest, ask: { ...told, ...(plan === undefined ? {} : { plan }) } as JsonObject };
}
