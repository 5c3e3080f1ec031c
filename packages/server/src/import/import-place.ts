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
import { IMPORT_MARK } from "../ingest/import-mark.ts";

const ID_CHARS = 24;
const LEGACY_CHARS = 16;

interface ImportPlace {
  readonly conversation: ConversationId;
  /** What the conversation remembers of this import; undefined: nothing is there yet. */
  readonly mark: JsonObject | undefined;
}

/**
 * `isSame`: whether a mark is that of this import. `again`: what was imported and then deleted is imported once more, into
 * another conversation, since ids are not given twice; otherwise it stays deleted.
 */
export async function importPlace(
  kernel: Kernel,
  name: string,
  isSame: (mark: JsonObject) => boolean,
  again: boolean,
): Promise<ImportPlace | Problem> {
  const earlier = await markIn(kernel, legacyName(name, LEGACY_CHARS));
  if (!isProblem(earlier) && earlier.mark && isSame(earlier.mark)) return earlier;
  let gone = isProblem(earlier) ? earlier : undefined;
  if (gone && removedAt(gone) === undefined) return gone;
  let place = await markIn(kernel, derivedName(name, ID_CHARS));
  for (let at = isProblem(place) ? removedAt(place) : undefined; at !== undefined; ) {
    gone = place as Problem;
    place = await markIn(kernel, derivedName(`${name} after ${at}`, ID_CHARS));
    at = isProblem(place) ? removedAt(place) : undefined;
  }
  if (isProblem(place)) return place;
  if (!place.isThere && gone && !again) return deletedBefore(gone);
  if (!place.isThere || (place.mark && isSame(place.mark))) return place;
  return problem("conflict", `conversation ${place.conversation} was not created by this import`, {
    conversation: place.conversation,
  });
}

/** When a conversation was removed, if that is the problem. */
function removedAt({ problem: code, details }: Problem): number | undefined {
  return code === "gone" ? (details?.["removed_at"] as number | undefined) : undefined;
}

/** Why something is not imported that nobody has asked for by its name. */
export function deletedBefore({ details }: Pick<Problem, "details">): Problem {
  return problem(
    "gone",
    "its conversation was deleted. To bring it back, name the file: blockyard import FILE",
    {
      ...details,
      deleted: true,
    },
  );
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
