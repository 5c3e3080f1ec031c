/** The most recently used block records of a queue; null: the block does not exist. */

import type { Block } from "../model/block.ts";
import type { BlockId } from "../model/ids.ts";
import { limits } from "../model/limits.ts";

export class BlockRecords {
  readonly #records = new Map<BlockId, Block | null>();

  get(id: BlockId): Block | null | undefined {
    return this.#records.get(id);
  }

  set(id: BlockId, block: Block | null): void {
    const records = this.#records;
    // Order matters only when entries may soon be evicted.
    if (records.size > limits.blockRecords / 2) records.delete(id);
    records.set(id, block);
    if (records.size <= limits.blockRecords) return;
    const oldest = records.keys().next().value;
    if (oldest !== undefined) records.delete(oldest);
  }
}
