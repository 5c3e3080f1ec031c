/**
 * Hocuspocus as its guide sets it up: the server, and its database extension with what the SQLite extension does, over
 * node:sqlite (that extension's own driver needs a download at install). The database is durable like ours: WAL,
 * synchronous=FULL. With a debounce other than the server's own, each change is stored after that many milliseconds.
 *
 * It answers `wanted` when each of those documents has been stored with as many characters.
 */
import { DatabaseSync } from "node:sqlite";
import { Database } from "@hocuspocus/extension-database";
import { Server } from "@hocuspocus/server";

const [path = "", debounce = ""] = process.argv.slice(2);
const db = new DatabaseSync(path);
db.exec("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL");
db.exec('CREATE TABLE "documents" ("name" varchar(255) NOT NULL, "data" blob NOT NULL, UNIQUE(name))');
const read = db.prepare('SELECT data FROM "documents" WHERE name = ?');
const write = db.prepare(
  'INSERT INTO "documents" (name, data) VALUES (?, ?) ON CONFLICT(name) DO UPDATE SET data = excluded.data',
);

const stored = new Map<string, number>();
let wanted: Readonly<Record<string, number>> | undefined;

function answer(): void {
  if (!wanted) return;
  if (Object.entries(wanted).some(([name, chars]) => (stored.get(name) ?? 0) < chars)) return;
  wanted = undefined;
  process.send?.({});
}

const server = new Server({
  port: 0,
  address: "127.0.0.1",
  quiet: true,
  ...(debounce === "" ? {} : { debounce: Number(debounce) }),
  extensions: [
    new Database({
      fetch: async ({ documentName }) => (read.get(documentName)?.["data"] as Uint8Array | undefined) ?? null,
      async store({ documentName, state, document }) {
        write.run(documentName, state);
        stored.set(documentName, document.getText("t").length);
        answer();
      },
    }),
  ],
});
await server.listen();
process.send?.({ port: server.address.port });
process.on("message", (message: { wanted: Record<string, number> }) => {
  ({ wanted } = message);
  answer();
});
process.on("disconnect", () => process.exit(0));
process.on("SIGTERM", () => {
  db.close();
  process.exit(0);
});
