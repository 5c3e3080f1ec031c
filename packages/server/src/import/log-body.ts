/**
 * The body that imports one session log (see import-stream.ts): its raw lines from where the last import stopped, then its
 * block events as the provider's importer gives them.
 *
 * A log that somebody is still writing ends in the middle: the importer closes what is open as interrupted, and that may
 * be wrong a moment later. Such an end is left out, and the next import brings the real one.
 */

import { isUtf8 } from "node:buffer";
import { closeSync, openSync, readSync } from "node:fs";
import type { BlockEvent } from "@blockyard/kernel";
import type { LogHead } from "./import-log.ts";
import { LOG_EVENTS_PER_LINE, RAW_PIECE_BYTES } from "./limits.ts";
import type { SessionLog } from "./session-logs.ts";

/**
 * What becomes of the open end of a live log: `hold` leaves what is open out until it is finished, `leave` writes it and
 * leaves it open, for an import that follows the log.
 */
export type OpenEnd = "close" | "hold" | "leave";

/** What is in a log now. */
export interface LogContent {
  readonly events: readonly BlockEvent[];
  /** When it began. */
  readonly from: number;
}

/** Throws what the disk says of a file that cannot be read. */
export function readLog({ provider, files, name, changedAt }: SessionLog, openEnd: OpenEnd): LogContent {
  const all = provider.importLog?.(files, name) ?? [];
  const events = openEnd === "close" ? all : withoutOpenEnd(all, openEnd);
  return { events, from: firstTime(all) ?? changedAt };
}

/** `again`: although its conversation was deleted. */
export async function* logBody(
  log: SessionLog,
  { events, from }: LogContent,
  openEnd: OpenEnd,
  rawFrom: number,
  again = false,
): AsyncGenerator<Uint8Array> {
  const { provider, name, path, stamp } = log;
  const head: LogHead = {
    ...{ type: "log", provider: provider.name, name, path, stamp },
    ...{ from: Math.max(0, from), open: openEnd === "leave", raw_from: rawFrom },
    session: log.sessionId,
    ...(again ? { again } : {}),
  };
  yield line(head);
  for (const bytes of rawLines(path, rawFrom)) yield line({ type: "raw", ...rawText(bytes) });
  for (let at = 0; at < events.length; at += LOG_EVENTS_PER_LINE) {
    yield line({ type: "events", events: events.slice(at, at + LOG_EVENTS_PER_LINE) });
  }
  yield line({ type: "end" });
}

/** The events without the closing of what the log has left open; with `hold`, also without what is open itself. */
function withoutOpenEnd(events: readonly BlockEvent[], openEnd: OpenEnd): readonly BlockEvent[] {
  let end = events.length;
  const open = new Set<string>();
  for (; end > 0; end--) {
    const event = events[end - 1] as BlockEvent;
    if (event.type === "turn-end") continue;
    if (event.type !== "block-end" || event.reason !== "interrupted") break;
    open.add(event.key);
  }
  const kept = events.slice(0, end);
  if (openEnd === "leave") return kept;
  const closing = events.slice(end).filter((event) => event.type === "turn-end");
  return [...kept.filter((event) => !isOpen(event, open)), ...closing];
}

/** Whether it speaks of a block that is open, or of one below it; which is then noted. */
function isOpen(event: BlockEvent, open: Set<string>): boolean {
  if (!("key" in event)) return false;
  if (event.type === "block-start" && event.parent !== undefined && open.has(event.parent))
    open.add(event.key);
  return open.has(event.key);
}

function firstTime(events: readonly BlockEvent[]): number | undefined {
  for (const event of events) if ("at" in event && event.at !== undefined) return event.at;
  return undefined;
}

/** Whole lines of the file from a byte on: a line that is being written waits. */
function* rawLines(path: string, from: number): Generator<Buffer> {
  const file = openSync(path, "r");
  try {
    let rest: Buffer = Buffer.alloc(0);
    const buffer = Buffer.allocUnsafe(RAW_PIECE_BYTES);
    let at = from;
    for (;;) {
      const read = readSync(file, buffer, 0, buffer.length, at);
      if (read === 0) return;
      at += read;
      const bytes = Buffer.concat([rest, buffer.subarray(0, read)]);
      const end = bytes.lastIndexOf(10) + 1;
      if (end > 0) yield bytes.subarray(0, end);
      rest = Buffer.from(bytes.subarray(end));
    }
  } finally {
    closeSync(file);
  }
}

/** Bytes that are no text would come back as others, and as more of them. */
function rawText(bytes: Buffer): { readonly text: string } | { readonly base64: string } {
  return isUtf8(bytes) ? { text: bytes.toString("utf8") } : { base64: bytes.toString("base64") };
}

function line(value: unknown): Uint8Array {
  return Buffer.from(`${JSON.stringify(value)}\n`);
}
