/**
 * The broadcast port: how nodes that share a store wake each other up. What is committed is read from the store, so
 * whatever is lost here loses nothing: nodes look for themselves now and then (see nodes.ts).
 *
 * Nothing of it waits or fails. A broadcast that cannot be sent is dropped.
 */

import type { RemoteCursor } from "../model/cursor.ts";
import type { ConversationId } from "../model/ids.ts";

/** A conversation has been committed to, up to `seq`. */
interface Hint {
  readonly conversation: ConversationId;
  readonly seq: number;
}

export type BroadcastMessage =
  | { readonly type: "hints"; readonly hints: readonly Hint[] }
  | { readonly type: "cursor"; readonly at: RemoteCursor };

export interface Broadcast {
  /** To all other nodes, as far as they can be reached. */
  send(message: BroadcastMessage): void;
  /** What other nodes have sent; never one's own. The returned function ends it. */
  listen(listener: (message: BroadcastMessage) => void): () => void;
  close(): Promise<void>;
}

/** The broadcast in process: between the kernels of one process, of which there is usually one. */
export class LocalBroadcast {
  readonly #members = new Set<Set<(message: BroadcastMessage) => void>>();

  join(): Broadcast {
    const listeners = new Set<(message: BroadcastMessage) => void>();
    this.#members.add(listeners);
    return {
      send: (message) => {
        for (const member of this.#members)
          if (member !== listeners) for (const listener of member) listener(message);
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
