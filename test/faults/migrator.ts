/** A process to be killed: it brings a database through three versions. What each version has is told by `isVersion`. */
import { DatabaseSync } from "node:sqlite";
import { migrate, pragma } from "../../packages/server/src/stores/sqlite/schema.ts";

export const NOTES = 200;

export const STEPS = [
  (db: DatabaseSync) => db.exec("ALTER TABLE note ADD COLUMN length INTEGER"),
  (db: DatabaseSync) => db.exec("UPDATE note SET length = length(text)"),
  (db: DatabaseSync) => db.exec("CREATE TABLE long AS SELECT * FROM note; DROP TABLE note"),
];

export function makeNotes(path: string): void {
  const db = new DatabaseSync(path);
  db.exec("PRAGMA journal_mode = WAL; CREATE TABLE note (text TEXT); PRAGMA user_version = 1");
  const put = db.prepare("INSERT INTO note VALUES (?)");
  for (let n = 0; n < NOTES; n++) put.run(`note ${n} `.repeat(40));
  db.close();
}

/** The version of a database, if what it holds is that version's, whole. */
export function versionOf(path: string): number | undefined {
  const db = new DatabaseSync(path, { readOnly: true });
  try {
    const version = pragma(db, "user_version") as number;
    const table = version === 4 ? "long" : "note";
    const length = version === 1 ? "NULL" : "length";
    const rows = db.prepare(`SELECT text, ${length} AS length FROM ${table}`).all();
    const isWhole = rows.every((row) => row["length"] === (version > 2 ? String(row["text"]).length : null));
    return rows.length === NOTES && isWhole ? version : undefined;
  } finally {
    db.close();
  }
}

if (import.meta.main) {
  const db = new DatabaseSync(process.argv[2] as string);
  db.exec("PRAGMA synchronous = FULL");
  migrate(db, STEPS);
  db.close();
}
