/** The floor's clients: agents that send JSON, viewers that read it and join it to what they have. */
import { once } from "node:events";
import { join } from "node:path";
import { WebSocket } from "ws";
import { BUFFERED_BYTES, PeerServer, type Stage, type StageOptions, until } from "./stage.ts";

export async function openRelay({ agents, viewers, folder, onText }: StageOptions): Promise<Stage> {
  const server = await PeerServer.start(new URL("./relay-server.ts", import.meta.url), [
    join(folder, "relay.db"),
  ]);
  const connect = async (path: string) => {
    const socket = new WebSocket(`${server.url}${path}`, { perMessageDeflate: false });
    await once(socket, "open");
    return socket;
  };
  const watching = await Promise.all(Array.from({ length: viewers }, () => connect("/view")));
  const texts = watching.map(() => Array.from({ length: agents }, () => ""));
  watching.forEach((socket, viewer) => {
    socket.on("message", (data) => {
      const { agent, text } = JSON.parse(String(data)) as { agent: number; text: string };
      (texts[viewer] as string[])[agent] += text;
      onText(viewer, agent, text);
    });
  });
  const writing = await Promise.all(Array.from({ length: agents }, () => connect("/write")));
  let unanswered = 0;
  for (const socket of writing)
    socket.on("message", () => {
      unanswered--;
    });
  const acknowledged = () => until(() => unanswered === 0);
  return {
    write(agent, text) {
      unanswered++;
      (writing[agent] as WebSocket).send(JSON.stringify({ agent, text }));
    },
    isFull: (agent) => (writing[agent] as WebSocket).bufferedAmount > BUFFERED_BYTES,
    acknowledged,
    stored: acknowledged,
    async close() {
      for (const socket of [...watching, ...writing]) socket.terminate();
      await server.stop();
    },
  };
}
