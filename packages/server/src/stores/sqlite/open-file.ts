/**
 * Is the file that is written still the one that its name leads to? Somebody may delete, replace or overwrite a database
 * while it is open: SQLite would go on writing into a file that nobody finds again, or into the middle of another one. So
 * it is asked before every write, which costs two looks: at the file and at its folder.
 *
 * The log is looked at only when its folder has changed. Since 6.13 Linux gives a file whose times were looked at a new time with its
 * next write, which the sync of that write has to bring to the disk as well: with a look before each, a write took half as long again.
 *
 * The file of a database in WAL mode is written when its log is brought in, by this process alone. So its time of change is
 * known: with another one its header is compared, which differs between any two states that a copy could bring.
 */

import { type BigIntStats, closeSync, openSync, readSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { FOLDER_TICK_NS } from "./limits.ts";

/**
 * What became of it. In the first three cases everything written is in a file that this process still has open; in the
 * others the file itself is not what it was.
 */
export type Loss = "deleted" | "replaced" | "separated from its log" | "emptied" | "overwritten";

export function isWholeLoss(loss: Loss): boolean {
  return loss !== "emptied" && loss !== "overwritten";
}

const HEADER_BYTES = 100;

export class OpenFile {
  readonly #path: string;
  #file: BigIntStats;
  #header: Buffer;
  #log: BigIntStats | undefined;
  /** When the folder had last changed, as of the last look at the log. */
  #folderNs: bigint | undefined;

  /** Right after it was opened, under its lock. */
  constructor(path: string) {
    this.#path = path;
    this.#file = statSync(path, { bigint: true });
    this.#header = this.#readHeader();
    this.#log = this.#stat("-wal");
  }

  /** After every write of this process. */
  written(): void {
    const now = this.#stat("");
    if (now !== undefined && isSame(now, this.#file) && now.mtimeNs !== this.#file.mtimeNs) {
      this.#file = now;
      this.#header = this.#readHeader();
    }
    this.#log ??= this.#stat("-wal");
  }

  /** Whether the log beside it is the one that this process writes. */
  hasOwnLog(): boolean {
    const log = this.#stat("-wal");
    return log !== undefined && this.#log !== undefined && isSame(log, this.#log);
  }

  loss(): Loss | undefined {
    const now = this.#stat("");
    if (now === undefined) return "deleted";
    if (!isSame(now, this.#file)) return "replaced";
    if (now.size === 0n) return "emptied";
    if (now.mtimeNs !== this.#file.mtimeNs && !this.#isTouched(now)) return "overwritten";
    return this.#isParted() ? "separated from its log" : undefined;
  }

  #isParted(): boolean {
    if (this.#log === undefined) return false;
    const folder = statSync(dirname(this.#path), { bigint: true, throwIfNoEntry: false });
    if (folder !== undefined && folder.ctimeNs === this.#folderNs) return false;
    if (!this.hasOwnLog()) return true;
    // Two changes within one tick of the clock may have one time.
    const isOld = folder !== undefined && BigInt(Date.now()) * 1_000_000n - folder.ctimeNs > FOLDER_TICK_NS;
    this.#folderNs = isOld ? folder.ctimeNs : undefined;
    return false;
  }

  /** Only its time of change is another one. */
  #isTouched(now: BigIntStats): boolean {
    const isTouched = now.size === this.#file.size && this.#readHeader().equals(this.#header);
    if (isTouched) this.#file = now;
    return isTouched;
  }

  #readHeader(): Buffer {
    const file = openSync(this.#path, "r");
    try {
      const bytes = Buffer.alloc(HEADER_BYTES);
      readSync(file, bytes, 0, HEADER_BYTES, 0);
      return bytes;
    } finally {
      closeSync(file);
    }
  }

  #stat(ending: string): BigIntStats | undefined {
    return statSync(`${this.#path}${ending}`, { bigint: true, throwIfNoEntry: false });
  }
}

function isSame(one: BigIntStats, other: BigIntStats): boolean {
  return one.ino === other.ino && one.dev === other.dev;
}
