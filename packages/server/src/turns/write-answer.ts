/**
 * The owner's answer to a permission request, written to the call that asks: once, and only for what the running agent has
 * asked. Telling the agent is apart from it.
 */

import {
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
  approval: string,
  state: "allowed" | "denied",
  message: string | undefined,
  run: Run,
): { input: Json } | Problem {
  const call = draft.block(block);
  if (isProblem(call)) return call;
  const asked = call.metadata["approval"] as JsonObject | undefined;
  if (asked?.["id"] !== approval) return problem("not_found", `block ${block} has no request ${approval}`);
  if (asked["state"] !== "asked")
    return problem("conflict", `this request was ${asked["state"]} already`, { state: asked["state"] });
  // Another agent's stream can say the same request with another input: leave for that must not become leave for this.
  if (run.asks(approval) !== block)
    return problem("conflict", `the agent that runs here has not asked this on block ${block}`);
  const full = {
    ...asked,
    state,
    answeredBy: draft.agent,
    answeredAt: draft.at,
    ...(message === undefined ? {} : { message }),
  };
  const started = state === "allowed" ? { stage: "running" } : {};
  const after = draft.meta(block, { approval: full, ...started });
  return isProblem(after) ? after : { input: (asked["input"] ?? null) as Json };
}
