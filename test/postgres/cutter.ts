/** A way to the server that loses answers: it cuts a connection at the moment in which a transaction is to be committed. */
import { connect, createServer, type Socket } from "node:net";

/**
 * When to cut: before the server hears of the commit, after it has answered, or at once while the commit is still on its
 * way and arrives later.
 */
export type Cut = "before" | "after" | "late";

const LATE_MS = 400;

export interface Cutter {
  /** The address of the same database, through here. */
  readonly url: string;
  /** Cuts the next commit. */
  cut(when: Cut): void;
  /** How many commits were cut. */
  readonly cuts: number;
  stop(): Promise<void>;
}

export async function startCutter(url: string): Promise<Cutter> {
  const target = new URL(url);
  const sockets = new Set<Socket>();
  let next: Cut | undefined;
  let cuts = 0;
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.setNoDelay();
      socket.on("error", () => undefined);
      socket.on("close", () => sockets.delete(socket));
    }
    let isCut = false;
    let isWrite = false;
    client.on("data", (bytes) => {
      if (isCut) return;
      // What gathers commits as well, and is not meant.
      if (bytes.includes("BEGIN ")) isWrite = bytes.includes("pg_current_xact_id");
      if (next === undefined || !isWrite || !bytes.includes("COMMIT\u0000")) {
        upstream.write(bytes);
        return;
      }
      const when = next;
      next = undefined;
      isCut = true;
      cuts++;
      if (when === "before") upstream.destroy();
      else if (when === "late") setTimeout(() => upstream.end(bytes), LATE_MS);
      else upstream.write(bytes);
      if (when !== "after") client.destroy();
    });
    upstream.on("data", (bytes) => {
      if (isCut) client.destroy();
      else client.write(bytes);
    });
    client.on("close", () => {
      if (!isCut) upstream.destroy();
    });
    upstream.on("close", () => client.destroy());
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const through = new URL(url);
  through.port = String((server.address() as { port: number }).port);
  return {
    url: through.href,
    cut(when) {
      next = when;
    },
    get cuts() {
      return cuts;
    },
    async stop() {
      for (const socket of sockets) socket.destroy();
      await new Promise((done) => server.close(done));
    },
  };
}
