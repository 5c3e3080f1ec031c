/**
 * The HTTP transport: a thin layer over the tool table. The guard has already authenticated the caller (see serve.ts); here a request
 * becomes a tool call, and a problem a status code. Routes contain no logic.
 */

import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { isProblem, type Json, type JsonObject, type Problem, problem, problemOf } from "@blockyard/kernel";
import { type Context, Hono } from "hono";
import type { Caller } from "../access/auth.ts";
import type { Download } from "../export/export-file.ts";
import { FORMATS, type Format, isFormat } from "../export/format.ts";
import { PICTURE_BYTES } from "../ingest/limits.ts";
import { isStreamed, type ToolAnswer } from "../system/streamed-answer.ts";
import { answer, encodedAnswer } from "./answer.ts";
import { Bodies, bodyOf, mcpBytes } from "./bodies.ts";
import { type EventQuery, eventQuery } from "./events.ts";
import { bounds } from "./limits.ts";
import type { NodeBindings } from "./node-bindings.ts";
import type { PageFiles } from "./page.ts";

export interface HttpOptions {
  readonly callerOf: (request: IncomingMessage) => Caller;
  /** The same for a tool's call, with what its page has signed of it. */
  readonly callerWith: (request: IncomingMessage, tool: string, body: Uint8Array) => Caller;
  readonly call: (
    caller: Caller,
    tool: string,
    input: unknown,
    key?: string,
    signal?: AbortSignal,
  ) => Promise<ToolAnswer>;
  /** A long answer as JSON, made in turn. */
  readonly sliced: (caller: Caller, answer: Json | Problem) => Promise<Uint8Array | undefined>;
  /** How long a caller's input of a tool may be, or why it would be refused whatever it says. */
  readonly callBytes: (caller: Caller, tool: string) => number | Problem;
  /** Why a caller may not write at all, and what is not asked of a tool is refused with. */
  readonly mayWrite: (caller: Caller) => Problem | undefined;
  readonly parse: (caller: Caller, bytes: Uint8Array) => Promise<{ readonly json: unknown } | Problem>;
  /** Those that the caller may call. */
  readonly tools: (caller: Caller) => Json;
  readonly page: PageFiles;
  /** Those of the page's session. */
  readonly addRoutes: (app: App) => void;
  readonly health: () => Promise<{ readonly ok: boolean } & JsonObject>;
  readonly metrics: () => string;
  readonly ingest: (
    caller: Caller,
    query: Readonly<Record<string, string>>,
    body: ReadableStream<Uint8Array>,
  ) => Promise<Json | Problem>;
  /** A body of JSON lines, an export or a session log, into a conversation. */
  readonly import: (caller: Caller, body: ReadableStream<Uint8Array>) => Promise<Json | Problem>;
  readonly export: (
    caller: Caller,
    conversation: string,
    format: Format,
    redact: boolean,
  ) => Promise<Download | Problem>;
  readonly events: (
    caller: Caller,
    conversation: string,
    query: EventQuery,
  ) => Promise<ReadableStream<Uint8Array> | Problem>;
  /** Which conversations and blocks change, as server-sent events. */
  readonly changes: () => ReadableStream<Uint8Array>;
  /** Why a caller may not speak MCP. */
  readonly mayUseMcp: (caller: Caller) => Problem | undefined;
  readonly mcp: (request: Request, caller: Caller, body?: unknown) => Promise<Response>;
  /** Told what went wrong inside; the client only learns that it did. */
  readonly onFault: (where: string, error: unknown) => void;
  /** Keeps a picture; where it then is. */
  readonly keep: (caller: Caller, bytes: Uint8Array) => Promise<Json | Problem>;
  readonly blob: (
    hash: string,
  ) => Promise<{ readonly mediaType: string; readonly bytes: Uint8Array } | undefined>;
}

type Asked = Context<{ Bindings: NodeBindings }>;
type App = Hono<{ Bindings: NodeBindings }>;

export function httpApp(options: HttpOptions): App {
  const app: App = new Hono();
  const call: CallTool = (context, tool, input, by) => callTool(options, context, tool, input, by);
  const bodies = new Bodies(options);
  addToolRoutes(app, options, bodies, call);
  addReadRoutes(app, call);
  addEventRoutes(app, options);
  addMcpRoutes(app, options, bodies);
  addTransferRoutes(app, options);
  addBlobRoutes(app, options, bodies);
  app.get("/health", async (context) => {
    const health = await options.health();
    return context.json(health, health.ok ? 200 : 503);
  });
  app.get("/metrics", (context) => context.text(options.metrics()));
  options.addRoutes(app);
  app.get("/v1/*", (context) => context.notFound());
  app.get("/*", (context) => pageResponse(options.page, context.req.path));
  app.notFound((context) =>
    answer(context, problem("not_found", `no route ${context.req.method} ${context.req.path}`)),
  );
  app.onError((error, context) => {
    if (isBrokenOff(error, context.env.incoming))
      return answer(context, problem("unavailable", "the request was aborted"));
    options.onFault(`${context.req.method} ${context.req.routePath}`, error);
    return answer(context, problem("unavailable", "internal error; see the server's log"));
  });
  return app;
}

