/** What a conversation remembers of the import that has made it. */

import type { Conversation, JsonObject } from "@blockyard/kernel";

/** The key of a conversation's metadata that states its import source. Only imports write it. */
export const IMPORT_MARK = "imported";

/** The last sequence number that came from the export; anything later was written here. */
export function importedUntil({ metadata }: Pick<Conversation, "metadata">): number {
  const mark = metadata[IMPORT_MARK];
  if (typeof mark !== "object" || mark === null || !("epoch" in mark)) return -1;
  const { until, cut } = mark as JsonObject;
  // Unknown for a conversation that an earlier version imported.
  return typeof until === "number" ? until : cut === true ? Number.POSITIVE_INFINITY : -1;
}
