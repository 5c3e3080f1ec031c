/**
 * automerge-repo's clients: a repo per agent and per viewer, each with a socket of its own. One write is one change of the
 * agent's document. There is no acknowledgement for who writes: that the server has it is known only from the server.
 */
import * as Automerge from "@automerge/automerge";
import { type DocHandle, Repo } from "@automerge/automerge-repo";
import { WebSocketClientAdapter } from "@automerge/automerge-repo-network-websocket";
import { BUFFERED_BYTES, PeerServer, type Stage, type StageOptions, until } from "./stage.ts";

interface Doc {
  text: string;
}

export async function openAutomerge({ agents, viewers, folder, onText }: StageOptions): Promise<Stage> {
  const server = await PeerServer.start(new URL("./automerge-server.peer.ts", import.meta.url), [folder]);
  const adapters: WebSocketClientAdapter[] = [];
  const connect = async () => {
    const adapter = new WebSocketClientAdapter(server.url);
    adapters.push(adapter);
    const repo = new Repo({ network: [adapter] });
    await until(() => repo.peers.length > 0);
    return repo;
  };
  const writing: DocHandle<Doc>[] = [];
  for (let agent = 0; agent < agents; agent++) writing.push((await connect()).create<Doc>({ text: "" }));
  const lengths = writing.map(() => 0);
  await server.stored(Object.fromEntries(writing.map(({ url }) => [url, 0])));
  for (let viewer = 0; viewer < viewers; viewer++) {
    const repo = await connect();
    for (const [agent, { url }] of writing.entries()) {
      const handle = await repo.find<Doc>(url);
      handle.on("change", ({ patches }) => {
        for (const patch of patches)
          if (patch.action === "splice" && patch.path[0] === "text") onText(viewer, agent, patch.value);
      });
    }
  }
  const stored = () =>
    server.stored(Object.fromEntries(writing.map(({ url }, agent) => [url, lengths[agent] as number])));
  return {
    write(agent, text) {
      const at = lengths[agent] as number;
      (writing[agent] as DocHandle<Doc>).change((doc) => Automerge.splice(doc, ["text"], at, 0, text));
      lengths[agent] = at + text.length;
    },
    isFull: (agent) =>
      ((adapters[agent]?.socket as { bufferedAmount: number } | undefined)?.bufferedAmount ?? 0) >
      BUFFERED_BYTES,
    acknowledged: stored,
    stored,
    async close() {
      for (const adapter of adapters) adapter.disconnect();
      await server.stop();
    },
  };
}
