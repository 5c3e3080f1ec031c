/**
 * A bare relay: the cost of a WebSocket server that only forwards. A client of `/view` gets every message of everybody
 * else, unchanged; nothing is parsed, stored or ordered. Any extra time of our server is its own work.
 */
import type { AddressInfo } from "node:net";
import { type WebSocket, WebSocketServer } from "ws";

const viewers = new Set<WebSocket>();
const server = new WebSocketServer({ port: 0, host: "127.0.0.1", perMessageDeflate: false });
server.on("connection", (socket, request) => {
  if (request.url === "/view") {
    viewers.add(socket);
    socket.on("close", () => viewers.delete(socket));
    return;
  }
  socket.on("message", (data) => {
    for (const viewer of viewers) viewer.send(data as Buffer, { binary: false });
  });
});
server.on("listening", () => process.send?.({ port: (server.address() as AddressInfo).port }));
