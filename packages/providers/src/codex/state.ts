/** The state of the Codex adapter: what is open, the ids of recently ended items, the thread's token total. */

import type { BlockKey, JsonObject, Usage } from "@blockyard/kernel";
import type { Todo } from "./item.ts";

export const PROVIDER = "codex";

export interface CodexStart {
  /** The thread's tokens before this run: what a resumed thread reports includes them. */
  readonly previousUsage?: Usage;
}

/** An item that has started and not ended. */
export interface OpenItem {
  readonly key: BlockKey;
  readonly type: string;
  readonly toolUseId: string;
  readonly toolName: string;
  /** What it is about: tells two open items of one type apart where ids do not. */
  readonly about: string;
  /** How much of its text has been written; undefined where no result block is open. */
  written: string | undefined;
  todo: Todo | undefined;
}

/** What is remembered of a stream of a version before 0.44 (protocol.ts). */
export interface Protocol {
  /** What began and has not ended, by call id. */
  readonly begun: Map<string, JsonObject>;
  /** The thread's tokens so far. */
  usage: Readonly<Record<string, number>>;
  /** Nothing has happened behind the last answer. */
  isAnswered: boolean;
  plan: JsonObject | undefined;
  texts: number;
}

export interface CodexState {
  readonly run: string;
  readonly open: Map<string, OpenItem>;
  /** Id → what the item looked like when it ended. */
  readonly ended: Map<string, string>;
  items: number;
  turns: number;
  notices: number;
  turn: string | undefined;
  thread: string | undefined;
  total: Usage | undefined;
  /** The notice of reconnections that is open. */
  retry: { readonly key: BlockKey; times: number; message: string } | undefined;
  /** An error line that may turn out to be the turn's end. */
  error: { readonly key: BlockKey; readonly message: string } | undefined;
  /** Where the stream is of a version before 0.44. */
  protocol: Protocol | undefined;
  /** The last answer, and whether a retry was announced behind it. */
  answer: { readonly text: string; retried: boolean } | undefined;
}

export function itemKey(state: CodexState): BlockKey {
  return `${state.run}/item-${state.items++}`;
}

export function noticeKey(state: CodexState): BlockKey {
  return `${state.run}/notice-${state.notices++}`;
}
