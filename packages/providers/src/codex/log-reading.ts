/** One thread of a rollout log while it is read: open items, counters, and the place of its blocks. */

import type { BlockEvent, BlockKey, Usage } from "@blockyard/kernel";
import { given } from "../read.ts";
import { unknownEvent } from "../unknown.ts";
import type { Command } from "./item.ts";
import type { LoggedCall } from "./log-call.ts";
import type { LogIndex, LogRecord } from "./log-index.ts";

export const PROVIDER = "codex";

interface OpenCall {
  readonly key: BlockKey;
  readonly toolUseId: string;
  readonly toolName: string;
  readonly logged: LoggedCall;
}

interface Turn {
  readonly id: string;
  readonly before: Usage | undefined;
  hasOutput: boolean;
  /** The last thing in it is a call that the user broke off. */
  isAborted: boolean;
}

/** One thread while it is read. */
export interface Reading {
  readonly index: LogIndex;
  readonly prefix: string;
  /** Under which block a sub-agent's thread stands. */
  readonly parent: BlockKey | undefined;
  readonly out: BlockEvent[];
  /** Shows the thread of a sub-agent below a block of this one, once, where the log of it is at hand. */
  readonly showThread: (thread: string, below: BlockKey) => void;
  /** The thread of the first review that was not shown yet; no call has started it. */
  readonly nextReview: () => string | undefined;
  readonly keys: Set<BlockKey>;
  /** What response items say and no event has confirmed yet. */
  readonly said: Map<string, number>;
  readonly open: Map<string, OpenCall>;
  /** Commands that run on, by their session number. */
  readonly running: Map<string, Command>;
  /** What was last told of the session. */
  toldContext: string;
  turn: Turn | undefined;
  total: Usage | undefined;
  model: string | undefined;
  at: number | undefined;
  lastPrompt: string | undefined;
  lastImageCall: BlockKey | undefined;
  /** A compaction has been shown; the event that follows repeats it. */
  compacted: boolean;
  /** The last line about reconnections, and how many events there were behind it. */
  retry: { readonly key: BlockKey; times: number; events: number } | undefined;
}

/** An id that the log uses twice names two blocks. */
export function keyOf(reading: Reading, id: string): BlockKey {
  let key = `${reading.prefix}${id}`;
  for (let n = 2; reading.keys.has(key); n++) key = `${reading.prefix}${id}~${n}`;
  reading.keys.add(key);
  return key;
}

export function spoke(reading: Reading): void {
  if (reading.turn !== undefined) {
    reading.turn.hasOutput = true;
    reading.turn.isAborted = false;
  }
  reading.compacted = false;
}

export function at(reading: Reading): { parent?: BlockKey; at?: number } {
  return given({ parent: reading.parent, at: reading.at }) as { parent?: BlockKey; at?: number };
}

export function showUnknown(reading: Reading, record: LogRecord, type: string | undefined): void {
  const key = keyOf(reading, `unknown-${record.ordinal}`);
  reading.out.push(...unknownEvent({ key, provider: PROVIDER, parent: reading.parent }, record.raw, type));
}
