/**
 * The owner's answer to an ask, written to the block that asks: once, and only for what the running agent has
 * asked. Telling the agent is apart from it.
 */

import {
  askOf,
  type BlockId,
  type Draft,
  isProblem,
  type Json,
  type JsonObject,
  type Problem,
  problem,
} from "@blockyard/kernel";
import type { Run } from "./run.ts";

export function writeAnswer(
  draft: Draft,
  block: BlockId,
  id: string,
  state: "allowed" | "denied",
  message: string | undefined,
  run: Run,
): { input: Json } | Problem {
  const call = draft.block(block);
  if (isProblem(call)) return call;
  const ask = askOf(call.metadata);
  if (ask?.id !== id) return problem("not_found", `block ${block} has no request ${id}`);
  if (ask.state !== "asked")
    return problem("conflict", `this request was ${ask.state} already`, { state: ask.state });
  // Another agent's stream can say the same request with another input: leave for that must not become leave for this.
  if (run.asks(id) !== block)
    return problem("conflict", `the agent that runs here has not asked this on block ${block}`);
  const full = {
    ...ask,
    state,
    answeredBy: draft.agent,
    answeredAt: draft.at,
    ...(message === undefined ? {} : { message }),
  };
  const started = state === "allowed" ? { stage: "running" } : {};
  const after = draft.meta(block, { ask: full as JsonObject, ...started });
  return isProblem(after) ? after : { input: ask.input ?? null };
}
