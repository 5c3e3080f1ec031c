/** How a command reaches the blocks where a server or another command is in the way. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { openClient } from "./command-client.ts";

const home = mkdtempSync(join(tmpdir(), "blockyard-client-"));
afterAll(() => rmSync(home, { recursive: true }));

it("[U8] a command does not wait for a hanging server, and names its process", async () => {
  const first = await openClient({ home, create: true });
  // Takes connections, and answers none.
  const sockets = new Set<Socket>();
  const silent = createServer((socket) => sockets.add(socket));
  await new Promise<void>((open) => silent.listen(0, "127.0.0.1", open));
  const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  const waiting = openClient({ home, waitMs: 1 });
  await expect(waiting).rejects.toThrow(/^another blockyard command is using the database/);
  writeFileSync(join(home, "token"), "x".repeat(43));
  writeFileSync(join(home, "server.json"), JSON.stringify({ url, local: url, pid: process.pid, root: home }));
  await expect(openClient({ home, waitMs: 1 })).rejects.toThrow(
    `the server at ${url} (process ${process.pid}) does not answer. It may be busy: try again.`,
  );
  for (const socket of sockets) socket.destroy();
  await new Promise((closed) => silent.close(closed));
  await first.close();
});
