/**
 * The HTTP face: thin over the one tool table. The guard has let the caller in already (see serve.ts); here a request
 * becomes a tool call and a problem becomes a status code. No route thinks for itself.
 */

import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import {
  isProblem,
  type Json,
  type JsonObject,
  type Problem,
  type ProblemCode,
  problem,
  problemOf,
  type Streamed,
} from "@blockyard/kernel";
import { type Context, Hono, type MiddlewareHandler } from "hono";
import type { Caller } from "../auth.ts";
import { FORMATS, type Format, isFormat } from "../export/export.ts";
import { PICTURE_BYTES } from "../pictures.ts";
import { parseStrict } from "../strict-json.ts";
import { BodyBudget } from "./body-budget.ts";
import { bounds } from "./bounds.ts";
import { type EventQuery, eventQuery } from "./events.ts";
import type { PageFiles } from "./page.ts";

export interface NodeBindings {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
}

export interface HttpOptions {
  readonly callerOf: (request: IncomingMessage) => Caller;
  readonly call: (
    caller: Caller,
    tool: string,
    input: unknown,
    key?: string,
    signal?: AbortSignal,
  ) => Promise<Json | Problem>;
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
  readonly events: (conversation: string, query: EventQuery) => Promise<ReadableStream<Uint8Array> | Problem>;
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

export interface Download {
  readonly name: string;
  readonly mediaType: string;
  readonly body: AsyncIterable<string | Uint8Array>;
}

const MAX_BODY = 64 * 1024 * 1024;
const MAX_MCP_BODY = 8 * 1024 * 1024;
/** Of all bodies of one caller that are under way. */
const MAX_BODIES = 512 * 1024 * 1024;

const STATUS: Partial<Record<ProblemCode, number>> = {
  unknown_tool: 404,
  not_found: 404,
  forbidden: 403,
  mismatch: 409,
  stale: 409,
  conflict: 409,
  closed: 409,
  transition: 409,
  overlap: 409,
  nothing: 409,
  gone: 410,
  too_large: 413,
  timeout: 408,
  busy: 429,
  storage: 507,
  uncertain: 504,
  unavailable: 503,
};

function statusOf({ problem: code, details }: Problem): number {
  // A patch that cannot be read is the caller's mistake; one that does not fit is a conflict with what is there.
  if (code === "patch" && details?.["errors"] !== undefined) return 409;
  return STATUS[code] ?? 400;
}

export type App = Hono<{ Bindings: NodeBindings }>;

export function httpApp(options: HttpOptions): App {
  const app: App = new Hono();
  const call = async (context: Context<{ Bindings: NodeBindings }>, tool: string, input: unknown) => {
    const key = context.req.header("idempotency-key");
    if (key !== undefined && !/^[\x21-\x7e]{1,200}$/.test(key))
      return answer(context, problem("invalid", "an idempotency-key has 1 to 200 visible ASCII characters"));
    const gone = new AbortController();
    context.env.outgoing.once("close", () => gone.abort());
    const caller = options.callerOf(context.env.incoming);
    const said = await options.call(caller, tool, input, key, gone.signal);
    return isStreamed(said) ? lines(said.stream) : answer(context, said);
  };

  const budget = new BodyBudget(MAX_BODIES);
  const held = (maxSize: number): MiddlewareHandler<{ Bindings: NodeBindings }> => {
    return async (context, next) => {
      const { incoming } = context.env;
      const { agent, role } = options.callerOf(incoming);
      const giveBack = budget.take(`${role} ${agent}`, incoming, maxSize);
      if (!giveBack)
        return answer(context, problem("busy", "too much of what you send is under way; try again"));
      return next().finally(giveBack);
    };
  };

  app.get("/v1/tools", (context) =>
    context.json(options.tools(options.callerOf(context.env.incoming)) as object),
  );
  app.post("/v1/tools/:name", held(MAX_BODY), async (context) => {
    const input = await readJson(context, MAX_BODY);
    return isProblem(input) ? answer(context, input) : call(context, context.req.param("name"), input.json);
  });
  app.all("/v1/tools/:name", (context) => {
    context.header("allow", "POST");
    return context.json(problem("invalid", "a tool is called with POST, its input as the body"), 405);
  });
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
  app.get("/v1/conversations/:id/events", async (context) => {
    const query = eventQuery(context.req.query(), context.req.header("last-event-id"));
    if (isProblem(query)) return answer(context, query);
    const stream = await options.events(context.req.param("id"), query);
    return isProblem(stream) ? answer(context, stream) : sse(stream);
  });
  app.get("/v1/changes", () => sse(options.changes()));
  app.use("/mcp", async (context, next) => {
    const refused = options.mayUseMcp(options.callerOf(context.env.incoming));
    return refused ? answer(context, refused) : next();
  });
  app.post("/mcp", held(MAX_MCP_BODY), async (context) => {
    const caller = options.callerOf(context.env.incoming);
    const text = await readText(context, MAX_MCP_BODY);
    if (isProblem(text)) return answer(context, text);
    const body = parseStrict(text);
    return isProblem(body) ? notJsonRpc(body) : options.mcp(context.req.raw, caller, body.json);
  });
  app.all("/mcp", (context) => options.mcp(context.req.raw, options.callerOf(context.env.incoming)));
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
      return answer(context, problem("invalid", `no format ${format.slice(0, 40)}: ${FORMATS.join(", ")}`));
    const redact = context.req.query("redact") === "true";
    const caller = options.callerOf(context.env.incoming);
    const found = await options.export(caller, context.req.param("id"), format, redact);
    return isProblem(found) ? answer(context, found) : download(found);
  });
  app.post("/v1/blobs", held(PICTURE_BYTES), async (context) => {
    const bytes = await readBytes(context, PICTURE_BYTES);
    if (isProblem(bytes)) return answer(context, bytes);
    return answer(context, await options.keep(options.callerOf(context.env.incoming), bytes));
  });
  app.get("/v1/blobs/:hash", async (context) => {
    const blob = await options.blob(context.req.param("hash"));
    if (!blob) return answer(context, problem("not_found", "no such blob"));
    // Only pictures are shown as what they are; everything else is a download.
    const inline = /^image\/(png|jpeg|gif|webp|avif)$/.test(blob.mediaType);
    return new Response(blob.bytes.slice(), {
      headers: {
        "content-type": inline ? blob.mediaType : "application/octet-stream",
        "content-disposition": inline ? "inline" : "attachment",
        "cache-control": "private, max-age=31536000, immutable",
      },
    });
  });
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
      return answer(context, problem("unavailable", "the request broke off"));
    options.onFault(`${context.req.method} ${context.req.routePath}`, error);
    return answer(context, problem("unavailable", "internal error; the server's log has it"));
  });
  return app;
}

