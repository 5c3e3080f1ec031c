/**
 * The composition root: what a server works on (core.ts), its transports and its listeners, joined into one running server. It
 * does I/O and no thinking; everything that decides something is in the parts.
 */

import { monitorEventLoopDelay } from "node:perf_hooks";
import type { Env, Kernel, Store } from "@blockyard/kernel";
import { getRequestListener } from "@hono/node-server";
import type { Hono } from "hono";
import type { Auth, Caller } from "../access/auth.ts";
import { localUrl, type Place, urlOf } from "../access/guard.ts";
import { HttpGateway } from "../access/http-gateway.ts";
import { Quotas } from "../access/quotas.ts";
import { type Certificate, readCertificate } from "../config/certificate.ts";
import type { Config } from "../config/config.ts";
import { ExportPool } from "../export/export-pool.ts";
import { removeAddress, writeAddress } from "../system/address-file.ts";
import { nodeEnv } from "../system/env.ts";
import type { Log } from "../system/log.ts";
import { Metrics } from "../system/metrics.ts";
import { OwnerFirst } from "../system/owner-first.ts";
import { Rounds } from "../system/rounds.ts";
import { oneAnswer } from "../system/streamed-answer.ts";
import { VERSION } from "../system/version.ts";
import { Announcer } from "../transports/announcer.ts";
import { JsonParser } from "../transports/json-parser.ts";
import { changedUris, mcpHandler } from "../transports/mcp.ts";
import type { NodeBindings } from "../transports/node-bindings.ts";
import { WsTransport } from "../transports/ws.ts";
import { CallGateway } from "./call-gateway.ts";
import { CallScheduler } from "./call-scheduler.ts";
import { type Core, linkTo, openCore } from "./core.ts";
import { UPKEEP_MS } from "./limits.ts";
import { Listeners } from "./listeners.ts";
import { routesOf } from "./routes.ts";
import { type Part, Shutdown } from "./shutdown.ts";
import type { Tools } from "./tool-table.ts";

export interface Running {
  readonly url: string;
  /** The link that lets the owner's browser in, once. */
  readonly link: string;
  /** Messages for the user about this start, in sentences. */
  readonly notes: readonly string[];
  readonly kernel: Kernel;
  readonly store: Store;
  readonly auth: Auth;
  readonly tools: Tools;
  readonly quotas: Quotas;
  /** All routes, for callers that list them. */
  readonly app: Hono<{ Bindings: NodeBindings }>;
  /** Everything accepted is durable, sockets are closed, files are closed. Returns the parts that failed: normally none. */
  stop(): Promise<readonly Part[]>;
}

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
  const core = await openCore(config, log, env, shutdown);
  const { kernel, store, auth, tools } = core;
  const monitor = startMonitor(kernel, log, shutdown);
  const quotas = new Quotas(env);
  kernel.listen(({ ops }) => {
    monitor.metrics.count("blockyard_ops_total", ops.length);
    quotas.stored(ops);
  });
  const place = placeOf(config, certificate);
  const transports = openTransports(core, monitor, { quotas, place, log, shutdown });
  const app = routesOf({ ...core, ...monitor, ...transports, config });
  const { notes, url } = await listen({ config, certificate, place, shutdown }, core, {
    ...{ app, fault: monitor.fault, ws: transports.ws, httpGateway: transports.httpGateway },
  });
  const stop = () => shutdown.run();
  return { url, link: linkTo(url, auth), notes, kernel, store, auth, tools, quotas, app, stop };
}

/** The metrics and reports of a running server. */
interface Monitor {
  readonly metrics: Metrics;
  readonly lag: ReturnType<typeof monitorEventLoopDelay>;
  readonly fault: (where: string, error: unknown) => void;
}

