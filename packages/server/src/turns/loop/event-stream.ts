/**
 * A request to a provider's API that is answered with server-sent events, over `fetch`. Events come out as the provider sent
 * them; nothing is accumulated and nothing is tried again. Errors are thrown as `ApiError` (an answer or an event that says
 * so) or `ApiConnectionError` (no answer); a connection that breaks in mid-stream throws what Node throws.
 */
import type { Json } from "@blockyard/kernel";
import { END_MARKER, LineReader, parseJson, type SseItem, SseReader } from "@blockyard/providers";
import { bounds } from "./limits.ts";

interface StreamRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: object;
  readonly signal: AbortSignal;
}

/** What the provider refused or could not do. `error` is its answer, as JSON where it is that. */
export class ApiError extends Error {
  readonly status: number | undefined;
  readonly headers: Headers;
  readonly error: unknown;

  constructor(status: number | undefined, error: unknown, headers: Headers) {
    const said = typeof error === "string" && error !== "" ? `: ${error}` : "";
    super(
      status === undefined ? `The answer ended in an error${said}` : `The provider answered ${status}${said}`,
    );
    this.status = status;
    this.error = error;
    this.headers = headers;
  }
}

/** The provider was not reached; the cause says why. */
export class ApiConnectionError extends Error {}

export async function* eventStream({ url, headers, body, signal }: StreamRequest): AsyncIterable<Json> {
  const response = await send(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "text/event-stream",
      "user-agent": "blockyard",
      ...headers,
    },
    body: JSON.stringify(body),
    signal,
  });
  if (!response.ok || response.body === null)
    throw new ApiError(response.status, await errorOf(response), response.headers);
  for await (const item of itemsOf(response.body)) {
    if ("stray" in item || item.event === "ping" || item.data === "") continue;
    if (item.data === END_MARKER) return;
    const event = parseJson(item.data);
    if (event === undefined) {
      if (item.torn) return; // the connection ended inside of an event: the adapter closes what is open
      throw new SyntaxError("An event of the response is not JSON");
    }
    if (item.event === "error" || hasError(event)) throw new ApiError(undefined, event, response.headers);
    yield event;
  }
}

/** Headers that a user sets in the environment, one `Name: value` on each line. */
export function customHeaders(lines: string | undefined): Record<string, string> {
  const named = (lines ?? "").split("\n").flatMap((line): [string, string][] => {
    const at = line.indexOf(":");
    return at > 0 ? [[line.slice(0, at).trim().toLowerCase(), line.slice(at + 1).trim()]] : [];
  });
  return Object.fromEntries(named);
}

async function send(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw new ApiConnectionError("The provider cannot be reached", { cause: error });
  }
}

/** Of an answer that is an error: its JSON, or the beginning of its text. */
async function errorOf({ body }: Response): Promise<unknown> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > bounds.errorBytes) break;
  }
  return parseJson(text) ?? text.trim().slice(0, bounds.errorChars);
}

async function* itemsOf(body: ReadableStream<Uint8Array>): AsyncIterable<SseItem> {
  const lines = new LineReader({ splitsAtCr: true });
  const events = new SseReader();
  for await (const chunk of body)
    for (const line of lines.push(chunk)) {
      const item = events.push(line);
      if (item !== undefined) yield item;
    }
  for (const line of lines.end()) {
    const item = events.push(line);
    if (item !== undefined) yield item;
  }
  const last = events.end();
  if (last !== undefined) yield last;
}

/** As servers of Chat Completions say it in mid-stream. */
function hasError(event: Json): boolean {
  return typeof event === "object" && event !== null && "error" in event && Boolean(event["error"]);
}
