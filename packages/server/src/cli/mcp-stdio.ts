/**
 * `blockyard mcp`: MCP on stdin and stdout, for agents that start their tools as processes. It talks to the running server
 * and never opens the database itself; standard output carries nothing but the protocol. What changes there is announced
 * here; while the server is away, the tools are listed and calls say so, and when it is back everything that is subscribed is
 * announced once, because nobody knows what has changed meanwhile.
 *
 * Whatever speaks on standard input is a model. It acts with a token of its own from BLOCKYARD_TOKEN, never as the owner:
 * without one nothing is served, and the owner's own token is refused.
 */

import { PassThrough } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type { ToolSchema } from "@blockyard/kernel";
import { problem } from "@blockyard/kernel/plain";
import type { Server } from "@modelcontextprotocol/server";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import { VERSION } from "../system/version.ts";
import type { Announcement } from "../transports/announcer.ts";
import { type Announcing, changedUris, type McpPort, mcpServer } from "../transports/mcp.ts";
import { ownerTokenIn, type ServerClient, serverClient, TokenRefused } from "./client.ts";
import { ClientWatch } from "./client-watch.ts";
import { CommandError, EXIT } from "./command.ts";
import {
  ANSWERED_MS,
  CHANGE_LINE_CHARS,
  CHANGES_RETRY_MS,
  LAST_ANSWERS_MS,
  STREAMED_URIS,
} from "./limits.ts";

const MAKE_ONE = "A model needs its own token. Create one: blockyard token create --agent claude-mcp";

class OwnerRefused extends CommandError {
  constructor() {
    super(`BLOCKYARD_TOKEN is the owner's token, which a model must not have. ${MAKE_ONE}`, EXIT.usage);
  }
}

/** A wrong or revoked token stays so: an agent that continues with it has no tools and does not say why. */
class UnknownRefused extends CommandError {
  constructor(url: string) {
    super(`the server at ${url} does not know the token in BLOCKYARD_TOKEN. ${MAKE_ONE}`, EXIT.usage);
  }
}

/** Serves a model until its client is gone. Ends the process. */
export async function serveStandardIo(home: string | undefined): Promise<never> {
  const token = modelToken(home);
  // Read from now on: the end of an unread stream is not noticed.
  const input = process.stdin.pipe(new PassThrough(), { end: false });
  const watch = new ClientWatch();
  try {
    await Promise.race([serveModel(() => serverClient({ home, token }), input, watch), left(watch)]);
  } catch (error) {
    process.stdin.destroy();
    watch.close();
    throw error;
  }
  // Nobody waits for what is still running.
  await new Promise<void>((written) => process.stdout.write("", () => written()));
  process.exit(EXIT.done);
}

/** Resolves when the client is gone, and earlier requests have had their time. */
async function left({ gone }: ClientWatch): Promise<void> {
  if ((await gone) === "input ended") await sleep(LAST_ANSWERS_MS);
}

/** Serves the client until it is gone and its requests are answered. */
async function serveModel(client: () => ServerClient, input: PassThrough, watch: ClientWatch): Promise<void> {
  const port = new CountedPort(portOf(client));
  await refuseOthers(client);
  const report = (error: Error) => process.stderr.write(`blockyard mcp: ${error.message}\n`);
  const servers = new Map<Server, Announcing>();
  const { transport, streamed } = listening(input);
  const handle = serveStdio(
    ({ era }) => {
      const announcing: Announcing =
        era === "modern" ? { by: "stream" } : { by: "subscription", uris: new Set() };
      const server = mcpServer(port, announcing);
      servers.set(server, announcing);
      server.onclose = () => servers.delete(server);
      return server;
    },
    { onerror: report, transport },
  );
  const over = new AbortController();
  void follow(
    client,
    over.signal,
    () => {
      for (const [server, announcing] of servers) announceAll(server, announcing, streamed).catch(report);
    },
    (announcement) => {
      for (const [server, announcing] of servers) announce(server, announcing, announcement).catch(report);
    },
  );
  await watch.gone;
  over.abort();
  // The last input is processed shortly; its answer is written shortly after it is known.
  do await sleep(ANSWERED_MS);
  while (!watch.signal.aborted && (input.readableLength > 0 || port.open > 0));
  input.end();
  await handle.close();
}

/** A port that knows how many of its calls are unanswered. */
class CountedPort implements McpPort {
  readonly version = VERSION;
  readonly #port: McpPort;
  open = 0;

  constructor(port: McpPort) {
    this.#port = port;
  }

  tools: McpPort["tools"] = (...given) => this.#counted(this.#port.tools(...given));

  call: McpPort["call"] = (...given) => this.#counted(this.#port.call(...given));

  #counted<T>(answer: Promise<T>): Promise<T> {
    this.open++;
    return answer.finally(() => setTimeout(() => this.open--, ANSWERED_MS));
  }
}

