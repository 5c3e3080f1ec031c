/**
 * The floor: the least that a server does which keeps what it passes on. What agents send in one turn of the event loop is
 * inserted into SQLite in one transaction, durable (WAL, synchronous=FULL), and only then sent to every viewer and
 * acknowledged. It merges nothing, knows no history, and a viewer that comes late has missed what was before.
 */
import type { AddressInfo } from "node:net";
import { DatabaseSync } from "node:sqlite";
import { type WebSocket, WebSocketServer } from "ws";

const [path = ""] = process.argv.slice(2);
const db = new DatabaseSync(path);
db.exec("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL");
db.exec("CREATE TABLE piece (id INTEGER PRIMARY KEY, body BLOB NOT NULL)");
const insert = db.prepare("INSERT INTO piece (body) VALUES (?)");

const viewers = new Set<WebSocket>();
let waiting: { readonly from: WebSocket; readonly data: Buffer }[] = [];

function passOn(): void {
  const batch = waiting;
  waiting = [];
  db.exec("BEGIN IMMEDIATE");
  for (const { data } of batch) insert.run(data);
  db.exec("COMMIT");
  for (const { from, data } of batch) {
    for (const viewer of viewers) viewer.send(data, { binary: false });
    from.send("1");
  }
}

const server = new WebSocketServer({ port: 0, host: "127.0.0.1", perMessageDeflate: false });
server.on("connection", (socket, request) => {
  if (request.url === "/view") viewers.add(socket);
  socket.on("close", () => viewers.delete(socket));
  socket.on("message", (data) => {
    if (waiting.length === 0) setImmediate(passOn);
    waiting.push({ from: socket, data: data as Buffer });
  });
});
server.on("listening", () => process.send?.({ port: (server.address() as AddressInfo).port }));
process.on("disconnect", () => process.exit(0));
process.on("SIGTERM", () => {
  db.close();
  process.exit(0);
});
