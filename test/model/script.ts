/**
 * Scripts for the model server: what the model says, request by request, in words that fit every API. Plain data, made by
 * tests; how each API writes it on the wire is in messages-wire.ts, responses-wire.ts and chat-wire.ts.
 */

export interface CallPart {
  readonly call: string;
  readonly input: object;
  readonly id?: string;
  /** Where a tool of Responses belongs to a group, such as an MCP server. */
  readonly namespace?: string;
  /** A tool of Responses that takes plain text gets this instead. */
  readonly freeform?: string;
  /** Only this much of the input's JSON comes: the answer is cut in it. */
  readonly inputChars?: number;
}

export type Part =
  | { readonly text: string }
  /** Signed (Messages), sealed (Responses), or plain (Chat, as `reasoning_content`). */
  | { readonly thinking: string }
  /** Encrypted reasoning. */
  | { readonly redacted: string }
  | CallPart
  | { readonly refusal: string };

export interface Answer {
  readonly parts: readonly Part[];
  /** Why it ends, where that is not its end or a tool call. */
  readonly stop?: "max_tokens" | "refusal" | "pause";
  readonly usage?: { readonly input: number; readonly output: number };
  /** How much text one event contains. */
  readonly deltaChars?: number;
  /** The connection is cut after this many events. */
  readonly cutAfter?: number;
  /** An error event instead of what would follow so many events. */
  readonly failAfter?: {
    readonly events: number;
    readonly type: string;
    readonly message: string;
    /** Responses: a response that has failed, not an error beside it. */
    readonly asResponse?: boolean;
  };
  /** Why it refuses, where `stop` is that (Messages). */
  readonly explanation?: string;
  /** Time between two events. */
  readonly eventMs?: number;
  /** Nothing more is said behind so many events until the promise resolves. */
  readonly hold?: { readonly after: number; readonly until: Promise<void> };
}

/** An answer that is an error. */
export interface Failure {
  readonly status: number;
  readonly type: string;
  readonly message: string;
  readonly retryAfterMs?: number;
}

export type Step = Answer | { readonly fails: Failure };

/** What one request says, as far as scripts and tests look at it. */
export interface Asked {
  readonly api: "messages" | "responses" | "chat";
  readonly model: string;
  readonly tools: readonly string[];
  readonly streams: boolean;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Body;
}

export type Body = { readonly [name: string]: unknown };

/** One step for each request, or a function that makes it. */
export type Script = readonly Step[] | ((asked: Asked, index: number) => Step);

export const overloaded: Step = {
  fails: { status: 529, type: "overloaded_error", message: "Overloaded", retryAfterMs: 5 },
};

export const tooMany: Step = {
  fails: { status: 429, type: "rate_limit_error", message: "Too many requests", retryAfterMs: 5 },
};

export function say(text: string, more: Omit<Answer, "parts"> = {}): Answer {
  return { parts: [{ text }], ...more };
}

export function call(name: string, input: object, more: { readonly id?: string } = {}): Part {
  return { call: name, input, ...more };
}

export function pieces(text: string, chars: number): string[] {
  const found: string[] = [];
  for (let at = 0; at < text.length; at += chars) found.push(text.slice(at, at + chars));
  return found;
}

export const DELTA_CHARS = 16;
