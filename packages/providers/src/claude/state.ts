/**
 * The adapter's state between two events: what is open, and short memories of bounded size (ids of recent messages and
 * calls, the to-do list, the last cumulative cost). Never finished content.
 *
 * Keys are built from the provider's own ids, so that the log of the same session names the same blocks.
 */

import type { Ask, BlockEvent, BlockKey, Json, JsonObject, Usage } from "@blockyard/kernel";
import type { CitedText, TextPart } from "../cited-text.ts";
import { bounds } from "../limits.ts";

export const PROVIDER = "claude";

type PieceType = "text" | "thinking" | "call" | "result" | "whole";

/** One content block of a message, streamed or not. */
export interface Piece {
  readonly key: BlockKey;
  readonly message: Message;
  /** Its place in the message. */
  readonly index: number;
  readonly type: PieceType;
  /** The call that it is, or whose result it is. */
  readonly call?: Call | undefined;
  /** The streamed text so far; dropped at the end. */
  text: string;
  signature: string;
  /** A `tool_result` block whose content comes as deltas. */
  held: JsonObject | undefined;
  citations: JsonObject[];
  /** For a text: all of it so far, including joined parts. */
  whole: CitedText | undefined;
  /** For a text that may continue the previous one: that one, and the known part. */
  head: Piece | undefined;
  part: TextPart | undefined;
  /** Time of its last part. */
  lastAt: number | undefined;
  /** A text block appears with its first character: an empty one is no block. */
  isStarted: boolean;
  /** Its assistant line has come. */
  isConfirmed: boolean;
  /** Its content_block_stop has come. */
  isStopped: boolean;
  isEnded: boolean;
}

export interface Message {
  readonly id: string;
  readonly scope: Scope;
  readonly turn: Turn;
  model: string | undefined;
  readonly pieces: Piece[];
  /** A text that is whole, and that the next text may be part of. */
  held: Piece | undefined;
  /** By the index on the wire, which starts again in each message. */
  readonly byIndex: Map<number, Piece>;
  usage: JsonObject | undefined;
  /** The last reported usage, to report it only once. */
  toldUsage: Usage | undefined;
  stopReason: string | undefined;
  /** It came piece by piece: until its last piece, its output is uncounted. */
  isStreamed: boolean;
}

/** Where a line belongs: the main conversation, or below the call that started a sub-agent. */
export interface Scope {
  readonly parent: BlockKey | undefined;
  /** Names a sub-agent whose call is not known here. */
  readonly label: string | undefined;
}

export interface Call {
  readonly id: string;
  readonly name: string;
  readonly key: BlockKey;
  readonly scope: Scope;
  readonly turn: number;
  /** The message that made it, where one did. */
  readonly messageId: string | undefined;
  /** The whole input, as soon as it is complete. */
  input: Json | undefined;
  /** Content from its start, for streams that send no deltas of it. */
  firstInput: Json | undefined;
  isRunning: boolean;
  /** Its input is known to be no JSON. */
  isBroken: boolean;
  isEnded: boolean;
  /** It has ended, and well. */
  isDone: boolean;
  /** Continues in the background: it, and what it starts, may outlive its turn. */
  isBackground: boolean;
  /** The block of a command that continues in the background. */
  openResult: BlockKey | undefined;
  hasProgress: boolean;
  ask: Ask | undefined;
  /** The number of plans shown: each is a block of its own. */
  plans: number;
  /** The text that its block holds now. */
  text: string;
  results: number;
  /** Its result's fingerprint, if that came as a content block: a user line may repeat it. */
  streamedResult: string | undefined;
}

export interface Turn {
  readonly name: string;
  readonly ordinal: number;
  /** Whether it has text: a result's text is shown only if there was none. */
  hasSpoken: boolean;
  hasEvents: boolean;
  /** The fingerprint of its last text. */
  lastWords: string | undefined;
  /** Its init has come. */
  hasInit: boolean;
  /** The model was called, and has not begun to answer. */
  isRequesting: boolean;
  /** What its messages have used, for a result that does not say it. */
  usage: Usage;
  /** Of the last message. */
  lastUsage?: Usage;
  readonly models: Set<string>;
  /** Somebody has interrupted it. */
  isInterrupted?: boolean;
  /** Usage in it for something other than its prompt, which a result of its own has stated. */
  spent?: { readonly costUsd: number; readonly usage: Usage };
}

export interface TodoItem {
  readonly id: string;
  readonly content: string;
  readonly status: "pending" | "in_progress" | "completed";
  readonly activeForm?: string;
}

