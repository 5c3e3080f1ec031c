/** The records of blocks that a queue has seen, the newest so many; null: there is no such block. */

import type { Block } from "../model/block.ts";
import type { BlockId } from "../model/ids.ts";

/** Per conversation. */
const KEPT_RECORDS = 20_000;

export class BlockRecords {
  readonly #records = new Map<BlockId, Block | null>();

  get(id: BlockId): Block | null | undefined {
    return this.#records.get(id);
  }

  set(id: BlockId, block: Block | null): void {
    const records = this.#records;
    // Age matters only to those who may have to leave.
    if (records.size > KEPT_RECORDS / 2) records.delete(id);
    records.set(id, block);
    if (records.size <= KEPT_RECORDS) return;
    const oldest = records.keys().next().value;
    if (oldest !== undefined) records.delete(oldest);
  }
}
