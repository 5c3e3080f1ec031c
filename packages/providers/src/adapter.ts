/**
 * The adapter: a pure step function from a provider's parsed events to block events.
 *
 * Total: any JSON value may come in, nothing is ever thrown. An unknown event becomes an `unknown` block. The state is
 * linear: a step may reuse the state it was given, and the caller must not use the old value again. It holds only what
 * is open, never finished content.
 */

import { addUsage, type BlockEvent, type Json, NO_USAGE, type Turn, type Usage } from "@blockyard/kernel";
import { numberOf } from "./read.ts";

/** What a resumed session had counted before this run: providers count on, turns are told one by one. */
export interface Before {
  readonly previousCostUsd?: number;
  readonly previousUsage?: Usage;
  readonly previousApiMs?: number;
  /** Results that this process has printed already: it numbers them over all its turns. */
  readonly previousResults?: number;
  /** The agent has begun by itself: nobody has asked for its first turn. */
  readonly isOwn?: boolean;
}

/** Where a session's own counters stand after these turns of it. */
export function countedIn(turns: readonly Pick<Turn, "costUsd" | "usage" | "native">[]): Before {
  const apiMs = turns.map(({ native }) => numberOf(native?.["duration_api_ms"])).findLast(isCounted);
  return {
    previousCostUsd: turns.reduce((sum, { costUsd }) => sum + (costUsd ?? 0), 0),
    previousUsage: turns.reduce((sum, { usage }) => addUsage(sum, usage ?? NO_USAGE), NO_USAGE),
    ...(apiMs === undefined ? {} : { previousApiMs: apiMs }),
  };
}

/** Zero is what a result says that tells of something else. */
function isCounted(value: number | undefined): value is number {
  return value !== undefined && value > 0;
}

export interface Adapter<State = unknown> {
  readonly provider: string;
  /** `run` prefixes the block keys, so that several runs in one conversation never collide. */
  start(run: string, before?: Before): State;
  step(state: State, event: Json): readonly [State, readonly BlockEvent[]];
  /** Bytes that were not JSON: kept as an `unknown` block, the stream goes on. */
  noise(state: State, line: string): readonly [State, readonly BlockEvent[]];
  /** The stream has ended: closes whatever is open, as interrupted. */
  end(state: State): readonly BlockEvent[];
}
