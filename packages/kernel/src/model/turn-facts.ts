/**
 * What a provider's own account of a turn says that is worth a place in its footer, beside tokens, cost and duration.
 * Reads `native`: the provider's own words, and beside a count that runs on over a session, the turn's share of it.
 */

interface NativeFacts {
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
