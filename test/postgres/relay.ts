/** A way through which connections go: it can be cut, closed to new ones, or swallow everything in silence. */
import { connect, createServer, type Socket } from "node:net";

export type RelayMode = "open" | "refuses" | "swallows";

export interface Relay {
  readonly port: number;
  mode: RelayMode;
  /** Ends the open connections now. */
  cut(): void;
  stop(): Promise<void>;
}

export async function startRelay(port: number, host = "127.0.0.1"): Promise<Relay> {
  const sockets = new Set<Socket>();
  const relay = { mode: "open" as RelayMode };
  const server = createServer((client) => {
    const upstream = connect(port, host);
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket.setNoDelay();
      socket.on("error", () => undefined);
      socket.on("data", (bytes) => {
        if (relay.mode !== "swallows") other.write(bytes);
      });
      socket.on("close", () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
    if (relay.mode === "refuses") client.destroy();
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: (server.address() as { port: number }).port,
    get mode() {
      return relay.mode;
    },
    set mode(mode) {
      relay.mode = mode;
      // What was swallowed is lost: a connection that lives on would be out of step.
      if (mode !== "swallows") cut();
    },
    cut,
    async stop() {
      cut();
      await new Promise((done) => server.close(done));
    },
  };
}
