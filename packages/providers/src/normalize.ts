/**
 * From bytes to block events: framing, parsing and adapter joined, for one run of one provider.
 *
 * The result depends on the bytes only, never on how they were cut into chunks. Every line that comes in also goes out
 * by `raw`, as it came, so that a run can be normalized again from its stored lines: joined with `\n` they give the
 * same events.
 */

import type { BlockEvent, Json, JsonObject } from "@blockyard/kernel";
import type { Before } from "./adapter.ts";
import { bounded } from "./bounded.ts";
import { Fold, type Folded } from "./fold.ts";
import { DocumentReader } from "./framing/documents.ts";
import { isObject, parseText } from "./framing/json.ts";
import { type Line, LineReader } from "./framing/lines.ts";
import { END_MARKER, type SseItem, SseReader } from "./framing/sse.ts";
import { BATCH_EVENTS, SHORT_BATCH_CHARS } from "./limits.ts";
import type { Provider } from "./registry.ts";
import { Repeats } from "./repeats.ts";

interface NormalizeOptions {
  /** Prefix of the block keys. */
  readonly run?: string;
  /** The session's counters before this run, if it resumes one. */
  readonly before?: Before;
  /** Called with every line, before its events are returned. */
  readonly raw?: (line: string) => void;
}

/** The stream's framing: decided by its first non-blank line, permanently. */
type Shape = "undecided" | "lines" | "sse";

/** A line that is no event. */
class Noise {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export class Normalizer {
  readonly #provider: Provider;
  readonly #raw: ((line: string) => void) | undefined;
  readonly #lines: LineReader;
  readonly #sse = new SseReader();
  #shape: Shape = "undecided";
  readonly #documents = new DocumentReader();
  #state: unknown;
  #out: BlockEvent[] = [];
  readonly #repeats = new Repeats();
  #torn: string | undefined;
  /** Parsed, but not yet processed by the adapter. */
  #waiting: (Json | Noise)[] = [];
  #waitingChars = 0;

  constructor(provider: Provider, options: NormalizeOptions = {}) {
    this.#provider = provider;
    this.#raw = options.raw;
    this.#lines = new LineReader({ splitsAtCr: provider.framing === "sse" });
    this.#state = provider.adapter.start(options.run ?? "run", options.before);
  }

  /** A last line that the stream was cut in, if it was; it is no event. */
  get torn(): string | undefined {
    return this.#torn;
  }

  push(bytes: Uint8Array): BlockEvent[] {
    for (const line of this.#lines.push(bytes)) this.#line(line);
    this.#notify();
    return this.#take();
  }

  /** The stream is over: closes all open blocks. */
  end(): BlockEvent[] {
    for (const line of this.#lines.end()) this.#line(line);
    if (this.#shape === "sse") this.#item(this.#sse.end());
    this.#torn = this.#salvage(this.#documents.end()) ?? this.#torn;
    this.#notify();
    this.#give(this.#provider.adapter.end(this.#state), false);
    this.#repeats.end(this.#out);
    return this.#take();
  }

  #take(): BlockEvent[] {
    const out = this.#out;
    this.#out = [];
    return out;
  }

  #line(line: Line): void {
    if (this.#shape === "undecided") {
      if (isBlank(line.text)) return;
      this.#shape = shapeOf(line.text, this.#provider.framing);
    }
    if (this.#shape === "sse") {
      this.#raw?.(line.text);
      this.#item(this.#sse.push(line));
      return;
    }
    if (isBlank(line.text)) return;
    this.#raw?.(line.text);
    if (line.omittedBytes > 0) return this.#textLine(line);
    for (const found of this.#documents.push(line.text)) {
      if ("line" in found) this.#textLine(line);
      else if ("value" in found) this.#parsed(found.value, false);
      else this.#noiseOf(this.#salvage(found.lines));
    }
  }

  #textLine(line: Line): void {
    if (line.omittedBytes > 0) return this.#noise(`${line.text}\n[${line.omittedBytes} more bytes left out]`);
    this.#parsed(line.text, line.torn);
  }

