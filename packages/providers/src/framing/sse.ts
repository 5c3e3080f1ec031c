/**
 * Lines → server-sent events. Knows the fields `event` and `data`; ids, retry times and comments carry nothing for us.
 *
 * An event is given at its blank line; where there is none, when the next event shows, and at the end of the stream as
 * torn. A line that is no field of an event (an error body, a proxy's page) is handed out as it is: nothing is dropped.
 */

import { bounds } from "../limits.ts";
import { parseJson } from "./json.ts";
import type { Line } from "./lines.ts";

export type SseItem =
  | {
      readonly event: string | undefined;
      readonly data: string;
      readonly torn: boolean;
      readonly omittedBytes: number;
    }
  | { readonly stray: Line };

/** What OpenAI's streams end with instead of an event; adapters get it as a string. */
export const END_MARKER = "[DONE]";

const FIELDS = new Set(["event", "data", "id", "retry"]);

/** llama.cpp states an error in a field of its own. */
const ERROR_FIELD = "error";

function errorItem(line: Line, value: string): SseItem | undefined {
  if (line.omittedBytes > 0 || parseJson(value) === undefined) return undefined;
  return { event: ERROR_FIELD, data: `{"error":${value}}`, torn: false, omittedBytes: 0 };
}

export class SseReader {
  #event: string | undefined;
  #data: string[] = [];
  #chars = 0;
  #omittedBytes = 0;
  #torn = false;

  push(line: Line): SseItem | undefined {
    if (line.text === "" && !line.torn) return this.#take();
    const colon = line.text.indexOf(":");
    if (colon === 0) return undefined; // a comment: servers send them to keep the connection alive
    const field = colon === -1 ? line.text : line.text.slice(0, colon);
    if (field === ERROR_FIELD) return errorItem(line, line.text.slice(colon + 1)) ?? { stray: line };
    if (!FIELDS.has(field)) return { stray: line };
    const before = this.#endsBefore(field) ? this.#take() : undefined;
    this.#torn = line.torn;
    const rest = colon === -1 ? "" : line.text.slice(colon + 1);
    const value = rest.startsWith(" ") ? rest.slice(1) : rest;
    if (field === "event") this.#event = value;
    if (field === "data") this.#keep(value, line.omittedBytes);
    return before;
  }

  /**
   * Whether the event is over without a blank line, as if they were lost: a second name, or more data after a complete
   * value, which could be no part of it.
   */
  #endsBefore(field: string): boolean {
    const [only] = this.#data;
    if (this.#data.length !== 1 || only === undefined || this.#omittedBytes > 0) return false;
    if (field === "event" ? this.#event === undefined : field !== "data") return false;
    const text = only.trim();
    if (text === END_MARKER) return true;
    return text.startsWith("{") && text.endsWith("}") && parseJson(text) !== undefined;
  }

  end(): SseItem | undefined {
    if (this.#data.length === 0) return undefined;
    this.#torn = true;
    return this.#take();
  }

  #keep(value: string, omittedBytes: number): void {
    this.#omittedBytes += omittedBytes;
    if (this.#chars + value.length > bounds.lineBytes) {
      this.#omittedBytes += value.length;
      return;
    }
    this.#data.push(value);
    this.#chars += value.length;
  }

  #take(): SseItem | undefined {
    const item = {
      event: this.#event,
      data: this.#data.join("\n"),
      torn: this.#torn,
      omittedBytes: this.#omittedBytes,
    };
    const empty = this.#data.length === 0;
    this.#event = undefined;
    this.#data = [];
    this.#chars = 0;
    this.#omittedBytes = 0;
    this.#torn = false;
    return empty ? undefined : item;
  }
}