export interface State {
  readonly prefix: string;
  cwd: string;
  /** The CLI's version, if stated. */
  version: string;
  sessionId: string | undefined;
  /** The last `session` event, to emit the same only once. */
  toldSession: string;
  model: string | undefined;
  /** The open ones, oldest first. */
  turns: Turn[];
  lastTurn: Turn | undefined;
  nextTurn: number;
  /** The first turn is a prompt's, not one that the agent has begun by itself. */
  readonly beginsWithPrompt: boolean;
  /** Results of the process that end none of these turns: earlier ones, and those after which a turn continued. */
  otherResults: number;
  /** Running total of the process, as the last result stated it; undefined before the first. */
  totalCost: number | undefined;
  /** The same for the time spent waiting for the model. */
  totalApiMs: number | undefined;
  modelUsage: JsonObject | undefined;
  readonly messages: Map<string, Message>;
  /** A message that was stopped without a reason: the next line tells why. */
  stopped: Message | undefined;
  /** The last message from lines, for a `message` line that repeats it without its id. */
  lastMessage: Message | undefined;
  /** The message that is being streamed, per scope. */
  readonly streaming: Map<string, Message>;
  readonly calls: Map<string, Call>;
  /** The notice of retries that is open. */
  retry: { readonly key: BlockKey; times: number; what: string } | undefined;
  /** Asks that wait: request id → call. */
  readonly requests: Map<string, Call>;
  /** Forms of MCP servers that wait, which belong to no call that is named: request id → block. */
  readonly forms: Map<string, { readonly key: BlockKey; readonly ask: Ask }>;
  /** Tasks (sub-agents, commands) → the call that started them. */
  readonly tasks: Map<string, Call>;
  readonly todo: Map<string, TodoItem>;
  /** Running estimate for the thinking block that is open, or comes next. */
  thinkingTokens: number | undefined;
  nextSerial: number;
  /** Whole outputs that the CLI has stored in files, by path: an importer has them, a stream does not. */
  readonly asideOf: (path: string) => string | undefined;
  /** Used keys of single blocks, so that a repeated line is not a second start. */
  readonly usedKeys: Set<BlockKey>;
  /** Uuids of the stream's lines, and whether the message that is being streamed was streamed before. */
  readonly seen: Set<string>;
  isRepeating: boolean;
  /** Uuids of the messages that the last compaction has kept: some are printed once more behind it. */
  kept: ReadonlySet<string>;
}

export type Out = BlockEvent[];

export interface Start {
  /** The total of the session so far, if this process resumes one. */
  readonly previousCostUsd?: number;
  readonly previousApiMs?: number;
  readonly previousResults?: number;
  readonly isOwn?: boolean;
  readonly asideOf?: (path: string) => string | undefined;
}

export function newState(run: string, start: Start = {}): State {
  return {
    prefix: `${run}/`,
    cwd: "",
    version: "",
    sessionId: undefined,
    toldSession: "",
    model: undefined,
    turns: [],
    lastTurn: undefined,
    nextTurn: 0,
    beginsWithPrompt: start.isOwn !== true,
    otherResults: start.previousResults ?? 0,
    totalCost: start.previousCostUsd,
    totalApiMs: start.previousApiMs,
    modelUsage: undefined,
    messages: new Map(),
    stopped: undefined,
    lastMessage: undefined,
    streaming: new Map(),
    calls: new Map(),
    retry: undefined,
    requests: new Map(),
    forms: new Map(),
    tasks: new Map(),
    todo: new Map(),
    thinkingTokens: undefined,
    nextSerial: 0,
    asideOf: start.asideOf ?? (() => undefined),
    usedKeys: new Set(),
    seen: new Set(),
    isRepeating: false,
    kept: new Set(),
  };
}

export const MAIN: Scope = { parent: undefined, label: undefined };

/** The key of a block for one line: its uuid if that is new, otherwise its number. */
export function lineKey(state: State, uuid: Json | undefined, part = ""): BlockKey {
  const key = typeof uuid === "string" && uuid !== "" ? `${state.prefix}l:${uuid}${part}` : "";
  if (key !== "" && !state.usedKeys.has(key)) {
    state.usedKeys.add(key);
    trim(state.usedKeys, bounds.openCalls);
    return key;
  }
  return `${state.prefix}n:${state.nextSerial++}`;
}

export function scopeOf(state: State, line: JsonObject): Scope {
  const parentId = line.parent_tool_use_id;
  if (typeof parentId !== "string") return MAIN;
  const call = state.calls.get(parentId);
  if (call !== undefined) return { parent: call.key, label: undefined };
  const label = line.task_description ?? line.subagent_type;
  return { parent: undefined, label: typeof label === "string" ? label : "sub-agent" };
}

export function addPiece(message: Message, type: PieceType, prefix: string, call?: Call): Piece {
  const index = message.pieces.length;
  const piece: Piece = {
    key: call !== undefined && type === "call" ? call.key : `${prefix}m:${message.id}#${index}`,
    message,
    index,
    type,
    call,
    text: "",
    signature: "",
    held: undefined,
    citations: [],
    whole: undefined,
    head: undefined,
    part: undefined,
    lastAt: undefined,
    isStarted: false,
    isConfirmed: false,
    isStopped: false,
    isEnded: false,
  };
  message.pieces.push(piece);
  return piece;
}

/** Drops the oldest entries of a memory that has grown over its bound. */
export function trim<T>(memory: Set<T> | Map<T, unknown>, most: number): void {
  if (memory.size <= most) return;
  for (const key of memory.keys()) {
    memory.delete(key);
    if (memory.size <= most) return;
  }
}
