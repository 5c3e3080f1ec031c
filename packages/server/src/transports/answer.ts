/** Answers over HTTP: a value as JSON, a problem with the status that fits its code. */

import { isProblem, type Json, type Problem, type ProblemCode } from "@blockyard/kernel";
import type { Context } from "hono";

const STATUS: Partial<Record<ProblemCode, number>> = {
  unknown_tool: 404,
  not_found: 404,
  forbidden: 403,
  mismatch: 409,
  stale: 409,
  conflict: 409,
  closed: 409,
  transition: 409,
  overlap: 409,
  nothing: 409,
  gone: 410,
  too_large: 413,
  timeout: 408,
  busy: 429,
  storage: 507,
  uncertain: 504,
  unavailable: 503,
};

function statusOf({ problem: code, details }: Problem): number {
  // An unreadable patch is the caller's mistake; one that does not fit conflicts with the current text.
  if (code === "patch" && details?.["errors"] !== undefined) return 409;
  return STATUS[code] ?? 400;
}

/** An answer that is already JSON. */
export function encodedAnswer(context: Context, value: Json | Problem, body: Uint8Array): Response {
  const status = isProblem(value) ? statusOf(value) : 200;
  return context.body(body as Uint8Array<ArrayBuffer>, status as 200, { "content-type": "application/json" });
}

export function answer(context: Context, value: Json | Problem): Response {
  if (!isProblem(value)) return context.json(value as object);
  return context.json(value, statusOf(value) as 400);
}
