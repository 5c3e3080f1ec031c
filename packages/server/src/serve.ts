/**
 * The composition root: store, kernel, tools, turns and faces joined into one running server. It does I/O and no
 * thinking; everything that decides something is in the parts.
 */

import { readFileSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { userInfo } from "node:os";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import { closeOrphans, isAgentId, type Json, Kernel, type Problem, problem } from "@blockyard/kernel";
import { getRequestListener } from "@hono/node-server";
import { Auth, type Caller } from "./auth.ts";
import { type Config, prepareHome } from "./config.ts";
import { nodeEnv } from "./env.ts";
import { eventStream } from "./faces/events.ts";
import { httpApp } from "./faces/http.ts";
import { blockUri, conversationUri, mcpHandler } from "./faces/mcp.ts";
import { DIST, pageFiles } from "./faces/page.ts";
import { WsFace } from "./faces/ws.ts";
import { type Addresses, addressesOf, guard, isRefusal, type Refusal } from "./guard.ts";
import { ingestStream } from "./ingest-stream.ts";
import type { Log } from "./log.ts";
import { Metrics } from "./metrics.ts";
import { openSqliteStore, type SqliteStore } from "./store/sqlite.ts";
import { Tools } from "./tool-table.ts";
import { VERSION } from "./version.ts";

export interface Running {
  readonly url: string;
  /** The link that lets the owner's browser in. */
  readonly link: string;
  readonly kernel: Kernel;
  readonly store: SqliteStore;
  readonly auth: Auth;
  readonly tools: Tools;
  /** Everything accepted is durable, sockets are told, files are closed. */
  stop(): Promise<void>;
}

const UPKEEP_MS = 60_000;

const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  "content-security-policy":
    "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; " +
    "worker-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
};

export async function serve(config: Config, log: Log): Promise<Running> {
  prepareHome(config.home);
  const auth = new Auth(config.home, ownerName(), () => nodeEnv.monotonic());
  const store = await openSqliteStore(join(config.home, "blockyard.db"));
  const kernel = new Kernel(nodeEnv, store);
  const closed = await closeOrphans(kernel, "blockyard");
  if (closed.blocks + closed.turns > 0) log("info", "closed what an earlier run left open", { ...closed });
  const tools = new Tools(kernel, config, log);
  const upkeep = setInterval(() => void kernel.maintain(), UPKEEP_MS);
  upkeep.unref();
  const metrics = new Metrics();
  kernel.listen((told) => metrics.count("blockyard_ops_total", told.ops.length));
  const ws = new WsFace({ kernel, presence: tools.presence, call: (...call) => tools.call(...call), log });
  const door = new Door(config, auth, log);
  const mcp = mcpHandler<Caller>((caller) => ({
    version: VERSION,
    tools: async () => tools.schemas(),
    call: (tool, input) => tools.call(caller, tool, input),
  }));
  kernel.listen(({ conversation, blocks }) => {
    mcp.handler.notify.resourceUpdated(conversationUri(conversation));
    for (const { id } of blocks) mcp.handler.notify.resourceUpdated(blockUri(id));
  });
  const app = httpApp({
    callerOf: (request) => door.callerOf(request),
    call: (...call) => tools.call(...call),
    tools: () => tools.schemas() as unknown as Json,
    page: pageFiles(DIST),
    health: () => ({ ok: true, epoch: store.epoch, sockets: ws.count }),
    metrics: () => metrics.text({ blockyard_sockets: ws.count }),
    ingest: (caller, query, body) => ingestStream(kernel, caller, query, body),
    blob: (hash) => store.blob(hash),
    events: (conversation, format, signal) => eventStream(kernel, conversation, format, signal),
    mcp: (request, caller) => mcp.fetch(request, caller),
  });
  const listener = getRequestListener(app.fetch as Parameters<typeof getRequestListener>[0]);
  const server = makeServer(config, (request, response) => door.http(request, response, listener));
  server.on("upgrade", (request, socket, head) => {
    door.upgrade(request, socket, head, (caller) => ws.upgrade(request, socket, head, caller));
  });
  const port = await listen(server, config);
  door.open(port);
  const url = `${config.tls ? "https" : "http"}://${config.host === "::1" ? "[::1]" : config.host}:${port}`;
  writeFileSync(join(config.home, "server.json"), JSON.stringify({ url, pid: process.pid }), { mode: 0o600 });
  const stop = async (): Promise<void> => {
    clearInterval(upkeep);
    server.close();
    await tools.close();
    await mcp.handler.close();
    await kernel.close();
    await ws.close();
    server.closeAllConnections();
    await store.close();
  };
  return { url, link: `${url}/?token=${auth.ownerToken}`, kernel, store, auth, tools, stop };
}

