/**
 * Removes whole conversations from a cleanly closed database file that nobody has open: for repairs, which work on a
 * copy (restore.ts). Their numbers stay unused, and the copy gets its own epoch.
 */

import type { ConversationId } from "@blockyard/kernel";
import { corrupt, guarded } from "../encoding/fault.ts";
import { compareSums } from "./integrity.ts";
import { openDatabase, transaction } from "./schema.ts";

export function forgetConversations(path: string, names: readonly ConversationId[]): void {
  guarded(`cannot repair ${path}`, () => {
    compareSums(path); // and removes them: they are those of the file as it was
    const db = openDatabase(path);
    try {
      const { rows } = db.prepare("SELECT count(*) AS rows FROM journal").get() as { rows: number };
      if (rows > 0) throw corrupt(`${path} was not closed: ${rows} rows are left in its journal`);
      transaction(db, () => {
        for (const name of names) {
          const found = db.prepare("SELECT id FROM conversation WHERE name = ?").get(name);
          if (found === undefined) continue;
          const id = found["id"] as number;
          const owners = `SELECT ${id} UNION SELECT id FROM block WHERE conversation = ${id} UNION SELECT id FROM raw WHERE conversation = ?`;
          db.prepare(`DELETE FROM chunk WHERE owner IN (${owners})`).run(name);
          db.exec(`DELETE FROM fold WHERE id IN (SELECT id FROM block WHERE conversation = ${id})`);
          for (const table of ["block", "turn", "answer"])
            db.exec(`DELETE FROM ${table} WHERE conversation = ${id}`);
          db.prepare("DELETE FROM raw WHERE conversation = ?").run(name);
          db.exec(`DELETE FROM conversation WHERE id = ${id}`);
        }
      });
    } finally {
      db.close();
    }
  });
}
