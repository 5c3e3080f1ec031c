/**
 * What a store does if its database is removed while it is open (open-file.ts): it stops writing, says so with every
 * refusal, and copies its open file, which has everything that was acknowledged, to a file beside it.
 */

import { renameSync, rmSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { StoreError } from "@blockyard/kernel/plain";
import { copyDatabase } from "./backup.ts";
import { isWholeLoss, type Loss } from "./open-file.ts";
import { pragma } from "./schema.ts";

export class Rescue {
  readonly #db: DatabaseSync;
  readonly #path: string;
  #copying: Promise<void> | undefined;
  /** Where everything is, once it is. */
  #copy: string | undefined;
  /** Why it cannot be made. */
  #failure: string | undefined;

  constructor(db: DatabaseSync, path: string) {
    this.#db = db;
    this.#path = path;
  }

  /** What to refuse a write with. The first one begins the copy. */
  refusal(loss: Loss): StoreError {
    this.#copying ??= isWholeLoss(loss) ? this.#save() : Promise.resolve();
    return new StoreError("lost", `${this.#path} was ${loss} while it was in use. ${this.#fix(loss)}`);
  }

  /** When the copy is there, or cannot be made. */
  async done(loss: Loss): Promise<void> {
    this.refusal(loss);
    await this.#copying;
  }

  /** Beside another file the log would be taken for that one's. */
  moveLog(): void {
    const log = `${this.#path}-wal`;
    if (this.#copy !== undefined) rmSync(log, { force: true });
    else renameSync(log, `${this.#path}.lost-wal`);
    rmSync(`${this.#path}-shm`, { force: true });
  }

  #fix(loss: Loss): string {
    if (this.#copy !== undefined)
      return `All writes are saved in ${this.#copy}. Stop the server, then: blockyard restore ${this.#copy} --replace`;
    if (this.#failure !== undefined)
      return `Move the file back if you can, and keep the server running until then: the writes could not be copied (${this.#failure})`;
    return isWholeLoss(loss)
      ? "Move the file back if you can; the writes are being copied to a file next to it"
      : "Stop the server, then restore a backup: blockyard restore FILE --replace";
  }

  async #save(): Promise<void> {
    const stamp = new Date().toISOString().slice(0, 19).replace(/[:T]/g, "-");
    const copy = `${this.#path}.rescued-${stamp}`;
    try {
      await copyDatabase(this.#db, copy);
      if (isSound(copy)) this.#copy = copy;
      else {
        rmSync(copy, { force: true });
        this.#failure = "the copy is damaged";
      }
    } catch (error) {
      // Nobody waits for it while the server runs: a copy that fails is told with the next refusal.
      this.#failure = error instanceof Error ? error.message : String(error);
    }
  }
}

function isSound(path: string): boolean {
  const db = new DatabaseSync(path, { readOnly: true });
  try {
    return pragma(db, "quick_check(1)") === "ok";
  } finally {
    db.close();
  }
}
