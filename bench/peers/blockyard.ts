/**
 * Blockyard's clients: the real server, started as `npm start` does; each agent with a socket of its own and a block of its own
 * in one conversation, each viewer with the client library's replica of it. One write is one `block.append`.
 */
import { once } from "node:events";
import { join } from "node:path";
import { Kernel, Replica, type ServerFrame } from "@blockyard/kernel";
import { WebSocket } from "ws";
import { openSqliteStore } from "../../packages/server/src/stores/sqlite/sqlite.ts";
import { nodeEnv } from "../../packages/server/src/system/env.ts";
import { Server } from "../../test/e2e/server.ts";
import { BUFFERED_BYTES, type Stage, type StageOptions, until } from "./stage.ts";

/** An agent's unanswered calls: the server accepts this many at once from a connection, and refuses more. */
const UNANSWERED = 128;

export async function openBlockyard({ agents, viewers, folder, onText }: StageOptions): Promise<Stage> {
  await makeHome(folder);
  const server = await Server.start({ home: folder, root: folder });
  const { conversation } = (await server.do("conversation.create", { title: "peers" })) as {
    conversation: string;
  };
  const blocks: string[] = [];
  for (let agent = 0; agent < agents; agent++) {
    const spec = { conversation, kind: "text", role: "model", status: "running", side: true };
    blocks.push(((await server.do("block.create", spec)) as { block_id: string }).block_id);
  }
  const connect = async () => {
    const socket = new WebSocket(`${server.url.replace("http", "ws")}/v1/feed`, {
      headers: { authorization: `Bearer ${server.token}` },
      perMessageDeflate: false,
    });
    await once(socket, "open");
    return socket;
  };
  const watching: WebSocket[] = [];
  for (let viewer = 0; viewer < viewers; viewer++) {
    const socket = await connect();
    watching.push(socket);
    await watch(socket, conversation, blocks, (agent, text) => onText(viewer, agent, text));
  }
  const writing: WebSocket[] = [];
  const unanswered = blocks.map(() => 0);
  let id = 0;
  for (let agent = 0; agent < agents; agent++) {
    const socket = await connect();
    writing.push(socket);
    socket.send(JSON.stringify({ type: "hello", protocol: 1 }));
    await once(socket, "message");
    socket.on("message", (data) => {
      const frame = JSON.parse(String(data)) as { type: string; problem?: { message: string } };
      if (frame.problem) throw new Error(frame.problem.message);
      if (frame.type === "answer") unanswered[agent] = (unanswered[agent] as number) - 1;
    });
  }
  const isAnswered = () => unanswered.every((count) => count === 0);
  const append = (agent: number, text: string, wait: boolean) => {
    unanswered[agent] = (unanswered[agent] as number) + 1;
    const input = { block_id: blocks[agent], text, ...(wait ? { wait } : {}) };
    (writing[agent] as WebSocket).send(
      JSON.stringify({ type: "call", id: ++id, tool: "block.append", input }),
    );
  };
  return {
    write: (agent, text) => append(agent, text, false),
    isFull: (agent) =>
      (unanswered[agent] as number) >= UNANSWERED ||
      (writing[agent] as WebSocket).bufferedAmount > BUFFERED_BYTES,
    acknowledged: () => until(isAnswered),
    async stored() {
      for (let agent = 0; agent < agents; agent++) append(agent, "", true);
      await until(isAnswered);
    },
    async close() {
      for (const socket of [...watching, ...writing]) socket.terminate();
      await server.stop();
    },
  };
}

/** A home with a conversation in it: in an empty one the server would play its recorded sessions meanwhile. */
async function makeHome(folder: string): Promise<void> {
  const store = await openSqliteStore(join(folder, "blockyard.db"));
  const kernel = new Kernel(nodeEnv, store);
  await kernel.createConversation("bench", "not empty");
  await kernel.close();
  await store.close();
}

/** A replica of the conversation that says what has come to each text; resolves when it is there. */
async function watch(
  socket: WebSocket,
  conversation: string,
  blocks: readonly string[],
  onText: (agent: number, text: string) => void,
): Promise<void> {
  const replica = new Replica({ env: nodeEnv, windowBlocks: blocks.length });
  const agentOf = new Map(blocks.map((id, agent) => [id, agent]));
  const lengths = blocks.map(() => 0);
  const view = replica.subscribe(conversation);
  replica.listen(({ blocks: changed }) => {
    for (const id of changed ?? view.order) {
      const agent = agentOf.get(id);
      const text = view.texts.get(id);
      if (agent === undefined || !text || text.length <= (lengths[agent] as number)) continue;
      onText(agent, text.slice(lengths[agent] as number));
      lengths[agent] = text.length;
    }
  });
  socket.on("message", (data) => replica.receive(JSON.parse(String(data)) as ServerFrame));
  replica.connected((frame) => socket.send(JSON.stringify(frame)));
  await until(() => view.isOpen);
}
