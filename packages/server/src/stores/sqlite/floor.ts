/**
 * The least that a durable write costs on this device: rows put into SQLite, a given number to a transaction, each transaction
 * synced before the next one begins. For `blockyard bench`; nothing of it is ever a store.
 */

import { DatabaseSync } from "node:sqlite";

export class Floor {
  readonly #db: DatabaseSync;

  constructor(path: string) {
    this.#db = new DatabaseSync(path);
    this.#db.exec("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL");
    this.#db.exec("CREATE TABLE piece (id INTEGER PRIMARY KEY, text TEXT NOT NULL)");
  }

  write(pieces: readonly string[], perTransaction: number): void {
    const insert = this.#db.prepare("INSERT INTO piece (text) VALUES (?)");
    for (let from = 0; from < pieces.length; from += perTransaction) {
      this.#db.exec("BEGIN IMMEDIATE");
      for (const piece of pieces.slice(from, from + perTransaction)) insert.run(piece);
      this.#db.exec("COMMIT");
    }
  }

  close(): void {
    this.#db.close();
  }
}
