/** The routes over HTTP, each joined to the part that answers it. What a route does is transports/http.ts and those parts. */

import type { monitorEventLoopDelay } from "node:perf_hooks";
import { type Json, mayNot, type Problem, problem, type Store, StoreError } from "@blockyard/kernel";
import type { Hono } from "hono";
import type { Caller } from "../access/auth.ts";
import type { HttpGateway } from "../access/http-gateway.ts";
import type { Config } from "../config/config.ts";
import { exportFile } from "../export/export-file.ts";
import type { ExportPool } from "../export/export-pool.ts";
import { auditedImport } from "../import/import-stream.ts";
import { ingestStream } from "../ingest/ingest-stream.ts";
import { keepPicture } from "../ingest/pictures.ts";
import { redactBody } from "../ingest/redact-body.ts";
import type { Metrics } from "../system/metrics.ts";
import { VERSION } from "../system/version.ts";
import type { Announcer } from "../transports/announcer.ts";
import { eventStream, SseStream } from "../transports/events.ts";
import { type HttpOptions, httpApp } from "../transports/http.ts";
import type { JsonParser } from "../transports/json-parser.ts";
import { type mcpHandler, refuseOwner } from "../transports/mcp.ts";
import type { NodeBindings } from "../transports/node-bindings.ts";
import { DIST, pageFiles } from "../transports/page.ts";
import { sessionRoutes } from "../transports/page-session.ts";
import type { WsTransport } from "../transports/ws.ts";
import { gitBranch } from "../trust/git-branch.ts";
import type { CallGateway } from "./call-gateway.ts";
import type { Core } from "./core.ts";

interface RouteParts extends Core {
  readonly config: Config;
  readonly gateway: CallGateway;
  readonly httpGateway: HttpGateway;
  readonly ws: WsTransport;
  readonly mcp: ReturnType<typeof mcpHandler<Caller>>;
  readonly announcer: Announcer;
  readonly metrics: Metrics;
  readonly parser: JsonParser;
  readonly exports: ExportPool;
  readonly lag: ReturnType<typeof monitorEventLoopDelay>;
  readonly fault: (where: string, error: unknown) => void;
}

export function routesOf(parts: RouteParts): Hono<{ Bindings: NodeBindings }> {
  return httpApp({
    ...callRoutes(parts),
    ...stateRoutes(parts),
    ...bodyRoutes(parts),
    ...feedRoutes(parts),
    page: pageFiles(DIST),
    onFault: parts.fault,
  });
}

/** Authentication, and calls of tools. */
function callRoutes({ auth, tools, gateway, httpGateway, parser }: RouteParts) {
  return {
    callerOf: (request) => httpGateway.callerOf(request),
    callerWith: (...call) => httpGateway.callerWith(...call),
    call: (...call) => gateway.audited(...call),
    sliced: (caller, answer) => gateway.sliced(caller, answer),
    tools: (caller) => tools.schemasFor(caller),
    callBytes: (caller, tool) => gateway.callBytes(caller, tool),
    mayWrite: (caller) => gateway.refusedWith(caller, mayNot(caller.role, "upload")),
    parse: (caller, bytes) => parser.parse(bytes, caller.role === "owner"),
    addRoutes: (routes) =>
      sessionRoutes(
        routes,
        auth,
        ({ env: { incoming } }) => httpGateway.session(incoming),
        ({ env: { incoming } }) => notForTokens(gateway, httpGateway.callerOf(incoming)),
      ),
  } satisfies Partial<HttpOptions>;
}

/** How the server is. */
function stateRoutes({ config, store, nodes, tools, gateway, ws, metrics, lag }: RouteParts) {
  return {
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
  } satisfies Partial<HttpOptions>;
}

/** Uploads and downloads of whole bodies. */
function bodyRoutes({ config, store, kernel, tools, gateway, exports }: RouteParts) {
  const incoming = (body: ReadableStream<Uint8Array>) => (config.redactIngest ? redactBody(body) : body);
  return {
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
    keep: async (caller, bytes) =>
      (await gateway.kept(caller, bytes.length, () => keepPicture(store, bytes))) as Json | Problem,
    blob: (hash) => store.blob(hash),
  } satisfies Partial<HttpOptions>;
}

/** Event streams, and the transport for models. */
function feedRoutes({ tools, gateway, announcer, mcp }: RouteParts) {
  return {
    events: (caller, conversation, query) =>
      eventStream(tools.kernelFor(caller), conversation, query, () => gateway.rest(caller)),
    changes: () => announcements(announcer),
    mayUseMcp: (caller) => gateway.refusedWith(caller, refuseOwner(caller.role)),
    mcp: (request, caller, body) => mcp.fetch(request, caller, body),
  } satisfies Partial<HttpOptions>;
}

/** A session is a browser's: a token has nothing to prove there. */
function notForTokens(gateway: CallGateway, caller: Caller): Problem | undefined {
  const refused = caller.by === "token" ? problem("forbidden", "sessions are for browsers") : undefined;
  return gateway.refusedWith(caller, refused);
}

/** A server whose database does not answer reports that it is unhealthy, so a load balancer can skip it. */
async function storeHealth(store: Store): Promise<{ ok: boolean; database?: string }> {
  try {
    await store.check?.();
    return { ok: true };
  } catch (error) {
    return { ok: false, database: error instanceof StoreError ? error.message : "internal error" };
  }
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
