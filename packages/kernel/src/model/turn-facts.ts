/**
 * Facts from a provider's own account of a turn that the turn's footer shows beside tokens, cost and duration. Reads
 * `native`: the provider's own numbers and, for a running total over a session, the turn's share of it.
 */

export interface NativeFacts {
  /** Iterations of the agent's own loop: what Claude Code counts as `num_turns`. */
  readonly steps?: number;
  /** How much of the duration was spent waiting for the model. */
  readonly apiMs?: number;
}

export function nativeFacts(native: { readonly [key: string]: unknown } | undefined): NativeFacts {
  const steps = native?.["num_turns"];
  const apiMs = native?.["turn_api_ms"];
  return {
    ...(isCount(steps) ? { steps } : {}),
    ...(isCount(apiMs) ? { apiMs } : {}),
  };
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value) && value > 0;
}
