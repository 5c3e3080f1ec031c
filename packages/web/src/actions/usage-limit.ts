/** When a turn that stopped at a usage limit can go on: as the agent said it in the turn, or with its end. */

import type { JsonObject, Turn, View } from "@blockyard/kernel";
import { USAGE_BLOCKS } from "./limits.ts";

/** Smaller values are in seconds. */
const MILLIS = 100_000_000_000;

/** In milliseconds; undefined if the turn did not end at a limit, or the time is unknown. */
export function limitOf({ order, blocks }: Pick<View, "order" | "blocks">, turn: Turn): number | undefined {
  for (const id of order.slice(-USAGE_BLOCKS).reverse()) {
    const block = blocks.get(id);
    if (block?.metadata.turn !== turn.id || block.metadata.notice !== "rate_limit") continue;
    const { status, resetsAt } = block.metadata.extra ?? {};
    if (status === "rejected") return timeOf(resetsAt);
  }
  return isLimit(turn) ? resetIn(turn.native) : undefined;
}

function isLimit({ error = "", stopReason = "" }: Turn): boolean {
  return /usage.?limit|rate.?limit|insufficient_quota/i.test(`${stopReason} ${error}`);
}

/** Of the used-up windows, the one that resets last. */
function resetIn(native: JsonObject | undefined): number | undefined {
  const limits = (native?.["rateLimits"] ?? {}) as Record<string, JsonObject | null>;
  const times = ["primary", "secondary"].flatMap((name) => {
    const { usedPercent, resetsAt } = limits[name] ?? {};
    const at = timeOf(resetsAt);
    return typeof usedPercent === "number" && usedPercent >= 100 && at !== undefined ? [at] : [];
  });
  return times.length === 0 ? undefined : Math.max(...times);
}

function timeOf(value: unknown): number | undefined {
  const at = typeof value === "string" ? Date.parse(value) : value;
  if (typeof at !== "number" || !Number.isFinite(at) || at <= 0) return undefined;
  return at < MILLIS ? at * 1_000 : at;
}
