/**
 * The exchange: what a model is sent, for any provider. Messages with alternating roles, made of parts; and the rules
 * of every API, checked before anything is sent, because a provider's refusal names a position in a request that nobody
 * sees.
 *
 * It does not know where parts come from (context.ts) or how a provider formats them (anthropic.ts, openai.ts).
 */

import { type JsonObject, type Problem, problem } from "@blockyard/kernel";

export interface Picture {
  readonly mediaType: string;
  /** Base64. */
  readonly data: string;
}

interface TextPart {
  readonly type: "text";
  readonly text: string;
}

interface ImagePart {
  readonly type: "image";
  readonly picture: Picture;
}

/** Reasoning that goes back to whoever reasoned it: signed, byte for byte, or sealed. */
export interface ThinkingPart {
  readonly type: "thinking";
  readonly text: string;
  readonly signature?: string;
  /** What only the provider can read: it goes back as it came. */
  readonly opaque?: string;
  /** The provider's own name for it. */
  readonly itemId?: string;
}

export interface CallPart {
  readonly type: "call";
  readonly id: string;
  readonly name: string;
  readonly input: JsonObject;
}

export interface ResultPart {
  readonly type: "result";
  /** The call that it answers. */
  readonly id: string;
  readonly text: string;
  readonly pictures: readonly Picture[];
  readonly isError: boolean;
}

export type UserPart = TextPart | ImagePart | ResultPart;
export type AssistantPart = TextPart | ThinkingPart | CallPart;

export type Message =
  | { readonly role: "user"; readonly parts: readonly UserPart[] }
  | { readonly role: "assistant"; readonly parts: readonly AssistantPart[] };

export interface Exchange {
  readonly system: string;
  readonly messages: readonly Message[];
}

/** What every API takes for the name of a tool, and for the id of a call. */
export const NAME = /^[A-Za-z0-9_-]{1,64}$/;

/** What is wrong with an exchange, before a provider says it worse. */
export function validate({ messages }: Exchange): Problem | undefined {
  if (messages.length === 0) return broken("it is empty", 0);
  const ids = new Set<string>();
  for (const [i, message] of messages.entries()) {
    const wrong =
      message.role === "assistant"
        ? checkAssistant(message.parts, messages[i + 1], ids)
        : checkUser(message.parts, messages[i - 1]);
    const order = i % 2 === 0 ? "user" : "assistant";
    if (message.role !== order) return broken(`message ${i} is the ${message.role}'s, not the ${order}'s`, i);
    if (wrong !== undefined) return broken(wrong, i);
  }
  return undefined;
}

function checkAssistant(
  parts: readonly AssistantPart[],
  next: Message | undefined,
  ids: Set<string>,
): string | undefined {
  if (parts.length === 0) return "an empty message";
  if (parts.at(-1)?.type === "thinking") return "reasoning with nothing after it";
  const calls: string[] = [];
  for (const part of parts) {
    if (part.type === "text" && isBlank(part.text)) return "a blank text";
    if (part.type === "thinking" && !part.signature && !part.opaque) return "reasoning without a signature";
    if (part.type !== "call") continue;
    if (!NAME.test(part.id) || !NAME.test(part.name))
      return `a call named ${JSON.stringify([part.id, part.name])}`;
    if (ids.has(part.id)) return `two calls with the id ${part.id}`;
    ids.add(part.id);
    calls.push(part.id);
  }
  if (calls.length === 0) return undefined;
  const results = next?.role === "user" ? next.parts.filter((part) => part.type === "result") : [];
  const answered = results.map(({ id }) => id);
  return calls.length === answered.length && calls.every((id, i) => id === answered[i])
    ? undefined
    : `calls ${calls.join(", ")} with the results ${answered.join(", ") || "none"}`;
}

function checkUser(parts: readonly UserPart[], before: Message | undefined): string | undefined {
  if (parts.length === 0) return "an empty message";
  let isBehindText = false;
  const calls =
    before?.role === "assistant"
      ? new Set(before.parts.flatMap((part) => (part.type === "call" ? [part.id] : [])))
      : new Set<string>();
  for (const part of parts) {
    if (part.type === "text" && isBlank(part.text)) return "a blank text";
    if (part.type !== "result") {
      isBehindText = true;
      continue;
    }
    if (isBehindText) return "a result that does not directly follow its call";
    if (!calls.has(part.id)) return `a result without its call ${part.id}`;
  }
  return undefined;
}

export function isBlank(text: string): boolean {
  return text.trim() === "";
}

function broken(what: string, message: number): Problem {
  return problem("conflict", `The context of this conversation cannot be sent: ${what}`, { message });
}