  #item(item: SseItem | undefined): void {
    if (item === undefined) return;
    if ("stray" in item) {
      if (item.stray.torn && "event data id retry".includes(item.stray.text)) this.#torn = item.stray.text;
      else this.#textLine(item.stray);
      return;
    }
    if (item.omittedBytes > 0) return this.#noise(`${item.data}\n[${item.omittedBytes} more bytes left out]`);
    if (item.data.trim() === END_MARKER) return this.#step(END_MARKER);
    this.#parsed(item.data, item.torn, item.event);
  }

  #parsed(text: string, torn: boolean, name?: string): void {
    this.#waitingChars += text.length;
    const json = parseText(text);
    if (json !== undefined) return this.#value(json, name);
    const start = text.trimStart();
    if (torn && (start === "" || start.startsWith("{") || start.startsWith("["))) this.#torn = text;
    else this.#noise(text);
  }

  /** Some commands print all their events as one array. */
  #value(json: Json, name?: string): void {
    if (Array.isArray(json)) for (const item of json as readonly Json[]) this.#step(item);
    else this.#step(name === undefined ? json : named(json, name));
  }

  #step(event: Json): void {
    this.#waiting.push(event);
    if (this.#waiting.length >= BATCH_EVENTS || this.#waitingChars >= SHORT_BATCH_CHARS) this.#notify();
  }

  #noise(text: string): void {
    this.#waitingChars += text.length;
    this.#waiting.push(new Noise(text));
  }

  /** Events are parsed in batches and processed in batches: each half runs faster with its code in the cache. */
  #notify(): void {
    const { adapter } = this.#provider;
    const isShort = this.#waitingChars < SHORT_BATCH_CHARS;
    for (const event of this.#waiting) {
      const [state, events] =
        event instanceof Noise ? adapter.noise(this.#state, event.text) : adapter.step(this.#state, event);
      this.#state = state;
      this.#give(events, isShort);
    }
    this.#waiting = [];
    this.#waitingChars = 0;
  }

  #give(events: readonly BlockEvent[], isShort: boolean): void {
    for (const event of events) this.#repeats.push(bounded(event, isShort), this.#out);
  }

  /** For a multi-line value that was cut: elements that are whole on a line of their own count; the rest is returned. */
  #salvage(lines: readonly string[]): string | undefined {
    const rest: string[] = [];
    for (const text of lines) {
      this.#waitingChars += text.length;
      const element = parseText(text.trim().replace(/,$/, ""));
      if (isObject(element)) this.#step(element);
      else rest.push(text);
    }
    return rest.length === 0 ? undefined : rest.join("\n");
  }

  #noiseOf(text: string | undefined): void {
    if (text !== undefined) this.#noise(text);
  }
}

/** A whole stream at once, or in the given chunks. */
export function normalize(
  provider: Provider,
  chunks: Iterable<Uint8Array>,
  options: NormalizeOptions = {},
): Folded & { readonly torn: string | undefined } {
  const normalizer = new Normalizer(provider, options);
  const folding = new Fold();
  for (const chunk of chunks) folding.push(normalizer.push(chunk));
  folding.push(normalizer.end());
  return { ...folding.result(), torn: normalizer.torn };
}

function shapeOf(firstLine: string, framing: Provider["framing"]): Shape {
  const text = firstLine.trim();
  if (framing === "lines" || text.startsWith("{") || text.startsWith("[")) return "lines";
  return "sse";
}

function isBlank(text: string): boolean {
  const first = text.charCodeAt(0);
  return Number.isNaN(first) || (first <= 0x20 && text.trim() === "");
}

/** An SSE event whose data does not repeat its name. */
function named(json: Json, name: string): Json {
  if (!isObject(json) || typeof json.type === "string" || json.object !== undefined) return json;
  const typed: JsonObject = { type: name, ...json };
  return typed;
}
