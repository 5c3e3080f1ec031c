/**
 * The facts in a provider's own report of a turn that belong in its footer, beside tokens, cost and duration. Reads `native`:
 * the provider's fields, and for counts that run on over a session, the turn's share.
 */

interface NativeFacts {
  /** Iterations of the agent's own loop: what Claude Code counts as `num_turns`. */
  readonly steps?: number;
  /** The part of the duration spent waiting for the model. */
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
