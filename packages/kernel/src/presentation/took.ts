/** How long a call or a thought took, for the page, the exports and the command. The time in which it waited for an answer is not its own. */
import { askOf } from "../model/ask.ts";
import type { AnyMetadata } from "../model/metadata.ts";
import { TOOK_MS } from "./limits.ts";

/** `endedAt`: now, while it runs. A call that a restart cut off was ended by the next start: its duration is unknown. */
export function tookMs(metadata: AnyMetadata, createdAt: number, endedAt: number): number {
  const { durationMs, startedAt = createdAt, reason } = metadata;
  if (durationMs === undefined && reason === "interrupted") return 0;
  const took = durationMs ?? endedAt - Math.max(startedAt, askOf(metadata)?.answeredAt ?? startedAt);
  return took > 0 && took < TOOK_MS ? took : 0;
}
