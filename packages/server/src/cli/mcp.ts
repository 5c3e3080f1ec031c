/**
 * `blockyard mcp`: MCP on stdin and stdout, for agents that start their tools as processes. It talks to the running server
 * and never opens the database itself; standard output carries nothing but the protocol. What changes there is announced
 * here; while the server is away, calls say so and announcements wait.
 */

import { setTimeout as sleep } from "node:timers/promises";
import { problem } from "@blockyard/kernel";
import type { Server } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import type { Announcement } from "../announcer.ts";
import { type Announcing, changedUris, type McpPort, mcpServer } from "../faces/mcp.ts";
import { VERSION } from "../version.ts";
import { HOME_OPTION, readArguments } from "./args.ts";
import { type ServerClient, serverClient } from "./client.ts";
import { type Command, CommandError } from "./command.ts";

const RETRY_MS = 2_000;
const MAX_LINE = 4 * 1024 * 1024;

const options = { home: HOME_OPTION } as const;

export const mcp: Command = {
  name: "mcp",
  usage: "mcp [--home DIR]",
  summary: "serve the block tools to an agent over standard input and output",
  examples: [
    "claude mcp add blockyard --env BLOCKYARD_TOKEN=$(blockyard token create --agent claude) -- blockyard mcp",
    "codex mcp add blockyard --env BLOCKYARD_TOKEN=$(blockyard token create --agent codex) -- blockyard mcp",
  ],
  options,
  async run(args) {
    const { values } = readArguments({ name: "mcp", options }, args, [0, 0]);
    const port = portOf(() => serverClient({ home: values.home }));
    const tell = (error: Error) => process.stderr.write(`blockyard mcp: ${error.message}\n`);
    const servers = new Map<Server, Announcing>();
    const handle = serveStdio(
      ({ era }) => {
        const announcing: Announcing =
          era === "modern" ? { by: "stream" } : { by: "subscription", uris: new Set() };
        const server = mcpServer(port, announcing);
        servers.set(server, announcing);
        server.onclose = () => servers.delete(server);
        return server;
      },
      { onerror: tell },
    );
    const over = new AbortController();
    const following = follow(
      () => serverClient({ home: values.home }),
      over.signal,
      (announcement) => {
        for (const [server, announcing] of servers) announce(server, announcing, announcement).catch(tell);
      },
    );
    await new Promise<void>((resolve) => {
      process.stdin.once("end", resolve);
      process.stdin.once("close", resolve);
      process.once("SIGTERM", resolve);
      process.once("SIGINT", resolve);
    });
    over.abort();
    await handle.close();
    await following;
    return 0;
  },
};

/** The server may be started later, or again at another address: it is looked for with every call. */
function portOf(client: () => ServerClient): McpPort {
  const away = (error: unknown) => problem("unavailable", (error as Error).message);
  return {
    version: VERSION,
    tools: async () => client().tools(),
    call: async (tool, input) => {
      try {
        return await client().call(tool, input);
      } catch (error) {
        if (error instanceof CommandError) return away(error);
        throw error;
      }
    },
  };
}

async function announce(server: Server, announcing: Announcing, announcement: Announcement): Promise<void> {
  for (const uri of changedUris(announcement)) {
    if (announcing.by === "subscription" && !announcing.uris.has(uri)) continue;
    await server.sendResourceUpdated({ uri });
  }
  if (announcement.isNew) await server.sendResourceListChanged();
}

/** Hears what changes in the running server; comes back whenever the connection is lost. */
async function follow(
  client: () => ServerClient,
  signal: AbortSignal,
  hear: (announcement: Announcement) => void,
): Promise<void> {
  while (!signal.aborted) {
    try {
      const response = await client().fetch("/v1/changes", { signal });
      if (response.ok && response.body) await readEvents(response.body, hear);
      else await response.body?.cancel();
    } catch {
      // the server is away, or we are done
    }
    await sleep(RETRY_MS, undefined, { signal }).catch(() => undefined);
  }
}

async function readEvents(
  body: ReadableStream<Uint8Array>,
  hear: (announcement: Announcement) => void,
): Promise<void> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const bytes of body) {
    text += decoder.decode(bytes, { stream: true });
    const lines = text.split("\n");
    text = lines.pop() ?? "";
    if (text.length > MAX_LINE) throw new Error("a line of the changes is too long");
    for (const line of lines) if (line.startsWith("data: ")) hear(JSON.parse(line.slice(6)) as Announcement);
  }
}