function startMonitor(kernel: Kernel, log: Log, shutdown: Shutdown): Monitor {
  const metrics = new Metrics();
  const fault = (where: string, error: unknown) => {
    metrics.count("blockyard_faults_total");
    log("error", "internal error", { where, error: String((error as Error)?.stack ?? error) });
  };
  const lag = monitorEventLoopDelay({ resolution: 10 });
  lag.enable();
  kernel.onFault = (error) => fault("listener", error);
  const upkeep = setInterval(
    () => void kernel.maintain().catch((error) => fault("upkeep", error)),
    UPKEEP_MS,
  ).unref();
  shutdown.register("upkeep", () => {
    clearInterval(upkeep);
    lag.disable();
  });
  return { metrics, lag, fault };
}

/** Its address. */
function placeOf(config: Config, certificate: Certificate | undefined): Place {
  const own = { host: config.host, secure: certificate !== undefined, names: certificate?.names ?? [] };
  return { ...own, ...(config.origin === undefined ? {} : { origin: config.origin }) };
}

interface Surroundings {
  readonly quotas: Quotas;
  readonly place: Place;
  readonly log: Log;
  readonly shutdown: Shutdown;
}

/** Every way in: calls go through one gateway, in turns that are fair to all callers. */
function openTransports(
  { kernel, auth, tools, leases }: Core,
  { metrics, fault }: Monitor,
  { quotas, place, log, shutdown }: Surroundings,
) {
  const ownerFirst = new OwnerFirst();
  const scheduler = new CallScheduler(ownerFirst);
  const gateway = new CallGateway({ auth, tools, leases, metrics, log, scheduler, quotas });
  const rounds = new Rounds({ isHeld: () => ownerFirst.isWaiting });
  const ws = new WsTransport({
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
  const { audit } = tools;
  const httpGateway = new HttpGateway({ place, auth, log, onRefused, audit, quotas, rounds, ownerFirst });
  shutdown.register("gateway", () => httpGateway.close());
  leases.present = () => httpGateway.agents();
  const announcer = new Announcer(kernel);
  shutdown.register("announcer", () => announcer.close());
  const mcp = openMcp(tools, gateway, announcer);
  shutdown.register("mcp", () => mcp.handler.close());
  const parser = new JsonParser();
  const exports = new ExportPool();
  shutdown.register("exports", () => exports.close());
  shutdown.register("parser", () => parser.close());
  return { gateway, ws, httpGateway, announcer, mcp, parser, exports };
}

function openMcp(tools: Tools, gateway: CallGateway, announcer: Announcer) {
  const mcp = mcpHandler<Caller>((caller) => ({
    version: VERSION,
    tools: async () => tools.schemasFor(caller),
    call: async (tool, input, signal) =>
      oneAnswer(tool, await gateway.audited(caller, tool, input, undefined, signal), "not over MCP"),
  }));
  announcer.listen((announcement) => {
    for (const uri of changedUris(announcement)) mcp.handler.notify.resourceUpdated(uri);
    if (announcement.isNew) mcp.handler.notify.resourcesChanged();
  });
  return mcp;
}

interface Listening extends Pick<Surroundings, "place" | "shutdown"> {
  readonly config: Config;
  readonly certificate: Certificate | undefined;
}

interface Ways {
  readonly app: Hono<{ Bindings: NodeBindings }>;
  readonly ws: WsTransport;
  readonly httpGateway: HttpGateway;
  readonly fault: Monitor["fault"];
}

/** Opens the ports, and writes down where the server is. */
async function listen(
  { config, certificate, place, shutdown }: Listening,
  { tools }: Core,
  { app, ws, httpGateway, fault }: Ways,
): Promise<{ readonly url: string; readonly notes: readonly string[] }> {
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
  // Before anything is awaited: a client that arrives now, such as a viewer of the previous server, must not
  // be told that it is in the wrong place.
  httpGateway.open(port, localPort);
  const confined = await tools.sandbox.state();
  const unconfined = confined.isChosen
    ? []
    : [`commands are ${confined.words}. Each one needs your approval`];
  const notes = [...opened.notes, ...unconfined];
  const url = urlOf(place, port);
  const { origin: _origin, ...own } = place;
  const local = localPort === undefined ? urlOf(own, port) : localUrl(localPort);
  writeAddress(config.home, { url, local, pid: process.pid, root: config.root });
  shutdown.register("address", () => removeAddress(config.home));
  return { url, notes };
}
