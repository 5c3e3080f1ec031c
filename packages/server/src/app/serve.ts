/**
 * The composition root: store, kernel, tools, turns and transports joined into one running server. It does I/O and no
 * thinking; everything that decides something is in the parts.
 */

import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import {
  type Env,
  type Json,
  Kernel,
  mayNot,
  type Problem,
  problem,
  type Store,
  StoreError,
} from "@blockyard/kernel";
import { getRequestListener } from "@hono/node-server";
import type { Hono } from "hono";
import { Auth, type Caller, ownerName } from "../access/auth.ts";
import { localUrl, urlOf } from "../access/guard.ts";
import { HttpGateway } from "../access/http-gateway.ts";
import { Quotas } from "../access/quotas.ts";
import { Revocations } from "../access/revocations.ts";
import { readCertificate } from "../config/certificate.ts";
import { type Config, ConfigError, prepareHome } from "../config/config.ts";
import { exportFile } from "../export/export-file.ts";
import { ExportPool } from "../export/export-pool.ts";
import { auditedImport } from "../import/import-stream.ts";
import { ingestStream } from "../ingest/ingest-stream.ts";
import { keepPicture } from "../ingest/pictures.ts";
import { redactBody } from "../ingest/redact-body.ts";
import { joinNodes, startLeases } from "../stores/broadcast/join.ts";
import { openNamed } from "../stores/postgres/named.ts";
import { openSqliteStore } from "../stores/sqlite/sqlite.ts";
import { readAddress, removeAddress, type ServerAddress, writeAddress } from "../system/address-file.ts";
import { nodeEnv } from "../system/env.ts";
import type { Log } from "../system/log.ts";
import { Metrics } from "../system/metrics.ts";
import { OwnerFirst } from "../system/owner-first.ts";
import { Rounds } from "../system/rounds.ts";
import { VERSION } from "../system/version.ts";
import { Announcer } from "../transports/announcer.ts";
import { eventStream, SseStream } from "../transports/events.ts";
import { httpApp } from "../transports/http.ts";
import { JsonParser } from "../transports/json-parser.ts";
import { changedUris, mcpHandler, refuseOwner } from "../transports/mcp.ts";
import type { NodeBindings } from "../transports/node-bindings.ts";
import { DIST, pageFiles } from "../transports/page.ts";
import { sessionRoutes } from "../transports/page-session.ts";
import { WsFace } from "../transports/ws.ts";
import { gitBranch } from "../trust/git-branch.ts";
import { CallGateway } from "./call-gateway.ts";
import { CallScheduler } from "./call-scheduler.ts";
import { Listeners } from "./listeners.ts";
import { type Part, Shutdown } from "./shutdown.ts";
import { Tools } from "./tool-table.ts";

export interface Running {
  readonly url: string;
  /** The link that lets the owner's browser in, once. */
  readonly link: string;
  /** What a person should know about this start, in sentences. */
  readonly notes: readonly string[];
  readonly kernel: Kernel;
  readonly store: Store;
  readonly auth: Auth;
  readonly tools: Tools;
  readonly quotas: Quotas;
  /** The routes, for whoever wants to know them all. */
  readonly app: Hono<{ Bindings: NodeBindings }>;
  /** Everything accepted is durable, sockets are told, files are closed. The parts of which that did not work: none. */
  stop(): Promise<readonly Part[]>;
}

const UPKEEP_MS = 60_000;

export async function serve(config: Config, log: Log, env: Env = nodeEnv): Promise<Running> {
  const shutdown = new Shutdown(log);
  try {
    return await start(config, log, env, shutdown);
  } catch (error) {
    await shutdown.run();
    throw error;
  }
}