type CallTool = (context: Asked, tool: string, input: unknown, by?: Caller) => Promise<Response>;

async function callTool(
  options: HttpOptions,
  context: Asked,
  tool: string,
  input: unknown,
  by: Caller | undefined,
): Promise<Response> {
  const key = context.req.header("idempotency-key");
  if (key !== undefined && !/^[\x21-\x7e]{1,200}$/.test(key))
    return answer(context, problem("invalid", "idempotency-key must be 1 to 200 visible characters"));
  const gone = new AbortController();
  context.env.outgoing.once("close", () => gone.abort());
  const caller = by ?? options.callerOf(context.env.incoming);
  const said = await options.call(caller, tool, input, key, gone.signal);
  if (isStreamed(said)) return lines(said.stream);
  const sliced = await options.sliced(caller, said);
  return sliced ? encodedAnswer(context, said, sliced) : answer(context, said);
}

function addToolRoutes(app: App, options: HttpOptions, bodies: Bodies, call: CallTool): void {
  app.get("/v1/tools", (context) =>
    context.json(options.tools(options.callerOf(context.env.incoming)) as object),
  );
  app.post("/v1/tools/:name", (context) => {
    const tool = context.req.param("name");
    const maxBytes = options.callBytes(options.callerOf(context.env.incoming), tool);
    return bodies.read(context, maxBytes, async (bytes, caller) => {
      const input = await options.parse(caller, bytes);
      if (isProblem(input)) return answer(context, input);
      return call(context, tool, input.json, options.callerWith(context.env.incoming, tool, bytes));
    });
  });
  app.all("/v1/tools/:name", (context) => {
    context.header("allow", "POST");
    return context.json(problem("invalid", "call a tool with POST and its input as the body"), 405);
  });
}

/** What some tools answer, at addresses of their own. */
function addReadRoutes(app: App, call: CallTool): void {
  app.get("/v1/conversations", (context) => call(context, "conversation.list", {}));
  app.get("/v1/conversations/:id", (context) =>
    call(context, "conversation.read", { conversation: context.req.param("id") }),
  );
  app.get("/v1/blocks/:conversation/:agent/:seq", (context) => {
    const { conversation, agent, seq } = context.req.param();
    return call(context, "block.read", { block_id: `${conversation}/${agent}/${seq}`, line_numbers: false });
  });
  // The same id as one part of the address, its slashes escaped.
  app.get("/v1/blocks/:id", (context) =>
    call(context, "block.read", { block_id: context.req.param("id"), line_numbers: false }),
  );
}

function addEventRoutes(app: App, options: HttpOptions): void {
  app.get("/v1/conversations/:id/events", async (context) => {
    const query = eventQuery(context.req.query(), context.req.header("last-event-id"));
    if (isProblem(query)) return answer(context, query);
    const stream = await options.events(
      options.callerOf(context.env.incoming),
      context.req.param("id"),
      query,
    );
    return isProblem(stream) ? answer(context, stream) : sse(stream);
  });
  app.get("/v1/changes", () => sse(options.changes()));
}

function addMcpRoutes(app: App, options: HttpOptions, bodies: Bodies): void {
  app.use("/mcp", async (context, next) => {
    const refused = options.mayUseMcp(options.callerOf(context.env.incoming));
    return refused ? answer(context, refused) : next();
  });
  app.post("/mcp", (context) => {
    const maxBytes = mcpBytes(options.callerOf(context.env.incoming));
    return bodies.read(context, maxBytes, async (bytes, caller) => {
      const body = await options.parse(caller, bytes);
      if (isProblem(body)) return notJsonRpc(body);
      const refused = bodies.tooLong(caller, body.json, bytes.length);
      return refused ? answer(context, refused) : options.mcp(context.req.raw, caller, body.json);
    });
  });
  app.all("/mcp", (context) => options.mcp(context.req.raw, options.callerOf(context.env.incoming)));
}

