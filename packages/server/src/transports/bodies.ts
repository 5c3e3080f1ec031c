/**
 * Bodies of HTTP requests. A body is read only after its caller, its permission and its maximum size are known, and never beyond
 * that size.
 */

import type { IncomingMessage } from "node:http";
import { isProblem, limits, may, type Problem, problem } from "@blockyard/kernel";
import type { Context } from "hono";
import type { Caller } from "../access/auth.ts";
import { answer } from "./answer.ts";
import { BodyBudget } from "./body-budget.ts";
import { ENVELOPE_BYTES } from "./limits.ts";
import type { NodeContext } from "./node-bindings.ts";
import { type Parsed, parseBytes } from "./strict-json.ts";

interface BodyOptions {
  readonly callerOf: (request: IncomingMessage) => Caller;
  /** How long a caller's input of a tool may be, or why it would be refused whatever it says. */
  readonly callBytes: (caller: Caller, tool: string) => number | Problem;
}

export class Bodies {
  readonly #options: BodyOptions;
  readonly #budget = new BodyBudget();

  constructor(options: BodyOptions) {
    this.#options = options;
  }

  /** `maxBytes`: how much may come, or why nothing may. */
  async read(
    context: NodeContext,
    maxBytes: number | Problem,
    take: (bytes: Uint8Array, caller: Caller) => Promise<Response>,
  ): Promise<Response> {
    const { incoming } = context.env;
    const caller = this.#options.callerOf(incoming);
    if (isProblem(maxBytes)) return answer(context, maxBytes);
    const giveBack = this.#budget.take(caller, incoming, maxBytes);
    if (!giveBack)
      return answer(context, problem("busy", "too many of your uploads are in progress; try again"));
    try {
      const bytes = await readBytes(context, maxBytes);
      return isProblem(bytes) ? answer(context, bytes) : await take(bytes, caller);
    } finally {
      giveBack();
    }
  }

  /** A message of MCP names its tools inside: several calls in one body have the bound of the shortest. */
  tooLong(caller: Caller, body: unknown, bytes: number): Problem | undefined {
    if (bytes <= limits.callBytes) return undefined;
    for (const name of toolsIn(body)) {
      const maxBytes = this.#options.callBytes(caller, name);
      if (!isProblem(maxBytes) && bytes > maxBytes + ENVELOPE_BYTES) return tooLarge(maxBytes);
    }
    return undefined;
  }
}

/** A short body of a route that anybody may reach. */
export async function readJson(context: Context, maxBytes: number): Promise<Parsed> {
  const bytes = await readBytes(context, maxBytes);
  return isProblem(bytes) ? bytes : parseBytes(bytes);
}

/** Of a message of MCP, whichever tool it names. */
export function mcpBytes({ role }: Caller): number {
  return (may(role, "write") ? limits.textCallBytes : limits.callBytes) + ENVELOPE_BYTES;
}

export function bodyOf(context: Context): ReadableStream<Uint8Array> {
  return context.req.raw.body ?? new ReadableStream<Uint8Array>({ start: (end) => end.close() });
}

/**
 * A body, as long as it may be, whether it says its length or comes in pieces. Nothing behind the bound is read.
 */
async function readBytes(context: Context, maxBytes: number): Promise<Uint8Array | Problem> {
  if (Number(context.req.header("content-length") ?? 0) > maxBytes) return tooLarge(maxBytes);
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of bodyOf(context)) {
    bytes += piece.length;
    if (bytes > maxBytes) return tooLarge(maxBytes);
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

function tooLarge(maxBytes: number): Problem {
  return problem("too_large", `this request is limited to ${maxBytes} bytes`, { max_bytes: maxBytes });
}

/** The names of the tools that a message of MCP calls. */
function toolsIn(body: unknown): readonly string[] {
  return (Array.isArray(body) ? body : [body]).flatMap((message) => {
    const { method, params } = (message ?? {}) as { method?: unknown; params?: { name?: unknown } };
    return method === "tools/call" && typeof params?.name === "string" ? [params.name] : [];
  });
}
