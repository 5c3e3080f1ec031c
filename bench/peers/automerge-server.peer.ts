/**
 * automerge-repo as its example of a sync server sets it up: storage in files, a WebSocket network, and no document offered to
 * who has not asked for it. It saves at most every 100 ms, which is its own setting, and does not sync files to the device.
 *
 * It answers `wanted` when each of those documents is here with as many characters, and has been written to its files.
 */
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { type AutomergeUrl, type DocHandle, Repo } from "@automerge/automerge-repo";
import { WebSocketServerAdapter } from "@automerge/automerge-repo-network-websocket";
import { NodeFSStorageAdapter } from "@automerge/automerge-repo-storage-nodefs";
import { WebSocketServer } from "ws";
import { until } from "./stage.ts";

const [folder = ""] = process.argv.slice(2);
const sockets = new WebSocketServer({ port: 0, host: "127.0.0.1" });
const repo = new Repo({
  network: [
    new WebSocketServerAdapter(sockets as unknown as ConstructorParameters<typeof WebSocketServerAdapter>[0]),
  ],
  storage: new NodeFSStorageAdapter(folder),
  sharePolicy: async () => false,
});

/** A document that is not here yet is called unavailable: its agent is about to offer it. */
async function arrived(url: AutomergeUrl): Promise<DocHandle<{ text: string }>> {
  for (let tries = 0; ; tries++) {
    try {
      return await repo.find<{ text: string }>(url);
    } catch (error) {
      if (tries > 2_000) throw error;
      await sleep(10);
    }
  }
}

sockets.on("listening", () => process.send?.({ port: (sockets.address() as AddressInfo).port }));
process.on("message", async ({ wanted }: { wanted: Record<string, number> }) => {
  for (const [url, chars] of Object.entries(wanted)) {
    const handle = await arrived(url as AutomergeUrl);
    await until(() => handle.doc().text.length >= chars);
  }
  await repo.flush();
  process.send?.({});
});
process.on("disconnect", () => process.exit(0));
process.on("SIGTERM", async () => {
  await repo.flush();
  process.exit(0);
});
