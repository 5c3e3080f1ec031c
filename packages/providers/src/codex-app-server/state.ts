/**
 * The state of the Codex app-server adapter: threads with what is open in them, and pending requests of both sides.
 * Bounded: if there are too many threads, those in which nothing is open are dropped.
 */

import type { BlockEvent, BlockKey, Json, JsonObject, Usage } from "@blockyard/kernel";
import type { Todo } from "../codex/item.ts";
import { bounds } from "../limits.ts";
import { given } from "../read.ts";

/** The agent is the same one, whichever way it is spoken to: its sessions are one list. */
export const PROVIDER = "codex";

/** An item that has started and not completed. */
export interface OpenItem {
  readonly key: BlockKey;
  /** The item's type, as the protocol names it. */
  readonly type: string;
  readonly shape: "text" | "call" | "notice" | "unknown";
  readonly toolUseId: string;
  readonly toolName: string;
  /** Whether its block has been started: a message without a word is none. */
  started: boolean;
  /** What has been written of its text, or of its result's; undefined where no result is open. */
  written: string | undefined;
  /** The part of the reasoning that is being written, and whether it is the raw one. */
  part: { readonly index: number; readonly isRaw: boolean } | undefined;
  /** The item as it was told last. */
  item: JsonObject;
}

/** A question of the agent that nobody has answered. */
export interface OpenAsk {
  readonly thread: string;
  readonly key: BlockKey;
  readonly ask: JsonObject;
  /** What asks: the method of its request. */
  readonly method: string;
  /** The call was made for this question alone: it ends with the answer. */
  readonly own: { readonly toolUseId: string; readonly toolName: string } | undefined;
}

export interface OpenTurn {
  readonly name: string;
  /** What the protocol calls it; a review has two names. */
  readonly ids: Set<string>;
  /** `turn/started` has come: until then it is known by what belongs to it. */
  isAnnounced: boolean;
  /** The thread's counter when it began. */
  before: Usage | undefined;
  /** Answers of the model that were counted, those that should show a call and do not, and calls since the last. */
  responses: number;
  silent: number;
  isSilent: boolean;
  calls: number;
  plan: { readonly key: BlockKey; readonly toolUseId: string; todo: Todo } | undefined;
  error: { readonly key: BlockKey; readonly message: string } | undefined;
}

export interface Thread {
  readonly id: string;
  /** Of a sub-agent: the call that started it, once that is known. */
  parent: BlockKey | undefined;
  readonly isChild: boolean;
  readonly open: Map<string, OpenItem>;
  turn: OpenTurn | undefined;
  /** Turns that have ended, by the protocol's names. */
  readonly ended: Set<string>;
  model: string | undefined;
  /** The file in which Codex keeps it. */
  path: string | undefined;
  /** It begins here, and so does its counter. */
  isNew: boolean;
  total: Usage | undefined;
  /** Where the counter stood before what is told here. */
  base: Usage | undefined;
  /** The last counters as they came. */
  native: JsonObject | undefined;
  retry: { readonly key: BlockKey; times: number; message: string } | undefined;
  /** The last answer, and whether a retry was announced behind it. */
  answer: { readonly text: string; retried: boolean } | undefined;
}

export interface State {
  readonly run: string;
  readonly threads: Map<string, Thread>;
  /** Threads of sub-agents that have not spoken yet: thread → the call that started it. */
  readonly links: Map<string, BlockKey>;
  /** Calls that started a sub-agent whose thread is not known yet: prompt and call. */
  readonly spawns: { readonly prompt: string; readonly key: BlockKey }[];
  /** Requests of the client: id → method. */
  readonly requests: Map<string, string>;
  /** Requests of the agent: id → what it asks. */
  readonly asks: Map<string, OpenAsk>;
  /** Messages of ours that are known already, oldest first. */
  readonly sent: string[];
  /** What the session had counted before this run. */
  readonly previous: Usage | undefined;
  version: string | undefined;
  limits: JsonObject | undefined;
  items: number;
  notices: number;
  turns: number;
}

export type Out = BlockEvent[];

export function newState(run: string, previous: Usage | undefined): State {
  return {
    run,
    threads: new Map(),
    links: new Map(),
    spawns: [],
    requests: new Map(),
    asks: new Map(),
    sent: [],
    previous,
    version: undefined,
    limits: undefined,
    items: 0,
    notices: 0,
    turns: 0,
  };
}

/** A thread by its id. One that nobody has announced while others were is a sub-agent's. */
export function threadOf(state: State, id: string, isOwn = false): Thread {
  const known = state.threads.get(id);
  if (known !== undefined) return known;
  const isChild = !isOwn && [...state.threads.values()].some((thread) => !thread.isChild);
  const thread: Thread = {
    id,
    parent: undefined,
    isChild,
    open: new Map(),
    turn: undefined,
    ended: new Set(),
    model: undefined,
    path: undefined,
    isNew: false,
    total: isChild ? undefined : state.previous,
    base: undefined,
    native: undefined,
    retry: undefined,
    answer: undefined,
  };
  state.threads.set(id, thread);
  if (state.threads.size > bounds.threads) forget(state);
  return thread;
}

function forget(state: State): void {
  for (const [id, thread] of state.threads) {
    if (state.threads.size <= bounds.threads) return;
    if (thread.open.size === 0 && thread.turn === undefined && thread.isChild) state.threads.delete(id);
  }
}

/** Where blocks of a thread go: a sub-agent's below the call that started it. */
export function placeIn(thread: Thread): { readonly parent?: BlockKey } {
  return given({ parent: thread.parent });
}

export function itemKey(state: State): BlockKey {
  return `${state.run}/item-${state.items++}`;
}

export function noticeKey(state: State): BlockKey {
  return `${state.run}/notice-${state.notices++}`;
}

/** Ids are numbers or texts, and a number and its text are two. */
export function idOf(id: Json | undefined): string | undefined {
  return typeof id === "string" || typeof id === "number" ? JSON.stringify(id) : undefined;
}

/** Remembers at most so many: the oldest goes first. */
export function remember<K, V>(map: Map<K, V> | Set<K>, most: number): void {
  if (map.size <= most) return;
  for (const oldest of map.keys()) {
    map.delete(oldest);
    return;
  }
}

/** Calls of an answer are told before its tokens. */
export function countAnswer(turn: OpenTurn): void {
  turn.responses++;
  turn.isSilent = turn.calls === 0;
  if (turn.isSilent) turn.silent++;
  turn.calls = 0;
}

/** An answer without a call may be the last one before a message that was sent into the turn. */
export function excuseAnswer(turn: OpenTurn): void {
  if (turn.isSilent) turn.silent--;
  turn.isSilent = false;
}
