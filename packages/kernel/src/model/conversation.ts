/**
 * The conversation: a tree of blocks, and the record of it: title, seq, running turns, totals. The blocks are in the store;
 * the record stays small however long the conversation gets.
 */

import type { AskAnswer } from "./ask.ts";
import type { TurnStatus, Usage } from "./event.ts";
import type { AgentId, BlockId, ConversationId } from "./ids.ts";
import type { JsonObject } from "./json.ts";
import type { Reason } from "./kind.ts";
import { limits } from "./limits.ts";

/** The metadata keys that we use ourselves. */
type KnownMetadata = {
  /** The folder in which its agents work, and the version of the last agent. */
  readonly cwd?: string;
  readonly version?: string;
  /** The permission mode that was chosen last. */
  readonly mode?: string;
  /** What was chosen for a turn, at its start or while it was running. */
  readonly switched?: {
    readonly turn: string;
    readonly model?: string;
    readonly effort?: string;
    readonly sandbox?: string;
  };
  readonly archived?: boolean;
  /** A recording, like those of a first start: its costs are not this workspace's. */
  readonly recorded?: boolean;
  /** The source of a title that no person gave. */
  readonly titled?: "prompt" | "provider";
};

/** Programs may add keys of their own. */
export type ConversationMetadata = JsonObject & KnownMetadata;

export interface Conversation {
  readonly id: ConversationId;
  readonly title: string;
  readonly createdBy: AgentId;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** The seq of its last op. */
  readonly seq: number;
  /** How many blocks it has. */
  readonly blocks: number;
  /** The default parent of the next block. */
  readonly head: BlockId | null;
  /** Running turns. */
  readonly running: readonly string[];
  /** Why the last turn failed; absent if it ended well or no turn has ended. */
  readonly ended?: Reason;
  /** Tool calls waiting for the owner's answer; absent if there are none. */
  readonly asking?: readonly BlockId[];
  /** Calls whose asks were open when the last turn was interrupted; absent if there are none. `openAsks` says which can be answered. */
  readonly cutAsks?: readonly BlockId[];
  readonly provider?: string;
  readonly model?: string;
  /** The provider's session, for resuming, by provider name. */
  readonly sessions: { readonly [provider: string]: string };
  /** Blocks of other conversations that belong to the context. */
  readonly included: readonly BlockId[];
  readonly forkedFrom?: BlockId;
  readonly usage: Usage;
  /** Stated by providers, or computed from the user's price table; null while no cost is known. */
  readonly costUsd: number | null;
  /** Turns that used more than was counted; absent if there are none. */
  readonly uncounted?: number;
  readonly turns: number;
  readonly metadata: ConversationMetadata;
  /** Set if it was deleted: hidden, and removed from the store when the undo time is over. */
  readonly deleted?: Deleted;
}

export interface Deleted {
  readonly at: number;
  readonly by: AgentId;
  /** It can be restored until this time. */
  readonly until: number;
}

/** The fields that an op may set; everything else in the record is derived from the ops. */
export interface ConversationPatch {
  readonly title?: string;
  readonly provider?: string;
  readonly model?: string;
  readonly session?: { readonly provider: string; readonly id: string };
  readonly include?: BlockId;
  readonly exclude?: BlockId;
  readonly forkedFrom?: BlockId;
  /** null deletes a key. */
  readonly metadata?: JsonObject & { readonly [Key in keyof KnownMetadata]?: KnownMetadata[Key] | null };
  readonly head?: BlockId;
  /** null restores it. */
  readonly deleted?: Deleted | null;
}

/** One request to a provider with everything it produced. An op contains the whole turn. */
export interface Turn {
  readonly id: string;
  readonly provider: string;
  readonly agent: AgentId;
  readonly model?: string;
  readonly sessionId?: string;
  /** Who started it here. Absent if it came from a stream, an import or another program: such sessions are never resumed. */
  readonly startedBy?: AgentId;
  readonly status: TurnStatus;
  readonly reason?: Reason;
  readonly stopReason?: string;
  readonly error?: string;
  readonly startedAt: number;
  readonly endedAt?: number;
  readonly durationMs?: number;
  readonly usage?: Usage;
  readonly costUsd?: number;
  /** It used more than `usage` and `costUsd` say: an answer was cut off, or the process ended, before everything was counted. */
  readonly uncounted?: true;
  /** Usage by message id, including sub-agents' messages. */
  readonly messages?: { readonly [messageId: string]: MessageUsage };
  readonly native?: JsonObject;
  /** The agent runs this turn itself and keeps it open with its lease: see leased.ts. */
  readonly leased?: true;
  /** It ended because the agent's lease ended; the agent may still say how it really ended. */
  readonly lapsed?: true;
  /** The node that runs it, if several share a store. The run removes this when it ends the turn; a turn that is ended for it keeps it. */
  readonly node?: string;
  /** Commands from other nodes to that node. Absent: it accepts none. The field has its old name in every store. */
  readonly orders?: readonly TurnCommand[];
}