/** Whoever hangs up in the middle of a request is no fault of ours. */
function isBrokenOff(error: NodeJS.ErrnoException, incoming: IncomingMessage): boolean {
  return error.code === "ECONNRESET" && incoming.destroyed && !incoming.complete;
}

function bodyOf(context: Context): ReadableStream<Uint8Array> {
  return context.req.raw.body ?? new ReadableStream<Uint8Array>({ start: (end) => end.close() });
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
 * A body, as long as it may be, whether it says its length or comes in pieces. Nothing behind the bound is read.
 */
async function readBytes(context: Context, maxBytes: number): Promise<Uint8Array | Problem> {
  const tooLarge = problem("too_large", `a request may have ${maxBytes} bytes`, { max_bytes: maxBytes });
  if (Number(context.req.header("content-length") ?? 0) > maxBytes) return tooLarge;
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of bodyOf(context)) {
    bytes += piece.length;
    if (bytes > maxBytes) return tooLarge;
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

async function readText(context: Context, maxBytes: number): Promise<string | Problem> {
  const bytes = await readBytes(context, maxBytes);
  return isProblem(bytes) ? bytes : new TextDecoder().decode(bytes);
}

/** The answer of a tool that streams. */
export function isStreamed(value: unknown): value is Streamed<unknown> {
  const { stream } = (value ?? {}) as { stream?: unknown };
  return typeof stream === "object" && stream !== null && Symbol.asyncIterator in stream;
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

export function answer(context: Context, value: Json | Problem): Response {
  if (!isProblem(value)) return context.json(value as object);
  return context.json(value, statusOf(value) as 400);
}

export async function readJson(
  context: Context,
  maxBytes: number,
): Promise<{ readonly json: unknown } | Problem> {
  const text = await readText(context, maxBytes);
  if (isProblem(text)) return text;
  return text.trim() === "" ? { json: {} } : parseStrict(text);
}

function pageResponse(page: PageFiles, path: string): Response {
  const file = page.file(path);
  if (!file) return Response.json(problem("not_found", `no page ${path}`), { status: 404 });
  return new Response(file.bytes.slice(), {
    headers: {
      "content-type": file.mediaType,
      "cache-control": file.immutable ? "private, max-age=31536000, immutable" : "no-cache",
    },
  });
}
