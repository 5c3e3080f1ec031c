/**
 * The ways to call a tool, made equal: a function from a tool's name and input to its answer or problem. What a
 * transport adds (status codes, frames, tool results) is taken off here, so that answers can be compared.
 */

import { fileURLToPath } from "node:url";
import { type Json, Replica } from "@blockyard/kernel";
import { nodeEnv } from "@blockyard/server";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { WebSocket } from "ws";
import { CACHED } from "../e2e/server.ts";
import type { TestHarness } from "./harness.ts";

export interface Transport {
  readonly name: "http" | "ws" | "mcp" | "stdio";
  call(tool: string, input: unknown): Promise<unknown>;
  close(): Promise<void>;
}

/** MCP is for models, which never are the owner: with the owner's token there are two. */
export async function allTransports(harness: TestHarness, token: string): Promise<readonly Transport[]> {
  const both = [overHttp(harness, token), await overSocket(harness, token)];
  return token === harness.owner ? both : [...both, await overMcp(harness, token)];
}

/** A block's whole text, as a program reads it that gets no more than a piece at a time; and the longest of the pieces. */
export async function readWhole(
  transport: Transport,
  block_id: string,
): Promise<{ readonly text: string; readonly longest: number }> {
  let text = "";
  let longest = 0;
  let range: object | undefined;
  do {
    const input = { block_id, line_numbers: false, ...(range ? { range } : {}) };
    const read = (await transport.call("block.read", input)) as {
      content: string;
      next?: { column?: number };
    };
    longest = Math.max(longest, read.content.length);
    const cut = read.next ? read.content.slice(0, read.content.lastIndexOf("… cut here")) : read.content;
    // A line that is cut inside has a line end of the answer's own.
    text += read.next?.column === undefined ? cut : cut.slice(0, -1);
    range = read.next;
  } while (range);
  return { text, longest };
}

export function overHttp(harness: TestHarness, token: string): Transport {
  return {
    name: "http",
    async call(tool, input) {
      const url = `${harness.running.url}/v1/tools/${encodeURIComponent(tool)}`;
      const headers = { authorization: `Bearer ${token}` };
      const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(input) });
      return response.json();
    },
    close: async () => undefined,
  };
}

/** A socket that is open and greeted, with the client library's replica on it. */
export async function openReplica(
  url: string,
  token: string,
  replica: Replica = new Replica({ env: nodeEnv }),
): Promise<{ readonly replica: Replica; readonly socket: WebSocket }> {
  const socket = new WebSocket(`${url.replace(/^http/, "ws")}/v1/feed`, {
    headers: { authorization: `Bearer ${token}` },
    perMessageDeflate: false,
  });
  await new Promise<void>((greeted, failed) => {
    socket.on("open", () => replica.connected((frame) => socket.send(JSON.stringify(frame))));
    socket.on("message", (data: Buffer) => {
      replica.receive(JSON.parse(data.toString("utf8")));
      if (replica.isConnected) greeted();
    });
    socket.on("close", () => {
      replica.disconnected();
      failed(new Error(`closed before hello: ${replica.bye?.message ?? ""}`));
    });
    socket.on("error", failed);
  });
  return { replica, socket };
}

export async function overSocket(harness: TestHarness, token: string): Promise<Transport> {
  const { replica, socket } = await openReplica(harness.running.url, token);
  // A write waits for the next connection, and here there is none.
  const cut = new Promise<never>((_, failed) => socket.once("close", () => failed(new Error("closed"))));
  void cut.catch(() => undefined);
  return {
    name: "ws",
    call: (tool, input) => Promise.race([replica.call(tool, input as Json, { write: true }), cut]),
    async close() {
      socket.close();
      await cut.catch(() => undefined);
    },
  };
}

export async function mcpClient(url: string, token: string, modern = true): Promise<Client> {
  const client = new Client(
    { name: "test", version: "1" },
    { versionNegotiation: { mode: modern ? "auto" : "legacy" } },
  );
  const headers = { authorization: `Bearer ${token}` };
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit: { headers } }),
  );
  return client;
}

export async function overMcp(harness: TestHarness, token: string): Promise<Transport> {
  return byMcp("mcp", await mcpClient(harness.running.url, token));
}

export const MAIN = fileURLToPath(new URL("../../packages/server/src/main.ts", import.meta.url));

/** `blockyard mcp` as a process of its own, with this token. */
export async function stdioClient(harness: TestHarness, token: string, modern = true): Promise<Client> {
  const client = new Client(
    { name: "test", version: "1" },
    { versionNegotiation: { mode: modern ? "auto" : "legacy" } },
  );
  const env = {
    ...{ PATH: process.env["PATH"] ?? "", HOME: harness.root, ...CACHED },
    BLOCKYARD_TOKEN: token,
  };
  const args = ["--disable-warning=ExperimentalWarning", MAIN, "mcp", "--home", harness.home];
  await client.connect(new StdioClientTransport({ command: process.execPath, args, env, stderr: "ignore" }));
  return client;
}

export async function overStdio(harness: TestHarness, token: string): Promise<Transport> {
  return byMcp("stdio", await stdioClient(harness, token));
}

function byMcp(name: "mcp" | "stdio", client: Client): Transport {
  return {
    name,
    async call(tool, input) {
      const result = await client.callTool({
        name: tool.replaceAll(".", "_"),
        arguments: input as Record<string, unknown>,
      });
      if (result.structuredContent !== undefined) return result.structuredContent;
      const [first] = result.content as { text?: string }[];
      return JSON.parse(first?.text ?? "null") as unknown;
    },
    close: () => client.close(),
  };
}
