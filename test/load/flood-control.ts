/**
 * Stands where the server would stand, for comparison: answers a flood with nothing, about as often as a server lets it ask. Meanwhile the
 * machine is as busy as with a server that is flooded, and the owner's calls go to one that is not.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { WebSocketServer } from "ws";

/** So many loops that ask on as soon as they are answered come to what the quotas allow. */
const ANSWER_MS = 200;
const SOCKET_MS = 1_000;

const server = createServer((request, response) => {
  request.resume().on("end", () => setTimeout(() => response.end("{}"), ANSWER_MS));
});
new WebSocketServer({ server }).on("connection", (socket) => {
  socket.on("error", () => undefined);
  socket.on("message", (data: Buffer) => {
    const { type, id } = JSON.parse(String(data)) as { type: string; id?: number };
    if (type === "hello") socket.send('{"type":"hello"}');
    else setTimeout(() => socket.send(JSON.stringify({ type: "answer", id, answer: {} })), SOCKET_MS);
  });
});
server.listen(0, "127.0.0.1", () => process.send?.((server.address() as AddressInfo).port));
process.on("disconnect", () => process.exit(0));