async function start(config: Config, log: Log, env: Env, shutdown: Shutdown): Promise<Running> {
  const certificate = config.tls && readCertificate(config.tls);
  prepareHome(config.home);
  const auth = new Auth(config.home, ownerName(), () => env.monotonic());
  auth.onFault = (message) => log("error", "the agents' tokens cannot be read", { message });
  const store = await openStore(config, auth);
  shutdown.register("store", () => store.close());
  const kernel = new Kernel(env, store);
  shutdown.register("kernel", () => kernel.close());
  // What is deleted is known before the first call, so that none waits for it. A store that is away is asked again by the calls.
  await kernel.deletions.ready().catch(() => undefined);
  const { nodes, leave } = await joinNodes(kernel, config, log);
  shutdown.register("nodes", leave);
  const leases = await startLeases(kernel, nodes, log);
  shutdown.register("leases", () => leases.close());
  const revocations = await shareRevocations(store, auth);
  shutdown.register("revocations", () => revocations?.close());
  const tools = new Tools(kernel, config, log, auth);
  shutdown.register("tools", () => tools.close());
  shutdown.register("files", () => tools.files.close());
  nodes?.shareCursors(tools.presence);
  await tools.files.start();
  const metrics = new Metrics();
  const fault = (where: string, error: unknown) => {
    metrics.count("blockyard_faults_total");
    log("error", "internal error", { where, error: String((error as Error)?.stack ?? error) });
  };
  const lag = monitorEventLoopDelay({ resolution: 10 });
  lag.enable();
  kernel.onFault = (error) => fault("listener", error);
  const upkeep = keepUp(kernel, (error) => fault("upkeep", error));
  shutdown.register("upkeep", () => {
    clearInterval(upkeep);
    lag.disable();
  });
  kernel.listen(({ ops }) => {
    metrics.count("blockyard_ops_total", ops.length);
    quotas.stored(ops);
  });
  const ownerFirst = new OwnerFirst();
  const scheduler = new CallScheduler(ownerFirst);
  const quotas = new Quotas(env);
  const gateway = new CallGateway({ auth, tools, leases, metrics, log, scheduler, quotas });
  const rounds = new Rounds({ isHeld: () => ownerFirst.isWaiting });
  const ws = new WsFace({
    kernelFor: (caller) => tools.kernelFor(caller),
    presence: tools.presence,
    call: (...call) => gateway.call(...call),
    sliced: (caller, answer) => gateway.sliced(caller, answer),
    callBytes: (caller, tool) => tools.callBytes(caller, tool),
    inTurn: (caller, work, signal) => scheduler.run(caller, work, { signal }),
    charge: (caller, bytes) => quotas.charge(caller, bytes),
    mayStore: (caller) => gateway.mayStore(caller),
    rounds,
    onForbidden: (caller, message) => gateway.audit(caller, message),
    onFault: fault,
  });
  shutdown.register("sockets", () => ws.close());
  tools.files.onOpened = (agent, chars) => quotas.opened(agent, chars);
  tools.files.isWatched = (id) => tools.hasCursor(id) || ws.hasOpen(id);
  const onRefused = () => metrics.count("blockyard_refused_total");
  const own = { host: config.host, secure: certificate !== undefined, names: certificate?.names ?? [] };
  const place = { ...own, ...(config.origin === undefined ? {} : { origin: config.origin }) };
  const { audit } = tools;
  const httpGateway = new HttpGateway({ place, auth, log, onRefused, audit, quotas, rounds, ownerFirst });
  shutdown.register("gateway", () => httpGateway.close());
  leases.present = () => httpGateway.agents();
  const announcer = new Announcer(kernel);
  shutdown.register("announcer", () => announcer.close());
  const mcp = mcpFace(tools, gateway, announcer);
  shutdown.register("mcp", () => mcp.handler.close());
  const parser = new JsonParser();
  const exports = new ExportPool();
  shutdown.register("exports", () => exports.close());
  shutdown.register("parser", () => parser.close());
  const app = appOf({
    config,
    auth,
    store,
    kernel,
    nodes,
    tools,
    gateway,
    httpGateway,
    ws,
    mcp,
    announcer,
    metrics,
    parser,
    exports,
    lag,
    fault,
  });
  const listener = getRequestListener(app.fetch as Parameters<typeof getRequestListener>[0], {
    overrideGlobalObjects: false,
  });
  const listeners = new Listeners(certificate, {
    connection: (socket) => httpGateway.arrive(socket),
    request: (request, response) => httpGateway.http(request, response, listener),
    upgrade: (request, socket, head) =>
      httpGateway.upgrade(request, socket, (caller, url) => ws.upgrade(request, socket, head, caller, url)),
  });
  shutdown.register("listeners", () => listeners.close());
  shutdown.register("connections", () => listeners.closeAllConnections());
  const opened = await listeners.open(config, (error) => fault("server", error));
  const { port, localPort } = opened;
  const confined = await tools.sandbox.state();
  const unconfined = confined.isChosen
    ? []
    : [`commands are ${confined.words}. Each one needs your approval`];
  const notes = [...opened.notes, ...unconfined];
  for (const note of notes) log("info", note);
  httpGateway.open(port, localPort);
  const url = urlOf(place, port);
  const local = localPort === undefined ? urlOf(own, port) : localUrl(localPort);
  writeAddress(config.home, { url, local, pid: process.pid, root: config.root });
  shutdown.register("address", () => removeAddress(config.home));
  const stop = () => shutdown.run();
  return { url, link: linkTo(url, auth), notes, kernel, store, auth, tools, quotas, app, stop };
}

