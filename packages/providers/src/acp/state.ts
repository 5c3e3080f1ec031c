/**
 * The state of the ACP adapter while a connection is open: requests that wait for their answers, and for every session
 * its open turn, text, calls and asks. Closed content is not kept.
 */

import type { BlockEvent, BlockKey, Json, JsonObject, Usage } from "@blockyard/kernel";
import type { Before } from "../adapter.ts";
import { bounds } from "../limits.ts";
import { NO_QUIRKS, type Quirks } from "./quirks.ts";

export type Out = BlockEvent[];

/** For a reader that adds to an existing conversation. */
export interface AcpOptions {
  /** The name of the provider in turns and sessions. */
  readonly provider: string;
  /** Prompts become blocks. Not if the sender has written them already. */
  readonly showsPrompts: boolean;
  /** A replayed history becomes blocks. Not where the conversation has it already. */
  readonly showsHistory: boolean;
  /** Answers to asks are emitted. Not if the caller has written them already, with their author. */
  readonly showsAnswers: boolean;
}

export interface Asked {
  readonly id: string;
  /** The block that it is about. */
  readonly key: BlockKey;
  readonly ask: JsonObject;
  /** The block exists for the ask alone, and ends with it. */
  readonly isOwn: boolean;
}

/** A request that waits for its answer. */
export interface Request {
  readonly method: string;
  readonly params: JsonObject;
  readonly session: string | undefined;
  readonly ask?: Asked;
}

export interface Diff {
  readonly path: string;
  readonly before: string | undefined;
  readonly after: string;
  readonly kind: string | undefined;
}

export interface Call {
  readonly key: BlockKey;
  readonly id: string;
  /** Or when it got the requested approval. */
  startedAt: number | undefined;
  toolName: string;
  title: string;
  kind: string | undefined;
  server: string | undefined;
  isMcp: boolean;
  input: JsonObject | undefined;
  /** Input that has been shown as text. */
  written: string;
  content: readonly Json[];
  rawOutput: Json | undefined;
  meta: JsonObject;
  paths: readonly string[];
  /** The last diffs that were seen anywhere; some agents drop them at the end. */
  diffs: readonly Diff[];
  /** Unified diffs that the agent has made itself. */
  patch: string | undefined;
  terminal: string | undefined;
  /** A terminal's output. */
  printed: string;
  /** The last patch's addition, if it changed nothing else. */
  fresh: string | undefined;
  exitCode: number | null | undefined;
  isRunning: boolean;
  /** Output that is in the result block already; undefined while there is no such block. */
  shown: string | undefined;
  /** The owner has refused it. */
  isDenied: boolean;
  /** It has ended, and a replay's additions are expected. */
  ended: "completed" | "failed" | undefined;
}

export interface Turn {
  readonly name: string;
  /** The request that it answers; undefined for a turn that the agent began by itself. */
  readonly request: string | undefined;
  readonly startedAt: number | undefined;
  usage: Usage | undefined;
  calls: number;
  /** Whether anything of it is visible. */
  isEmpty: boolean;
  isCancelled: boolean;
  /** The program's error message. */
  failure: string | undefined;
  model: string | undefined;
}

interface Queued {
  readonly request: string;
  /** Its answer came while another turn was open. */
  answer?: JsonObject;
}

export interface OpenText {
  readonly key: BlockKey;
  readonly kind: "text" | "thinking" | "user";
  readonly messageId: string | undefined;
}

export interface Session {
  readonly id: string;
  /** Its place in the keys of blocks. */
  readonly ordinal: number;
  /** The call that started it, if it is a sub-agent's. */
  parent: BlockKey | undefined;
  turn: Turn | undefined;
  readonly queue: Queued[];
  text: OpenText | undefined;
  readonly calls: Map<string, Call>;
  /** Ids of ended calls; later events about them are ignored. */
  readonly ended: Set<string>;
  /** Sub-agents that it has started and that have not replied; why each stopped, once it has. */
  readonly subagents: Map<string, string | undefined>;
  todo: BlockKey | undefined;
  todoItems: Json;
  compaction: BlockKey | undefined;
  /** A replay of its history is running: shown, or skipped. */
  replay: "shown" | "skipped" | undefined;
  /** Something of it was seen in this run: a replay tells nothing new. */
  isKnown: boolean;
  /** The agent has reported a failure of its own: text without an id is the reason. */
  hasFailed: boolean;
  costUsd: number | undefined;
  total: Usage | undefined;
  context: JsonObject | undefined;
  details: JsonObject;
}

export interface State {
  readonly run: string;
  readonly options: AcpOptions;
  readonly before: Before;
  quirks: Quirks;
  agent: JsonObject;
  turns: number;
  blocks: number;
  now: number | undefined;
  /** Requests of the client, by id; requests of the agent, by id. */
  readonly sent: Map<string, Request>;
  readonly asked: Map<string, Request>;
  /** Requests of the agent whose call or turn has ended unanswered. */
  readonly settled: Set<string>;
  readonly sessions: Map<string, Session>;
  /** What each terminal of the client has printed. */
  readonly terminals: Map<string, { output: string; exitCode: number | null | undefined }>;
  /** A history is replayed under an id that is not known yet. */
  forks: number;
}

export function startState(run: string, options: AcpOptions, before: Before): State {
  return {
    run,
    options,
    before,
    quirks: NO_QUIRKS,
    agent: {},
    turns: 0,
    blocks: 0,
    now: undefined,
    sent: new Map(),
    asked: new Map(),
    settled: new Set(),
    sessions: new Map(),
    terminals: new Map(),
    forks: 0,
  };
}

/** The session of this name; an unannounced one is opened. */
export function sessionOf(state: State, id: string): Session {
  const found = state.sessions.get(id);
  if (found !== undefined) return found;
  const session: Session = {
    id,
    ordinal: state.sessions.size + 1,
    parent: undefined,
    turn: undefined,
    queue: [],
    text: undefined,
    calls: new Map(),
    ended: new Set(),
    subagents: new Map(),
    todo: undefined,
    todoItems: [],
    compaction: undefined,
    replay: undefined,
    isKnown: false,
    hasFailed: false,
    costUsd: undefined,
    total: undefined,
    context: undefined,
    details: {},
  };
  state.sessions.set(id, session);
  return session;
}

/** The session that an agent names. Undefined if it has named too many: that output belongs to none. */
export function sessionNamed(state: State, id: string): Session | undefined {
  const isNew = !state.sessions.has(id);
  return isNew && state.sessions.size >= bounds.acpSessions ? undefined : sessionOf(state, id);
}

export function nextKey(state: State, session: Session | undefined, what: string): BlockKey {
  return `${state.run}/${session === undefined ? "" : `s${session.ordinal}/`}${what}-${++state.blocks}`;
}

/** JSON-RPC ids are numbers or strings; 1 and "1" are two. */
export function idOf(id: Json | undefined): string {
  return JSON.stringify(id ?? null);
}

export function elapsed(from: number | undefined, to: number | undefined): number | undefined {
  return from === undefined || to === undefined ? undefined : Math.max(0, to - from);
}