/** The model's token. A missing or empty variable is never the owner's: a failed `$(…)` leaves one. */
function modelToken(home: string | undefined): string {
  const token = (process.env["BLOCKYARD_TOKEN"] ?? "").trim();
  if (token === "") throw new CommandError(`BLOCKYARD_TOKEN is not set. ${MAKE_ONE}`, EXIT.usage);
  if (token === ownerTokenIn(home)) throw new OwnerRefused();
  return token;
}

/**
 * Ends the command if the server reports the token as the owner's, or as invalid. If it is unavailable, the first call
 * asks again.
 */
async function refuseOthers(client: () => ServerClient): Promise<void> {
  try {
    await modelTools(client());
  } catch (error) {
    if (isRefusal(error) || !(error instanceof CommandError)) throw error;
  }
}

async function modelTools(server: ServerClient): Promise<readonly ToolSchema[]> {
  try {
    return refuseOwnerTools(await server.tools());
  } catch (error) {
    throw error instanceof TokenRefused ? new UnknownRefused(server.url) : error;
  }
}

function isRefusal(error: unknown): error is CommandError {
  return error instanceof OwnerRefused || error instanceof UnknownRefused;
}

/** The list of tools shows whose token it is: only the owner's has tools of the owner. */
function refuseOwnerTools(tools: readonly ToolSchema[]): readonly ToolSchema[] {
  if (tools.some(({ access }) => access === "owner")) throw new OwnerRefused();
  return tools;
}

/** The server may be started later, or again at another address: every call looks it up. */
function portOf(client: () => ServerClient): McpPort {
  /** Servers that have confirmed that the token is not their owner's. */
  const asked = new Set<string>();
  const away = (error: unknown) => problem("unavailable", (error as Error).message);
  return {
    version: VERSION,
    // An agent requests the list once, when it starts. Started before the server, it would never have tools.
    tools: async () => {
      try {
        return await modelTools(client());
      } catch (error) {
        if (isRefusal(error)) throw new Error(error.message);
        // Only then the server's answer is needed.
        if (error instanceof CommandError) return (await import("../app/tool-table.ts")).agentSchemas();
        throw error;
      }
    },
    call: async (tool, input) => {
      try {
        const server = client();
        if (!asked.has(server.url)) await modelTools(server);
        asked.add(server.url);
        return await server.callAny(tool, input);
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

/** Changes during the gap are unknown: subscribers read again. */
async function announceAll(
  server: Server,
  announcing: Announcing,
  streamed: ReadonlySet<string>,
): Promise<void> {
  for (const uri of announcing.by === "subscription" ? announcing.uris : streamed)
    await server.sendResourceUpdated({ uri });
  await server.sendResourceListChanged();
  await server.sendToolListChanged();
}

/**
 * Standard input and output, and the resources for which a stream was opened there. The protocol's library keeps these
 * to itself and drops those without a listener, so the last ones that it acknowledged are enough.
 */
function listening(input: PassThrough): {
  readonly transport: StdioServerTransport;
  readonly streamed: ReadonlySet<string>;
} {
  const transport = new StdioServerTransport(input, process.stdout);
  const streamed = new Set<string>();
  const send = transport.send.bind(transport);
  transport.send = (message) => {
    if ("method" in message && message.method === "notifications/subscriptions/acknowledged") {
      const { notifications } = message.params as { notifications?: { resourceSubscriptions?: string[] } };
      for (const uri of notifications?.resourceSubscriptions ?? []) {
        streamed.delete(uri);
        streamed.add(uri);
      }
      for (const uri of streamed) if (streamed.size > STREAMED_URIS) streamed.delete(uri);
    }
    return send(message);
  };
  return { transport, streamed };
}

/** Receives the running server's changes; reconnects whenever the connection is lost, and reports that. */
async function follow(
  client: () => ServerClient,
  signal: AbortSignal,
  back: () => void,
  onAnnouncement: (announcement: Announcement) => void,
): Promise<void> {
  for (let attempt = 1; !signal.aborted; attempt++) {
    try {
      const response = await client().fetch("/v1/changes", { signal });
      if (response.ok && response.body) {
        if (attempt > 1) back();
        await readEvents(response.body, onAnnouncement);
      } else await response.body?.cancel();
    } catch {
      // the server is unavailable, or we are done
    }
    await sleep(CHANGES_RETRY_MS, undefined, { signal }).catch(() => undefined);
  }
}

async function readEvents(
  body: ReadableStream<Uint8Array>,
  onAnnouncement: (announcement: Announcement) => void,
): Promise<void> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const bytes of body) {
    text += decoder.decode(bytes, { stream: true });
    const lines = text.split("\n");
    text = lines.pop() ?? "";
    if (text.length > CHANGE_LINE_CHARS) throw new Error("a line of the changes is too long");
    for (const line of lines)
      if (line.startsWith("data: ")) onAnnouncement(JSON.parse(line.slice(6)) as Announcement);
  }
}
