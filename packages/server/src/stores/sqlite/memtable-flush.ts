/**
 * The flush of the memtable: writes the oldest of it into the tables, a slice with every transaction once there is much, and
 * deletes the journal rows that nobody needs any more. What is written to the journal itself is journal-writer.ts.
 *
 * A journal row stays until everything in it is in the tables. What cannot be written there stays in memtable and journal.
 */

import type { DatabaseSync } from "node:sqlite";
import { StoreError } from "@blockyard/kernel/plain";
import { flush, pickHeads } from "../encoding/flush.ts";
import type { JournalWindow } from "./journal-window.ts";
import {
  DELETED_FILTERS,
  LAST_SLICE_BYTES,
  LAST_SLICE_HEADS,
  PENDING_BYTES,
  PENDING_HEADS,
  SLICE_BYTES,
  SLICE_HEADS,
} from "./limits.ts";
import type { AnyHead, Memtable } from "./memtable.ts";
import { transaction } from "./schema.ts";
import type { Tables } from "./tables.ts";

interface FlushOptions {
  readonly db: DatabaseSync;
  readonly tables: Tables;
  readonly memtable: Memtable;
  readonly window: JournalWindow;
  /** From here on transactions also flush; undefined: the usual. */
  readonly pendingBytes: number | undefined;
  /** Told of each block that the tables have got. */
  readonly onChange: (row: number) => void;
}

export class MemtableFlush {
  readonly #db: DatabaseSync;
  readonly #tables: Tables;
  readonly #memtable: Memtable;
  readonly #window: JournalWindow;
  readonly #pendingBytes: number;
  readonly #onChange: (row: number) => void;
  /** Heads that could not be flushed because what they join is damaged. Their journal rows stay. */
  readonly #stuck = new Set<AnyHead>();
  /** Whether the tables may still have search filters of an earlier program. */
  #hasFilters = true;

  constructor({ db, tables, memtable, window, pendingBytes = PENDING_BYTES, onChange }: FlushOptions) {
    this.#db = db;
    this.#tables = tables;
    this.#memtable = memtable;
    this.#window = window;
    this.#pendingBytes = pendingBytes;
    this.#onChange = onChange;
  }

  /** What a transaction that adds so many bytes, and touches so many heads, flushes besides. */
  pick(addedBytes: number, touched: number): ReadonlySet<AnyHead> {
    const { dirty, pendingBytes } = this.#memtable;
    if (pendingBytes < this.#pendingBytes && dirty.size < PENDING_HEADS) return new Set();
    const heads = Math.max(SLICE_HEADS, 2 * touched);
    const bytes = Math.max(SLICE_BYTES, 2 * addedBytes);
    return pickHeads(this.#memtable, {
      maxHeads: heads,
      maxBytes: bytes,
      overdue: this.#window.first,
      except: this.#stuck,
    });
  }

  /** Inside a transaction: flushes heads and deletes the journal rows before `journal` that nobody else needs. */
  flush(picked: ReadonlySet<AnyHead>, journal: number): void {
    for (const head of picked) {
      try {
        flush(this.#tables, this.#memtable, head);
      } catch (error) {
        if (error instanceof StoreError) this.#stuck.add(head);
        throw error;
      }
    }
    let needed = journal;
    for (const head of this.#memtable.dirty) {
      if (picked.has(head)) continue;
      needed = head.since;
      break;
    }
    this.#tables.deleteJournalBefore(needed);
    this.#tables.putMeta("journal", String(journal - 1));
    if (this.#hasFilters) this.#hasFilters = this.#tables.deleteFilters(DELETED_FILTERS);
  }

  /** All that can be, in transactions of its own. `lastJournal`: the last number that a journal row has had. */
  all(lastJournal: number): void {
    while (this.#memtable.dirty.size > this.#stuck.size) {
      const picked = pickHeads(this.#memtable, {
        maxHeads: LAST_SLICE_HEADS,
        maxBytes: LAST_SLICE_BYTES,
        overdue: Number.POSITIVE_INFINITY,
        except: this.#stuck,
      });
      try {
        transaction(this.#db, () => this.flush(picked, lastJournal + 1));
      } catch (error) {
        if (![...picked].some((head) => this.#stuck.has(head))) throw error;
        continue;
      }
      this.flushed(picked);
    }
  }

  /** Says that the tables have all of those heads. */
  flushed(heads: Iterable<AnyHead>): void {
    for (const head of heads) {
      this.#memtable.flushed(head);
      if (head.type === "block") this.#onChange(head.row);
    }
  }
}
