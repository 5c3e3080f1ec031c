/**
 * Loads the data that a write's plan lacked, so that it can be planned again. It plans nothing; if something cannot be
 * loaded it throws, and only that write fails.
 */

import type { BlockId } from "../model/ids.ts";
import type { BaseState } from "./base-state.ts";
import type { Missing } from "./draft-base.ts";
import type { Queued } from "./write.ts";

/** What is missing, and for whom. */
export interface MissingPart {
  readonly what: Missing["what"];
  readonly write: Queued;
}

/** `takeIn` reads what other nodes have committed. */
export async function loadMissing(
  base: BaseState,
  { what, write }: MissingPart,
  takeIn: () => Promise<void>,
): Promise<void> {
  if ("news" in what) {
    write.isFresh = true;
    return takeIn();
  }
  if ("block" in what) return base.loadBlock(what.block);
  const id = "text" in what ? what.text : what.undo;
  const text = await base.loadText(id, "undo" in what);
  await loadAgain(base, write, id);
  if (await base.isBehind(text)) await takeIn();
}

/** Otherwise two texts that one plan needs could take turns in being the missing one. */
async function loadAgain(base: BaseState, write: Queued, id: BlockId): Promise<void> {
  for (const other of write.texts ?? []) await base.loadText(other);
  write.texts = (write.texts ?? new Set()).add(id);
}
