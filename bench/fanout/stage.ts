/**
 * The two stages for a load: our server, with a block for each agent in one conversation, and the bare relay. Both have
 * agents that write and viewers that see; slow and silent readers are there too, and see nothing.
 */
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { WebSocket } from "ws";
import type { Seen } from "./line.ts";
import type { Attach, Attached, Order, Place } from "./order.ts";

export interface Stage {
  readonly write: (agent: number, piece: string) => void;
  close(): void;
}

const SLOW_BYTES_PER_SECOND = 10_000;
const SIP_MS = 100;

export async function openRelay({ url, agents }: Order, seen: readonly Seen[]): Promise<Stage> {
  const watching = await Promise.all(seen.map(() => connect(`${url}/view`)));
  watching.forEach((socket, index) => {
    socket.on("message", (data) => {
      const { text } = JSON.parse(String(data)) as { text: string };
      seen[index]!.lines(text, performance.now());
    });
  });
  const writing = await Promise.all(Array.from({ length: agents }, () => connect(`${url}/write`)));
  return {
    write: (agent, text) => writing[agent]!.send(JSON.stringify({ text })),
    close: () => end([...watching, ...writing]),
  };
}

export async function openBlockyard(order: Order, seen: readonly Seen[]): Promise<Stage> {
  const { agents, stalled, slow = 0 } = order;
  const { conversation } = await call(order, "conversation.create", { title: "load" });
  const blocks = await Promise.all(
    Array.from({ length: agents }, async () => {
      const spec = { conversation, kind: "text", role: "model", status: "running", side: true };
      return (await call(order, "block.create", spec))["block_id"];
    }),
  );
  const watching = await Promise.all(
    seen.map(async (each) => {
      const socket = await join(order);
      const isOpen = watch(socket, each);
      subscribe(socket, conversation!);
      await isOpen;
      return socket;
    }),
  );
  const follow = async (then: (socket: WebSocket) => void) => {
    const socket = await join(order);
    subscribe(socket, conversation!);
    then(socket);
    return socket;
  };
  const others = await Promise.all([
    ...Array.from({ length: stalled }, () => follow((socket) => socket.pause())),
    ...Array.from({ length: slow }, () => follow((socket) => void sip(socket))),
  ]);
  const writing = await Promise.all(Array.from({ length: agents }, () => join(order)));
  let id = 0;
  for (const socket of writing)
    socket.on("message", (data) => {
      const frame = JSON.parse(String(data)) as { problem?: { message: string } };
      if (frame.problem) throw new Error(frame.problem.message);
    });
  return {
    write(agent, text) {
      const input = { block_id: blocks[agent], text };
      writing[agent]!.send(JSON.stringify({ type: "call", id: ++id, tool: "block.append", input }));
    },
    close: () => end([...watching, ...writing, ...others]),
  };
}

/** Many at once, for a conversation that has been there before; how long until each had its window. */
export async function attach(order: Attach): Promise<Attached> {
  const startMs = performance.now();
  let blocks = 0;
  const sockets = await Promise.all(
    Array.from({ length: order.attach }, async () => {
      const socket = await join(order);
      const opened = new Promise<void>((resolve) => {
        socket.on("message", (data) => {
          const frame = JSON.parse(String(data)) as Frame;
          if (frame.type !== "verdict") return;
          blocks += frame.blocks?.length ?? 0;
          resolve();
        });
      });
      subscribe(socket, order.conversation);
      await opened;
      return socket;
    }),
  );
  const allMs = performance.now() - startMs;
  end(sockets);
  return { allMs, blocks };
}

interface Frame {
  readonly type: string;
  readonly ops?: readonly { readonly body: { readonly type: string; readonly text?: string } }[];
  readonly blocks?: readonly { readonly text?: string }[];
}

/** What a viewer does with frames; resolves when it is subscribed. */
function watch(socket: WebSocket, seen: Seen): Promise<void> {
  return new Promise((resolve) => {
    socket.on("message", (data) => {
      const frame = JSON.parse(String(data)) as Frame;
      const nowMs = performance.now();
      if (frame.type === "verdict") resolve();
      if (frame.type !== "changes") return;
      for (const { body } of frame.ops ?? []) if (body.type === "append") seen.lines(body.text ?? "", nowMs);
      for (const { text } of frame.blocks ?? []) if (text) seen.whole(text, nowMs);
    });
  });
}

/** Reads a little, then waits as long as that would have taken. */
async function sip(socket: WebSocket): Promise<void> {
  let bytes = 0;
  socket.on("message", (data: Buffer) => {
    bytes += data.length;
    socket.pause();
  });
  while (socket.readyState === socket.OPEN) {
    await sleep(SIP_MS);
    bytes = Math.max(0, bytes - (SLOW_BYTES_PER_SECOND * SIP_MS) / 1_000);
    if (bytes === 0) socket.resume();
  }
}

async function call({ url, token }: Place, tool: string, input: object): Promise<Record<string, string>> {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const body = JSON.stringify(input);
  const response = await fetch(`${url}/v1/tools/${tool}`, { method: "POST", headers, body });
  if (!response.ok) throw new Error(`${tool}: ${await response.text()}`);
  return (await response.json()) as Record<string, string>;
}

async function join({ url, token }: Place): Promise<WebSocket> {
  const socket = await connect(`${url.replace("http", "ws")}/v1/feed`, { authorization: `Bearer ${token}` });
  socket.send(JSON.stringify({ type: "hello", protocol: 1 }));
  await once(socket, "message");
  return socket;
}

function subscribe(socket: WebSocket, conversation: string): void {
  socket.send(JSON.stringify({ type: "subscribe", sub: 1, conversation }));
}

async function connect(url: string, headers: Readonly<Record<string, string>> = {}): Promise<WebSocket> {
  const socket = new WebSocket(url, { headers, perMessageDeflate: false });
  await once(socket, "open");
  socket.on("error", () => undefined); // a slow one is cut; that it is, the others show
  return socket;
}

function end(sockets: readonly WebSocket[]): void {
  for (const socket of sockets) socket.terminate();
}
