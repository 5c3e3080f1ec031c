/**
 * A provider's API as the loop needs it: send an exchange, get the provider's own events; and what its failures mean.
 * Requests go over `fetch` (event-stream.ts); the events go to our adapters as they come, and the loop does its own retries,
 * since each one is shown.
 */

import type { Json, JsonObject, Problem } from "@blockyard/kernel";
import type { Adapter } from "@blockyard/providers";
import { ApiConnectionError } from "./event-stream.ts";
import type { Exchange } from "./exchange.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of an object. */
  readonly input: JsonObject;
}

export interface ApiRequest {
  readonly exchange: Exchange;
  readonly tools: readonly ToolSpec[];
  readonly model: string;
  readonly maxTokens: number;
}

export interface Api {
  readonly provider: string;
  readonly defaultModel: string;
  /** The provider whose reasoning is sent back; undefined if it accepts none. */
  readonly reasoner: string | undefined;
  adapter(): Adapter;
  /** The answer's events. `failureOf` interprets what it throws. */
  ask(request: ApiRequest, signal: AbortSignal): AsyncIterable<Json>;
}

/** How an API is reached, from the environment; or what is missing there. */
export interface ApiSource {
  readonly provider: string;
  open(env: Environment): Api | Problem;
}

export interface Failure {
  readonly message: string;
  readonly code?: string | undefined;
  readonly status?: number | undefined;
  /** The server's default model. */
  readonly retryAfterMs?: number | undefined;
  readonly isRetryable: boolean;
}

const RETRYABLE_CODES =
  /overloaded|rate_limit|api_error|timeout|server_error|internal|unavailable|connection/i;
/** Of those, what will not get better by itself. */
const FINAL_CODES = /insufficient_quota|billing/i;

/** An error response, a failed connection, or an error event. */
export function failureOf(error: unknown): Failure {
  const thrown = recordOf(error);
  const body = recordOf(thrown["error"]);
  const inner = recordOf(body["error"]);
  const status = typeof thrown["status"] === "number" ? thrown["status"] : undefined;
  const codes = [inner["code"], inner["type"], body["code"], body["type"]].filter(
    (each): each is string => typeof each === "string" && each !== "" && each !== "error",
  );
  const message = [inner["message"], body["message"], lostWords(error), thrown["message"]].find(
    (each): each is string => typeof each === "string" && each !== "",
  );
  return {
    message: message ?? String(error),
    code: codes[0],
    status,
    retryAfterMs: thrown["headers"] instanceof Headers ? retryAfter(thrown["headers"]) : undefined,
    isRetryable: isRetryable(error, status, codes),
  };
}

/** For a connection: Node puts the reason only into the innermost cause. */
function lostWords(error: unknown): string | undefined {
  let inmost = error;
  for (let depth = 0; depth < 5 && recordOf(inmost)["cause"] !== undefined; depth++)
    inmost = recordOf(inmost)["cause"];
  const { message } = recordOf(inmost);
  const why = inmost !== error && typeof message === "string" && message !== "" ? `: ${message}` : "";
  const said = recordOf(error)["message"];
  if (said === "terminated") return `The connection was lost in the middle of the answer${why}`;
  return error instanceof ApiConnectionError ? `${said}${why}` : undefined;
}

function isRetryable(error: unknown, status: number | undefined, codes: readonly string[]): boolean {
  if (codes.some((code) => FINAL_CODES.test(code))) return false;
  if (status !== undefined) return status === 408 || status === 409 || status === 429 || status >= 500;
  if (codes.some((code) => RETRYABLE_CODES.test(code))) return true;
  // Neither a response nor an event: the connection. Node's own errors come through if it breaks in mid-stream.
  const { name, cause } = recordOf(error);
  if (error instanceof ApiConnectionError) return true;
  return name === "TypeError" || name === "SyntaxError" || cause !== undefined;
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

function retryAfter(headers: Headers): number | undefined {
  const exact = Number(headers.get("retry-after-ms") ?? Number.NaN);
  if (Number.isFinite(exact) && exact >= 0) return exact;
  const seconds = Number(headers.get("retry-after") ?? Number.NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? seconds * 1_000 : undefined;
}
