/**
 * The broadcast port: how nodes that share a store wake each other up. What is committed is read from the store, so
 * whatever is lost here loses nothing: nodes look for themselves now and then (see nodes.ts).
 *
 * Nothing of it waits or fails. A broadcast that cannot be sent is dropped.
 */

import type { FarCursor } from "../model/cursor.ts";
import type { ConversationId } from "../model/ids.ts";

/** A conversation has been committed to, up to `seq`. */
interface Hint {
  readonly conversation: ConversationId;
  readonly seq: number;
}

export type Word =
  | { readonly type: "hints"; readonly hints: readonly Hint[] }
  | { readonly type: "cursor"; readonly at: FarCursor };

export interface Broadcast {
  /** To all other nodes, as far as they can be reached. */
  send(word: Word): void;
  /** What other nodes have sent; never one's own. The returned function ends it. */
  listen(listener: (word: Word) => void): () => void;
  close(): Promise<void>;
}

/** The broadcast in process: between the kernels of one process, of which there is usually one. */
export class LocalBroadcast {
  readonly #members = new Set<Set<(word: Word) => void>>();

  join(): Broadcast {
    const listeners = new Set<(word: Word) => void>();
    this.#members.add(listeners);
    return {
      send: (word) => {
        for (const member of this.#members)
          if (member !== listeners) for (const listener of member) listener(word);
      },
      listen: (listener) => {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
      close: async () => {
        this.#members.delete(listeners);
      },
    };
  }
}