interface Parts {
  readonly config: Config;
  readonly auth: Auth;
  readonly store: Store;
  readonly kernel: Kernel;
  readonly nodes: { readonly id: string } | undefined;
  readonly tools: Tools;
  readonly gateway: CallGateway;
  readonly httpGateway: HttpGateway;
  readonly ws: WsFace;
  readonly mcp: ReturnType<typeof mcpHandler<Caller>>;
  readonly announcer: Announcer;
  readonly metrics: Metrics;
  readonly parser: JsonParser;
  readonly exports: ExportPool;
  readonly lag: ReturnType<typeof monitorEventLoopDelay>;
  readonly fault: (where: string, error: unknown) => void;
}

/** The routes over HTTP. */
function appOf(parts: Parts): Hono<{ Bindings: NodeBindings }> {
  const {
    config,
    auth,
    store,
    kernel,
    nodes,
    tools,
    gateway,
    httpGateway,
    ws,
    mcp,
    announcer,
    metrics,
    parser,
    exports,
    lag,
  } = parts;
  const incoming = (body: ReadableStream<Uint8Array>) => (config.redactIngest ? redactBody(body) : body);
  return httpApp({
    callerOf: (request) => httpGateway.callerOf(request),
    callerWith: (...call) => httpGateway.callerWith(...call),
    call: (...call) => gateway.audited(...call),
    sliced: (caller, answer) => gateway.sliced(caller, answer),
    tools: (caller) => tools.schemasFor(caller),
    page: pageFiles(DIST),
    addRoutes: (routes) =>
      sessionRoutes(
        routes,
        auth,
        ({ env: { incoming } }) => httpGateway.session(incoming),
        ({ env: { incoming } }) => notForTokens(gateway, httpGateway.callerOf(incoming)),
      ),
    health: async () => ({
      ...(await storeHealth(store)),
      version: VERSION,
      root: config.root,
      ...branchOf(config.root),
      sandbox: (await tools.sandbox.state()).words,
      epoch: store.epoch,
      ...(nodes ? { node: nodes.id } : {}),
      sockets: ws.count,
      turns: tools.turns.running,
    }),
    metrics: () => {
      const p99 = lag.percentile(99) / 1e9;
      lag.reset();
      return metrics.text(gauges(ws.count, tools.turns.running, gateway.pending, p99));
    },
    ingest: async (caller, query, body) =>
      gateway.streamed(
        caller,
        ingestStream(kernel, caller, query, gateway.paced(caller, incoming(body)), tools.secrets),
      ),
    import: async (caller, body) =>
      gateway.checked(caller, await auditedImport(tools.audit, kernel, caller, incoming(body))),
    export: (caller, conversation, format, redact) =>
      exportFile(tools.kernelFor(caller), conversation, format, redact, {
        ...{ pool: exports, isOwners: caller.role === "owner" },
        rest: () => gateway.rest(caller),
      }),
    callBytes: (caller, tool) => gateway.callBytes(caller, tool),
    mayWrite: (caller) => gateway.refusedWith(caller, mayNot(caller.role, "upload")),
    parse: (caller, bytes) => parser.parse(bytes, caller.role === "owner"),
    keep: async (caller, bytes) =>
      (await gateway.kept(caller, bytes.length, () => keepPicture(store, bytes))) as Json | Problem,
    blob: (hash) => store.blob(hash),
    events: (caller, conversation, query) =>
      eventStream(tools.kernelFor(caller), conversation, query, () => gateway.rest(caller)),
    changes: () => announcements(announcer),
    mayUseMcp: (caller) => gateway.refusedWith(caller, refuseOwner(caller.role)),
    mcp: (request, caller, body) => mcp.fetch(request, caller, body),
    onFault: parts.fault,
  });
}

