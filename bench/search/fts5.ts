/**
 * SQLite's FTS5, as it comes, on the same texts: a table with an index over them, whose size is what the index takes beside the
 * text. A literal is a phrase for it; what it finds is read, as whoever shows a hit must.
 */
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

export const FTS5 = [
  {
    name: "FTS5 trigram",
    figure: "ratioToFts5Trigram",
    tokenize: "trigram case_sensitive 1",
    isExact: true,
  },
  { name: "FTS5 words", figure: "ratioToFts5Words", tokenize: "unicode61", isExact: false },
] as const;

export class Fts5 {
  readonly #db: DatabaseSync;

  constructor(path: string, tokenize: string) {
    this.#db = new DatabaseSync(path);
    this.#db.exec("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL");
    this.#db.exec(`CREATE VIRTUAL TABLE block USING fts5(text, tokenize='${tokenize}')`);
  }

  fill(texts: readonly string[]): void {
    const insert = this.#db.prepare("INSERT INTO block (text) VALUES (?)");
    this.#db.exec("BEGIN");
    for (const text of texts) insert.run(text);
    this.#db.exec("COMMIT");
    this.#db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  }

  /** Texts that hold it; for an index of words, only where it is one. */
  find(literal: string, limit: number): string[] {
    return this.#db
      .prepare("SELECT text FROM block WHERE block MATCH ? ORDER BY rowid DESC LIMIT ?")
      .all(`"${literal.replaceAll('"', '""')}"`, limit)
      .map((row) => String(row["text"]))
      .filter((text) => text.includes(literal));
  }

  indexBytes(): number {
    const { bytes } = this.#db
      .prepare(
        "SELECT sum(pgsize) AS bytes FROM dbstat WHERE name IN ('block_data', 'block_idx', 'block_docsize')",
      )
      .get() as { bytes: number };
    return bytes;
  }

  close(): void {
    this.#db.close();
  }
}

/** What the search index of a database of ours takes. */
export function indexBytes(path: string): number {
  const folder = `${path}.search`;
  if (!existsSync(folder)) return 0;
  return readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
}
