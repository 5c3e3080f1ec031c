/**
 * Where an import goes: a conversation that this very import has made, and no other. Its id follows from what is imported,
 * so that importing again finds it. What earlier versions imported is found under the id that they derived, and only if its
 * mark says that it is the same import: their ids could be made to collide.
 */

import {
  type ConversationId,
  derivedName,
  isProblem,
  type JsonObject,
  type Kernel,
  legacyName,
  type Problem,
  problem,
} from "@blockyard/kernel";

/** The key of a conversation's metadata that says what it was imported from. Only imports write it. */
export const IMPORT_MARK = "imported";

const ID_CHARS = 24;
const LEGACY_CHARS = 16;

export interface ImportPlace {
  readonly conversation: ConversationId;
  /** What the conversation remembers of this import; undefined: nothing is there yet. */
  readonly mark: JsonObject | undefined;
}

/** `isSame`: whether a mark is that of this import. */
export async function importPlace(
  kernel: Kernel,
  name: string,
  isSame: (mark: JsonObject) => boolean,
): Promise<ImportPlace | Problem> {
  const earlier = await markIn(kernel, legacyName(name, LEGACY_CHARS));
  if (isProblem(earlier)) return earlier;
  if (earlier.mark && isSame(earlier.mark)) return earlier;
  const place = await markIn(kernel, derivedName(name, ID_CHARS));
  if (isProblem(place)) return place;
  if (!place.isThere || (place.mark && isSame(place.mark))) return place;
  return problem("conflict", `conversation ${place.conversation} is not one that this import has made`, {
    conversation: place.conversation,
  });
}

async function markIn(
  kernel: Kernel,
  conversation: ConversationId,
): Promise<(ImportPlace & { readonly isThere: boolean }) | Problem> {
  const record = await kernel.conversation(conversation);
  if (isProblem(record))
    return record.problem === "not_found" ? { conversation, mark: undefined, isThere: false } : record;
  const mark = record.metadata[IMPORT_MARK];
  const isObject = typeof mark === "object" && mark !== null && !Array.isArray(mark);
  return { conversation, mark: isObject ? (mark as JsonObject) : undefined, isThere: true };
}