/** A session is a browser's: whoever has a token has nothing to prove there. */
function notForTokens(gateway: CallGateway, caller: Caller): Problem | undefined {
  const refused = caller.by === "token" ? problem("forbidden", "sessions are for browsers") : undefined;
  return gateway.refusedWith(caller, refused);
}

/** Where several nodes share the database, each hears of what the others revoke. */
async function shareRevocations(store: Store, auth: Auth): Promise<Revocations | undefined> {
  if (!store.nodes) return undefined;
  const revocations = new Revocations(store.audit);
  auth.isRevoked = (session) => revocations.has(session);
  await revocations.start();
  return revocations;
}

function mcpFace(tools: Tools, gateway: CallGateway, announcer: Announcer) {
  const mcp = mcpHandler<Caller>((caller) => ({
    version: VERSION,
    tools: async () => tools.schemasFor(caller),
    call: (tool, input, signal) => gateway.audited(caller, tool, input, undefined, signal),
  }));
  announcer.listen((announcement) => {
    for (const uri of changedUris(announcement)) mcp.handler.notify.resourceUpdated(uri);
    if (announcement.isNew) mcp.handler.notify.resourcesChanged();
  });
  return mcp;
}

/** A server whose database does not answer is not well, and says so: it can be taken out of turn until it is. */
async function storeHealth(store: Store): Promise<{ ok: boolean; database?: string }> {
  try {
    await store.check?.();
    return { ok: true };
  } catch (error) {
    return { ok: false, database: error instanceof StoreError ? error.message : "internal error" };
  }
}

function keepUp(kernel: Kernel, onFault: (error: unknown) => void): NodeJS.Timeout {
  return setInterval(() => void kernel.maintain().catch(onFault), UPKEEP_MS).unref();
}

/** The database: the one that is named, or the file, unless another server has that: then where that one is. */
async function openStore(config: Config, auth: Auth): Promise<Store> {
  if (config.database) return openNamed(config.database);
  try {
    return await openSqliteStore(join(config.home, "blockyard.db"));
  } catch (error) {
    if (!(error instanceof StoreError) || error.code !== "locked") throw error;
    throw new ConfigError(inUse(config, readAddress(config.home), auth));
  }
}

/** Whoever starts a second server for a data directory wants to see the first one, or to serve another folder. */
function inUse({ home, root }: Config, first: ServerAddress | undefined, auth: Auth): string {
  if (first === undefined)
    return `the database in ${home} is in use. Stop the process that uses it, or choose another --home`;
  const serves = first.root === undefined ? "" : `, serving ${first.root}`;
  const here =
    first.root === root
      ? ""
      : `. To serve ${root} as well, use a second data directory: blockyard ${root} --home ${home}-2`;
  return `a server is already running for ${home}${serves} (process ${first.pid}). Open  ${linkTo(first.url, auth)}${here}`;
}

function linkTo(url: string, auth: Auth): string {
  return `${url}/?link=${auth.makeLink()}`;
}

function gauges(sockets: number, turns: number, waiting: number, lagP99: number) {
  const { rss, heapUsed } = process.memoryUsage();
  return {
    blockyard_sockets: sockets,
    blockyard_turns_running: turns,
    blockyard_calls_waiting: waiting,
    process_start_time_seconds: Math.round(Date.now() / 1000 - process.uptime()),
    process_resident_memory_bytes: rss,
    nodejs_heap_used_bytes: heapUsed,
    nodejs_eventloop_delay_p99_seconds: lagP99,
  };
}

function announcements(announcer: Announcer): ReadableStream<Uint8Array> {
  const stream = new SseStream();
  stream.onEnd(announcer.listen((announcement) => stream.write(`data: ${JSON.stringify(announcement)}\n\n`)));
  return stream.readable;
}

function branchOf(folder: string): { readonly branch?: string } {
  const branch = gitBranch(folder);
  return branch === undefined ? {} : { branch };
}
