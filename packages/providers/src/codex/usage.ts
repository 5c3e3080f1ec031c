/**
 * Codex's token counters. The one that ends a turn counts the whole thread, resumed turns included; a turn's own share
 * is the difference to what stood there before.
 */

import type { Json, JsonObject, Usage } from "@blockyard/kernel";
import { isObject } from "../framing/json.ts";
import { count, usageSince } from "../usage.ts";

/** `input_tokens` includes cached tokens, `output_tokens` includes reasoning. */
export function codexUsage(native: JsonObject): Usage {
  return {
    input: count(native.input_tokens),
    cacheRead: count(native.cached_input_tokens),
    cacheWrite: count(native.cache_write_input_tokens),
    output: count(native.output_tokens),
    reasoning: count(native.reasoning_output_tokens),
  };
}

/** One turn's usage and the thread's total after it; a turn that reports only zeros leaves the total. */
export function turnUsage(
  native: Json | undefined,
  before: Usage | undefined,
): { usage?: Usage; total?: Usage } {
  if (!isObject(native)) return before === undefined ? {} : { total: before };
  const total = codexUsage(native);
  if (total.input === 0 && total.output === 0)
    return { usage: total, ...(before === undefined ? {} : { total: before }) };
  return { usage: usageSince(total, before), total };
}
