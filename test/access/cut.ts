/**
 * A wire that can be cut: a TCP relay in front of a server that lets a given number of bytes through to the client, or
 * nothing back to it at all, and then drops both ends without a word.
 */
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

export class Wire {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly port: number;
  /** Bytes that the next connection lets through to the client before it is cut. */
  budget = Number.POSITIVE_INFINITY;
  /** Whether the next connection ends halfway: dropped for the client, left open for the server. */
  halfOpen = false;
  cuts = 0;

  private constructor(server: Server) {
    this.#server = server;
    this.port = (server.address() as AddressInfo).port;
  }

  static async to(port: number): Promise<Wire> {
    const server = createServer();
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
    const wire = new Wire(server);
    server.on("connection", (client) => wire.#relay(client, port));
    return wire;
  }

  #relay(client: Socket, port: number): void {
    const upstream = connect(port, "127.0.0.1");
    let left = this.budget;
    const { halfOpen } = this;
    for (const socket of [client, upstream]) {
      this.#sockets.add(socket);
      socket.on("error", () => undefined);
      socket.on("close", () => this.#sockets.delete(socket));
    }
    client.on("data", (bytes) => upstream.write(bytes));
    client.on("close", () => !halfOpen && upstream.destroy());
    upstream.on("close", () => client.destroy());
    upstream.on("data", (bytes) => {
      if (left <= 0) return;
      const through = bytes.subarray(0, left);
      left -= through.length;
      client.write(through, () => {
        if (left > 0) return;
        this.cuts++;
        client.resetAndDestroy();
        if (!halfOpen) upstream.destroy();
      });
    });
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((closed) => this.#server.close(closed));
  }
}
