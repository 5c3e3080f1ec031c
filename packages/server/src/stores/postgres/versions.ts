/**
 * The versions of blocks at a conversation's sequence number, so that a stream's next append needs no query for its
 * block. An entry is valid exactly as long as the conversation is at that number: any write to a block moves its
 * conversation, on whatever node.
 */

import type { BlockId, Commit, ConversationId, Missed } from "@blockyard/kernel";
import { VERSIONED_BLOCKS_EACH, VERSIONED_CONVERSATIONS } from "./limits.ts";

interface Known {
  seq: number;
  readonly versions: Map<BlockId, number>;
}

export class Versions {
  /** The one used longest ago first. */
  readonly #known = new Map<ConversationId, Known>();

  at(conversation: ConversationId, seq: number): ReadonlyMap<BlockId, number> | undefined {
    const known = this.#known.get(conversation);
    return known?.seq === seq ? known.versions : undefined;
  }

  /** Takes in what others have committed, on top of what was known at `since`. */
  missed(conversation: ConversationId, since: number, { record, blocks }: Missed): void {
    this.committed({ conversation, expectedSeq: since, record, blocks });
  }

  /** Takes in what was committed, on top of what was there before. */
  committed({
    conversation,
    expectedSeq,
    record,
    blocks,
  }: Pick<Commit, "conversation" | "expectedSeq" | "record" | "blocks">): void {
    const before = this.#known.get(conversation);
    const versions = before?.seq === expectedSeq ? before.versions : new Map<BlockId, number>();
    for (const { id, version } of blocks) {
      versions.delete(id);
      versions.set(id, version);
    }
    dropOldest(versions, VERSIONED_BLOCKS_EACH);
    this.#known.delete(conversation);
    this.#known.set(conversation, { seq: record.seq, versions });
    dropOldest(this.#known, VERSIONED_CONVERSATIONS);
  }
}

function dropOldest(map: Map<string, unknown>, keep: number): void {
  for (const key of map.keys()) {
    if (map.size <= keep) return;
    map.delete(key);
  }
}
