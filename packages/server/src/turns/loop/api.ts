/**
 * A provider's API as the loop needs it: send an exchange, get the provider's own events; and what its failures mean.
 * The official SDKs make the requests; their events go to our adapters as they come, and their accumulation and retries
 * are not used.
 */

import type { Json, JsonObject, Problem } from "@blockyard/kernel";
import type { Adapter } from "@blockyard/providers";
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
  /** Whose reasoning goes back to it; undefined where it takes none. */
  readonly reasoner: string | undefined;
  adapter(): Adapter;
  /** The answer's events. Throws what the SDK throws; `failureOf` reads that. */
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
  /** What the server asks for. */
  readonly retryAfterMs?: number | undefined;
  readonly isRetryable: boolean;
}

const RETRYABLE_CODES =
  /overloaded|rate_limit|api_error|timeout|server_error|internal|unavailable|connection/i;
/** Of those, what will not get better by itself. */
const FINAL_CODES = /insufficient_quota|billing/i;

/** What either SDK throws: an answer that is an error, a connection that failed, an event that says so. */
export function failureOf(error: unknown): Failure {
  const { status, headers, message } = error as { status?: unknown; headers?: unknown; message?: unknown };
  const code = codeOf(error);
  const number = typeof status === "number" ? status : undefined;
  return {
    message: typeof message === "string" && message !== "" ? message : String(error),
    code,
    status: number,
    retryAfterMs: headers instanceof Headers ? retryAfter(headers) : undefined,
    isRetryable: isRetryable(error, number, code),
  };
}

function isRetryable(error: unknown, status: number | undefined, code: string | undefined): boolean {
  if (code !== undefined && FINAL_CODES.test(code)) return false;
  if (status !== undefined) return status === 408 || status === 409 || status === 429 || status >= 500;
  if (code !== undefined && RETRYABLE_CODES.test(code)) return true;
  // Neither an answer nor an event: the connection. Node's own errors come through where it breaks in mid-stream.
  const { name, cause } = error as { name?: unknown; cause?: unknown };
  if (/^APIConnection/.test(String((error as object).constructor?.name))) return true;
  return name === "TypeError" || name === "SyntaxError" || cause !== undefined;
}

function codeOf(error: unknown): string | undefined {
  const { code, type, error: body } = error as { code?: unknown; type?: unknown; error?: unknown };
  const inner = typeof body === "object" && body !== null ? (body as Record<string, unknown>) : {};
  const deeper = typeof inner["error"] === "object" && inner["error"] !== null ? inner["error"] : {};
  const found = [code, type, (deeper as Record<string, unknown>)["type"], inner["code"], inner["type"]].find(
    (each) => typeof each === "string" && each !== "" && each !== "error",
  );
  return found as string | undefined;
}

function retryAfter(headers: Headers): number | undefined {
  const exact = Number(headers.get("retry-after-ms") ?? Number.NaN);
  if (Number.isFinite(exact) && exact >= 0) return exact;
  const seconds = Number(headers.get("retry-after") ?? Number.NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? seconds * 1_000 : undefined;
}