/** The guard, applied to every request and upgrade before anything else sees it. */
class Door {
  readonly #auth: Auth;
  readonly #config: Config;
  readonly #log: Log;
  readonly #callers = new WeakMap<IncomingMessage, Caller>();
  #addresses: Addresses = { hosts: new Set(), origins: new Set() };

  constructor(config: Config, auth: Auth, log: Log) {
    this.#config = config;
    this.#auth = auth;
    this.#log = log;
  }

  open(port: number): void {
    this.#addresses = addressesOf(this.#config.host, port, this.#config.tls !== undefined);
  }

  callerOf(request: IncomingMessage): Caller {
    const caller = this.#callers.get(request);
    if (!caller) throw new Error("a request got past the guard");
    return caller;
  }

  http(
    request: IncomingMessage,
    response: ServerResponse,
    next: (req: IncomingMessage, res: ServerResponse) => void,
  ): void {
    for (const [name, value] of Object.entries(SECURITY_HEADERS)) response.setHeader(name, value);
    const token = linkToken(request);
    const caller = guard(request, this.#auth, this.#addresses, false, token);
    if (isRefusal(caller))
      return this.#refuse(request, caller, (body) => endWith(response, caller.status, body));
    if (token !== undefined) return this.#trade(request, response, caller);
    this.#callers.set(request, caller);
    next(request, response);
  }

  upgrade(request: IncomingMessage, socket: Duplex, _head: Buffer, next: (caller: Caller) => void): void {
    const caller = guard(request, this.#auth, this.#addresses, true);
    const refuse = (status: number) => socket.end(`HTTP/1.1 ${status} Refused\r\nConnection: close\r\n\r\n`);
    if (isRefusal(caller)) return this.#refuse(request, caller, () => refuse(caller.status));
    if (new URL(request.url ?? "/", "http://localhost").pathname !== "/v1/feed") return void refuse(404);
    next(caller);
  }

  /** The link's token for a cookie, once; the address bar never keeps it. */
  #trade(request: IncomingMessage, response: ServerResponse, caller: Caller): void {
    if (caller.role !== "owner")
      return endWith(response, 403, problem("forbidden", "this link is the owner's alone"));
    const url = new URL(request.url ?? "/", "http://localhost");
    url.searchParams.delete("token");
    response.setHeader("set-cookie", this.#auth.setCookie(this.#config.tls !== undefined));
    response.writeHead(303, { location: url.pathname + url.search });
    response.end();
  }

  #refuse(request: IncomingMessage, refusal: Refusal, end: (body: Problem) => void): void {
    this.#log("warn", "refused", {
      status: refusal.status,
      method: request.method,
      peer: request.socket.remoteAddress,
    });
    const body = problem("forbidden", refusal.message);
    if (refusal.delayMs === 0) end(body);
    else setTimeout(() => end(body), refusal.delayMs).unref();
  }
}

/** Only the page's own address takes a token from the query, and only to trade it. */
function linkToken(request: IncomingMessage): string | undefined {
  if (request.method !== "GET" || !request.url?.includes("token=")) return undefined;
  const url = new URL(request.url, "http://localhost");
  if (url.pathname.startsWith("/v1/") || url.pathname === "/mcp") return undefined;
  return url.searchParams.get("token") ?? undefined;
}

function endWith(response: ServerResponse, status: number, body: Problem): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}

function makeServer(
  config: Config,
  listener: (request: IncomingMessage, response: ServerResponse) => void,
): Server {
  const bounds = {
    requestTimeout: 0,
    headersTimeout: 10_000,
    keepAliveTimeout: 30_000,
    maxHeaderSize: 16 * 1024,
  };
  if (!config.tls) return createServer(bounds, listener);
  const pair = { cert: readFileSync(config.tls.cert), key: readFileSync(config.tls.key) };
  return createTlsServer({ ...bounds, ...pair }, listener) as unknown as Server;
}

function listen(server: Server, config: Config): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(config.port, config.host, () => resolve((server.address() as AddressInfo).port));
  });
}

/** The owner writes under the name of the account, as far as that can be an agent's name. */
function ownerName(): string {
  const name = userInfo().username.toLowerCase();
  return isAgentId(name) ? name : "owner";
}
