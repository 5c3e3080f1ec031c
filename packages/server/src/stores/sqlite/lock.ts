/**
 * One process per database. The store keeps in memory what the tables do not have yet, so a second writer would not be
 * seen. The lock is SQLite's own, held on an empty database beside the real one: the system lets go of it however the
 * process ends, and readers of the real database (search) are not kept out.
 */

import { DatabaseSync } from "node:sqlite";
import { StoreError } from "@blockyard/kernel/plain";
import { asFault } from "../encoding/fault.ts";

export interface Lock {
  release(): void;
}

export function holdLock(path: string): Lock {
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(`${path}.lock`, { timeout: 0 });
    db.exec("PRAGMA journal_mode = MEMORY; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE");
    const held = db;
    return { release: () => held.close() };
  } catch (error) {
    db?.close();
    const fault = asFault(error, `cannot lock ${path}`);
    if (!(fault instanceof StoreError) || fault.code !== "locked") throw fault;
    throw new StoreError("locked", `${path} is in use by another process`, { cause: error });
  }
}