/** Streams and sessions in, conversations out. */
function addTransferRoutes(app: App, options: HttpOptions): void {
  app.post("/v1/ingest", async (context) => {
    const caller = options.callerOf(context.env.incoming);
    return answer(context, await options.ingest(caller, context.req.query(), bodyOf(context)));
  });
  app.post("/v1/import", async (context) =>
    answer(context, await options.import(options.callerOf(context.env.incoming), bodyOf(context))),
  );
  app.get("/v1/conversations/:id/export", async (context) => {
    const format = context.req.query("format") ?? "jsonl";
    if (!isFormat(format))
      return answer(context, problem("invalid", `format must be one of ${FORMATS.join(", ")}`));
    const redact = context.req.query("redact") === "true";
    const caller = options.callerOf(context.env.incoming);
    const found = await options.export(caller, context.req.param("id"), format, redact);
    return isProblem(found) ? answer(context, found) : download(found);
  });
}

function addBlobRoutes(app: App, options: HttpOptions, bodies: Bodies): void {
  app.post("/v1/blobs", (context) => {
    const refused = options.mayWrite(options.callerOf(context.env.incoming));
    return bodies.read(context, refused ?? PICTURE_BYTES, async (bytes, caller) =>
      answer(context, await options.keep(caller, bytes)),
    );
  });
  app.get("/v1/blobs/:hash", async (context) => {
    const blob = await options.blob(context.req.param("hash"));
    if (!blob) return answer(context, problem("not_found", "no such blob"));
    return blobResponse(blob);
  });
}

/** Only pictures are shown as what they are; everything else is a download. */
function blobResponse({
  mediaType,
  bytes,
}: {
  readonly mediaType: string;
  readonly bytes: Uint8Array;
}): Response {
  const inline = /^image\/(png|jpeg|gif|webp|avif)$/.test(mediaType);
  return new Response(bytes.slice(), {
    headers: {
      "content-type": inline ? mediaType : "application/octet-stream",
      "content-disposition": inline ? "inline" : "attachment",
      "cache-control": "private, max-age=31536000, immutable",
    },
  });
}

/** Whoever hangs up in the middle of a request is no fault of ours. */
function isBrokenOff(error: NodeJS.ErrnoException, incoming: IncomingMessage): boolean {
  return error.code === "ECONNRESET" && incoming.destroyed && !incoming.complete;
}

/** Always a file to keep, never a page of this server's: what agents wrote must not run here. */
function download({ name, mediaType, body }: Download): Response {
  return new Response(Readable.toWeb(Readable.from(bytesOf(body))) as ReadableStream<Uint8Array>, {
    headers: {
      "content-type": mediaType,
      "content-disposition": `attachment; filename="${name}"`,
      "cache-control": "no-store",
    },
  });
}

async function* bytesOf(body: AsyncIterable<string | Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const piece of body) yield typeof piece === "string" ? Buffer.from(piece) : piece;
}

/**
 * Lines of JSON, made as they are read: who reads slowly makes the tool wait. A problem is the last line. While there is
 * nothing to say, an empty line is sent from time to time.
 */
function lines(stream: AsyncIterable<unknown>): Response {
  const iterator = stream[Symbol.asyncIterator]();
  const line = (value: unknown) => Buffer.from(`${JSON.stringify(value)}\n`);
  let keepAlive: NodeJS.Timeout | undefined;
  const end = (controller: ReadableStreamDefaultController<Uint8Array>) => {
    clearInterval(keepAlive);
    controller.close();
  };
  const body = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const beat = () => {
          if ((controller.desiredSize ?? 0) >= 0) controller.enqueue(Buffer.from("\n")); // nothing else waits
        };
        keepAlive = setInterval(beat, bounds.keepAliveMs).unref();
      },
      async pull(controller) {
        try {
          const next = await iterator.next();
          if (next.done) return end(controller);
          controller.enqueue(line(next.value));
          keepAlive?.refresh();
        } catch (error) {
          controller.enqueue(line(problemOf(error)));
          end(controller);
        }
      },
      async cancel() {
        clearInterval(keepAlive);
        await iterator.return?.();
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(body, {
    headers: { "content-type": "application/x-ndjson", "cache-control": "no-store" },
  });
}

function sse(stream: ReadableStream<Uint8Array>): Response {
  return new Response(stream, {
    headers: { "content-type": "text/event-stream", "cache-control": "no-store" },
  });
}

function notJsonRpc({ message }: Problem): Response {
  return Response.json({ jsonrpc: "2.0", id: null, error: { code: -32700, message } }, { status: 400 });
}

function pageResponse(page: PageFiles, path: string): Response {
  const file = page.file(path);
  if (!file) return Response.json(problem("not_found", `no page ${path}`), { status: 404 });
  return new Response(file.bytes.slice(), {
    headers: {
      "content-type": file.mediaType,
      "cache-control": file.immutable ? "private, max-age=31536000, immutable" : "no-cache",
      ...(file.policy === undefined ? {} : { "content-security-policy": file.policy }),
    },
  });
}
