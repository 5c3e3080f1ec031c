/**
 * The outcome of the agent's requests to its client: answered, or expired because nobody waits any more. Each ask is
 * closed once, and a call that was created for it ends with it. asks.ts has the requests.
 */

import type { AskState, BlockKey, Json, JsonObject } from "@blockyard/kernel";
import { endCall, type Outcome } from "../call.ts";
import { isObject } from "../framing/json.ts";
import { given, listOf, objectOf, textOf } from "../read.ts";
import type { OpenAsk, Out, State } from "./state.ts";

/** What makes an answer to an approval reach further, by the id of its suggestion. */
export const SUGGESTIONS = { session: "session", always: "always", stop: "stop" } as const;

/** What the client has answered. An id that nothing waits for changes nothing. */
export function answered(state: State, out: Out, id: string, message: JsonObject): void {
  const open = state.asks.get(id);
  if (open === undefined) return;
  const result = objectOf(message.result);
  const isRefused = message.error !== undefined && message.error !== null;
  const said = isRefused
    ? { state: "denied" as const, message: refusalOf(message.error) }
    : answerOf(open, result);
  close(state, out, id, open, said);
}

/** The agent waits no more: nobody answered, or somebody did elsewhere. */
export function resolved(state: State, out: Out, id: string): void {
  const open = state.asks.get(id);
  if (open !== undefined) close(state, out, id, open, { state: "expired" });
}

/** Another question about the same call takes the place of one that nobody has answered. */
export function expireAsk(state: State, out: Out, key: BlockKey): void {
  for (const [id, open] of state.asks) if (open.key === key) resolved(state, out, id);
}

export function expireAsks(state: State, out: Out, thread?: string): void {
  for (const [id, open] of state.asks)
    if (thread === undefined || open.thread === thread) close(state, out, id, open, { state: "expired" });
}

interface Said {
  readonly state: AskState;
  readonly message?: string;
  readonly answer?: JsonObject;
  readonly text?: string;
  /** No question was answered. */
  readonly isSkipped?: boolean;
}

function close(state: State, out: Out, id: string, open: OpenAsk, said: Said): void {
  state.asks.delete(id);
  const { text, isSkipped, ...kept } = said;
  const ask = { ...open.ask, ...given(kept) };
  if (open.own === undefined) {
    if (isOpen(state, open)) out.push({ type: "block-meta", key: open.key, metadata: { ask } });
    return;
  }
  const failed = said.state !== "answered" && said.state !== "allowed";
  const outcome: Outcome = {
    failed,
    reason: said.state === "expired" ? "interrupted" : failed ? "denied" : undefined,
    shortResult: isSkipped === true ? "not answered" : said.state,
    ...(text === undefined ? {} : { result: { kind: "tool_result", text, metadata: {} } }),
  };
  for (const event of endCall({ key: open.key, ...open.own }, outcome)) {
    const isCall = event.type === "block-end" && event.key === open.key;
    out.push(isCall ? { ...event, metadata: { ...event.metadata, ask } } : event);
  }
}

function isOpen(state: State, { thread, key }: OpenAsk): boolean {
  const items = state.threads.get(thread)?.open.values() ?? [];
  return [...items].some((item) => item.key === key);
}

/** Of a call that ends unanswered: what its end says of the question. */
export function takeExpired(state: State, key: BlockKey): JsonObject {
  for (const [id, open] of state.asks) {
    if (open.key !== key) continue;
    state.asks.delete(id);
    return { ask: { ...open.ask, state: "expired" } };
  }
  return {};
}

function answerOf(open: OpenAsk, result: JsonObject): Said {
  switch (open.method) {
    case "item/permissions/requestApproval":
      return isGranted(result.permissions)
        ? { state: "allowed", ...(result.scope === "session" ? took(SUGGESTIONS.session) : {}) }
        : { state: "denied" };
    case "item/tool/requestUserInput":
      return answersOf(open, result);
    case "mcpServer/elicitation/request":
      return formAnswer(open, result);
    default:
      return decisionOf(open, result.decision);
  }
}

/** What is not understood counts as a refusal: so does the agent take it. */
function decisionOf(open: OpenAsk, decision: Json | undefined): Said {
  if (decision === "accept") return { state: "allowed" };
  if (decision === "decline") return { state: "denied" };
  const taken = listOf(open.ask.suggestions)
    .map(objectOf)
    .find(({ native }) => JSON.stringify(native) === JSON.stringify(decision));
  const kept = taken === undefined ? {} : took(textOf(taken.id) ?? "");
  if (decision === "cancel" || taken?.deny === true) return { state: "denied", ...kept };
  if (decision === "acceptForSession" || isObject(decision)) return { state: "allowed", ...kept };
  return { state: "denied", message: "The answer is not valid" };
}

function answersOf(open: OpenAsk, result: JsonObject): Said {
  const given_ = objectOf(result.answers);
  const lines: string[] = [];
  const questions: Record<string, JsonObject> = {};
  for (const each of listOf(open.ask.questions).map(objectOf)) {
    const id = textOf(each.id) ?? "";
    const texts = listOf(objectOf(given_[id]).answers).filter((text) => typeof text === "string");
    const labels = listOf(each.options).map((option) => objectOf(option).label);
    const chosen = texts.filter((text) => labels.includes(text));
    const others = texts.filter((text) => !labels.includes(text)).join("\n");
    const isSecret = each.secret === true;
    questions[id] = given({
      chosen,
      text: others === "" || isSecret ? undefined : others,
      skipped: texts.length === 0 ? true : undefined,
    });
    const words = texts.length === 0 ? "(skipped)" : isSecret ? "(kept secret)" : texts.join(", ");
    lines.push(`${textOf(each.question) ?? id}: ${words}`);
  }
  const isSkipped = Object.values(questions).every(({ skipped }) => skipped === true);
  return { state: "answered", answer: { questions }, text: lines.join("\n"), isSkipped };
}

function formAnswer(open: OpenAsk, result: JsonObject): Said {
  const isPermission = open.ask.kind === "permission";
  if (result.action !== "accept") return { state: "denied", message: textOf(result.action) ?? "declined" };
  const persist = textOf(objectOf(result._meta).persist);
  if (isPermission) return { state: "allowed", ...(persist === undefined ? {} : took(persist)) };
  return {
    state: "answered",
    answer: given({ content: isObject(result.content) ? result.content : undefined }),
  };
}

function took(id: string): { readonly answer: JsonObject } {
  return { answer: { suggestion: id } };
}

function isGranted(permissions: Json | undefined): boolean {
  return Object.values(objectOf(permissions)).some((value) => value !== null && value !== undefined);
}

function refusalOf(error: Json | undefined): string {
  return textOf(objectOf(error).message) ?? "refused";
}