/** What a turn, or a view of one, says of its usage. */
interface Reported {
  readonly status: string;
  readonly usage?: object | undefined;
  readonly costUsd?: number | undefined;
  readonly messages?: object | undefined;
}

/** It has ended, and nobody has said what it used. Ours and agents' own failures are left out: most of them used nothing. */
export function reportsNothing({ status, usage, costUsd, messages = {} }: Reported): boolean {
  const isSilent = usage === undefined && costUsd === undefined && Object.keys(messages).length === 0;
  return status === "done" && isSilent;
}

/** Drops impossible costs and token counts: a single one would falsify every total. */
export function plausibleTurn(turn: Turn): Turn {
  const { costUsd, usage, messages, ...rest } = turn;
  const isCost = costUsd === undefined || (costUsd >= 0 && costUsd <= limits.turnUsd);
  const all = Object.entries(messages ?? {});
  const told = all.filter(([, message]) => isUsage(message.usage));
  if (isCost && isUsage(usage) && told.length === all.length) return turn;
  return {
    ...rest,
    ...(isCost && costUsd !== undefined ? { costUsd } : {}),
    ...(isUsage(usage) && usage !== undefined ? { usage } : {}),
    ...(messages === undefined ? {} : { messages: Object.fromEntries(told) }),
  };
}

function isUsage(usage: Usage | undefined): boolean {
  if (usage === undefined) return true;
  const { input, cacheRead, cacheWrite, output, reasoning } = usage;
  return [input, cacheRead, cacheWrite, output, reasoning].every(
    (tokens) => tokens >= 0 && tokens <= limits.turnTokens,
  );
}

/** Calls that the owner can answer: open ones, and those that a restart interrupted with the last turn. */
export function openAsks({
  asking = [],
  cutAsks = [],
  ended,
  running,
}: Pick<Conversation, "asking" | "cutAsks" | "ended" | "running">): readonly BlockId[] {
  return ended === "interrupted" && running.length === 0 ? [...asking, ...cutAsks] : asking;
}

/** The part of a turn that is known before it ends. */
export function begunTurn({
  id,
  provider,
  agent,
  startedBy,
  model,
  sessionId,
  startedAt,
  messages,
}: Turn): Turn {
  return {
    ...{ id, provider, agent, status: "running", startedAt },
    ...(startedBy === undefined ? {} : { startedBy }),
    ...(model === undefined ? {} : { model }),
    ...(sessionId === undefined ? {} : { sessionId }),
    ...(messages === undefined ? {} : { messages }),
  };
}

/** A request to stop a turn or to answer its ask, carried out once. */
export interface TurnCommand {
  readonly id: string;
  readonly by: AgentId;
  /** Absent: stop. */
  readonly answer?: {
    readonly block: BlockId;
    readonly ask: string;
    readonly allow: boolean;
    readonly message?: string;
    readonly answer?: AskAnswer;
    /** For a plan: the version of the block that was read. */
    readonly planVersion?: number;
  };
}

export interface MessageUsage {
  readonly usage: Usage;
  readonly model?: string;
  /** The tool call that started the sub-agent. */
  readonly parent?: BlockId;
}

export const NO_USAGE: Usage = { input: 0, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0 };

export function newConversation(id: ConversationId, createdBy: AgentId, at: number): Conversation {
  return {
    id,
    title: "",
    createdBy,
    createdAt: at,
    updatedAt: at,
    seq: 0,
    blocks: 0,
    head: null,
    running: [],
    sessions: {},
    included: [],
    usage: NO_USAGE,
    costUsd: null,
    turns: 0,
    metadata: {},
  };
}

export function addUsage(a: Usage, b: Usage): Usage {
  return {
    input: a.input + b.input,
    cacheRead: a.cacheRead + b.cacheRead,
    cacheWrite: a.cacheWrite + b.cacheWrite,
    output: a.output + b.output,
    reasoning: a.reasoning + b.reasoning,
  };
}

export function subtractUsage(a: Usage, b: Usage): Usage {
  return {
    input: a.input - b.input,
    cacheRead: a.cacheRead - b.cacheRead,
    cacheWrite: a.cacheWrite - b.cacheWrite,
    output: a.output - b.output,
    reasoning: a.reasoning - b.reasoning,
  };
}
