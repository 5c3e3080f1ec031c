/** What a conversation remembers of the import that has made it. */

import type { Conversation, JsonObject } from "@blockyard/kernel";

/** The key of a conversation's metadata that says what it was imported from. Only imports write it. */
export const IMPORT_MARK = "imported";

/** Up to where a conversation is what an export holds, by sequence number; what was said later was said here. */
export function importedUntil({ metadata }: Pick<Conversation, "metadata">): number {
  const mark = metadata[IMPORT_MARK];
  if (typeof mark !== "object" || mark === null || !("epoch" in mark)) return -1;
  const { until, cut } = mark as JsonObject;
  // Of one that earlier versions have made it is not known.
  return typeof until === "number" ? until : cut === true ? Number.POSITIVE_INFINITY : -1;
}
