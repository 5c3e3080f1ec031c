/**
 * The part of `blockyard bench` that needs sockets: how long a line takes from an agent to a viewer over loopback, through a
 * server of its own and through a socket that only passes on. Client and server share this process.
 */

import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { typedCalls } from "@blockyard/kernel";
import { WebSocket, WebSocketServer } from "ws";
import type { Running } from "../app/serve.ts";
import type { ServerCalls } from "../contract/index.ts";
import { known } from "./block-source.ts";

/** One way of a line: writes it, and later says that it came. */
interface Way {
  write(line: string): void;
  close(): void;
}

const GAP_MS = 4;

/** Milliseconds of each of so many lines, written one after the other at a steady pace. */
export async function lineTimes(
  way: (seen: (text: string) => void) => Promise<Way>,
  lines: number,
): Promise<number[]> {
  const sentMs: number[] = [];
  const took: number[] = [];
  let tail = "";
  const { write, close } = await way((text) => {
    const whole = (tail + text).split("\n");
    tail = whole.pop() as string;
    for (const line of whole)
      took.push(performance.now() - (sentMs[Number(line.split(" ", 1)[0])] as number));
  });
  for (let i = 0; i < lines; i++) {
    sentMs.push(performance.now());
    write(`${`${i} `.padEnd(59, "x")}\n`);
    await sleep(GAP_MS);
  }
  for (const since = performance.now(); took.length < lines && performance.now() - since < 5_000; )
    await sleep(1);
  close();
  if (took.length !== lines) throw new Error(`${took.length} of ${lines} lines arrived`);
  return took;
}

export function throughServer({ url, auth, tools }: Running) {
  return async (seen: (text: string) => void): Promise<Way> => {
    // The same writer as the socket: a second one would make the block a merged one.
    const owner = { agent: auth.ownerAgent, role: "owner", by: "token" } as const;
    const call = typedCalls<ServerCalls>((tool, input) => tools.call(owner, tool, input));
    const { conversation } = known(await call("conversation.create", { title: "bench" }));
    const spec = { conversation, kind: "text", role: "model", status: "running" } as const;
    const { block_id } = known(await call("block.create", spec));
    const join = async () => {
      const headers = { authorization: `Bearer ${auth.ownerToken}` };
      const socket = new WebSocket(`${url.replace("http", "ws")}/v1/feed`, {
        headers,
        perMessageDeflate: false,
      });
      await once(socket, "open");
      socket.send(JSON.stringify({ type: "hello", protocol: 1 }));
      await once(socket, "message");
      return socket;
    };
    const [viewer, agent] = [await join(), await join()];
    viewer.send(JSON.stringify({ type: "subscribe", sub: 1, conversation }));
    await once(viewer, "message");
    viewer.on("message", (data) => {
      const frame = JSON.parse(String(data)) as { ops?: { body: { type: string; text?: string } }[] };
      for (const { body } of frame.ops ?? []) if (body.type === "append") seen(body.text ?? "");
    });
    let id = 0;
    return {
      write: (text) =>
        agent.send(
          JSON.stringify({ type: "call", id: ++id, tool: "block.append", input: { block_id, text } }),
        ),
      close() {
        for (const socket of [viewer, agent]) socket.terminate();
      },
    };
  };
}

/** A socket server that passes on what it gets. */
export async function throughNothing(seen: (text: string) => void): Promise<Way> {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1", perMessageDeflate: false });
  server.on("connection", (socket) => {
    socket.on("message", (data) => {
      for (const each of server.clients) each.send(data as Buffer, { binary: false });
    });
  });
  await once(server, "listening");
  const socket = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`, {
    perMessageDeflate: false,
  });
  await once(socket, "open");
  socket.on("message", (data) => seen(String(data)));
  return {
    write: (text) => socket.send(text),
    close() {
      socket.terminate();
      server.close();
    },
  };
}
