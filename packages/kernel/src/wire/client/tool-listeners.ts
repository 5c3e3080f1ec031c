/**
 * Listeners for the tool calls of a client's views: one start and one end per call. It reads views, and requests nothing
 * from the server.
 */

import type { BlockId, ConversationId } from "../../model/ids.ts";
import { isEnded } from "../../model/kind.ts";
import { type ToolUpdate, ToolUpdates } from "../tool-updates.ts";
import type { View } from "./view.ts";

export type ToolListener = (update: ToolUpdate, conversation: ConversationId) => void;

export class ToolListeners {
  readonly #listeners = new Set<ToolListener>();
  readonly #updates = new ToolUpdates();

  get isEmpty(): boolean {
    return this.#listeners.size === 0;
  }

  add(listener: ToolListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** `blocks`: those that have changed; undefined: any may have. */
  emit(view: View, blocks: readonly BlockId[] | undefined): void {
    const textOf = (id: BlockId) => view.texts.get(id)?.toString();
    const resultOf = (call: BlockId) => {
      const result = view.blocks.get(view.results.get(call) ?? "");
      return result && { block: result, text: textOf(result.id) };
    };
    const changed = blocks ?? [...view.openCalls.keys(), ...view.order];
    for (const id of new Set(changed.map((each) => callOf(view, each)))) {
      const block = view.blocks.get(id) ?? view.openCalls.get(id);
      if (!block) continue;
      for (const update of this.#updates.update(block, textOf(id), resultOf)) {
        for (const listener of this.#listeners) listener(update, view.conversation);
      }
      if (isEnded(block.status)) view.openCalls.delete(id);
    }
  }
}

/** The call that a block is the result of, or the block itself. */
function callOf(view: View, id: BlockId): BlockId {
  const parent = view.blocks.get(id)?.parent;
  return parent && view.results.get(parent) === id ? parent : id;
}
