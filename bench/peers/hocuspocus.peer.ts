/**
 * Hocuspocus's clients: a provider per document; each agent with a socket of its own, each viewer with one socket for all
 * documents, as its guide on multiplexing has it. One write is one transaction of the agent's document.
 */
import { join } from "node:path";
import { HocuspocusProvider, HocuspocusProviderWebsocket } from "@hocuspocus/provider";
import { WebSocket } from "ws";
import * as Y from "yjs";
import { BUFFERED_BYTES, PeerServer, type Stage, type StageOptions, until } from "./stage.ts";

export async function openHocuspocus(
  { agents, viewers, folder, onText }: StageOptions,
  debounce?: number,
): Promise<Stage> {
  const server = await PeerServer.start(new URL("./hocuspocus-server.peer.ts", import.meta.url), [
    join(folder, "documents.db"),
    ...(debounce === undefined ? [] : [String(debounce)]),
  ]);
  const sockets: HocuspocusProviderWebsocket[] = [];
  const connect = () => {
    const socket = new HocuspocusProviderWebsocket({ url: server.url, WebSocketPolyfill: WebSocket });
    sockets.push(socket);
    return socket;
  };
  const open = async (websocketProvider: HocuspocusProviderWebsocket, agent: number) => {
    const provider = new HocuspocusProvider({
      websocketProvider,
      name: `text-${agent}`,
      document: new Y.Doc(),
    });
    provider.attach();
    await until(() => provider.isSynced);
    return provider;
  };
  const numbers = Array.from({ length: agents }, (_, agent) => agent);
  const writing = await Promise.all(numbers.map((agent) => open(connect(), agent)));
  const texts = writing.map((provider) => provider.document.getText("t"));
  for (let viewer = 0; viewer < viewers; viewer++) {
    const socket = connect();
    for (const provider of await Promise.all(numbers.map((agent) => open(socket, agent)))) {
      const agent = Number(provider.configuration.name.split("-")[1]);
      provider.document.getText("t").observe(({ delta }) => {
        for (const { insert } of delta) if (typeof insert === "string") onText(viewer, agent, insert);
      });
    }
  }
  return {
    write(agent, text) {
      const shared = texts[agent] as Y.Text;
      shared.insert(shared.length, text);
    },
    isFull: (agent) =>
      ((sockets[agent]?.webSocket as WebSocket | null)?.bufferedAmount ?? 0) > BUFFERED_BYTES,
    acknowledged: () => until(() => writing.every(({ unsyncedChanges }) => unsyncedChanges === 0)),
    stored: () =>
      server.stored(
        Object.fromEntries(
          texts.flatMap(({ length }, agent) => (length > 0 ? [[`text-${agent}`, length]] : [])),
        ),
      ),
    async close() {
      for (const socket of sockets) socket.destroy();
      await server.stop();
    },
  };
}
