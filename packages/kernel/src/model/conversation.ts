/**
 * The conversation: a tree of blocks under one root, and its record: title, head, turns and totals. Its blocks are in
 * the store; the record is small whatever the conversation's length.
 */

import type { AskAnswer } from "./ask.ts";
import type { TurnStatus, Usage } from "./event.ts";
import type { AgentId, BlockId, ConversationId } from "./ids.ts";
import type { JsonObject } from "./json.ts";
import type { Reason } from "./kind.ts";
import { limits } from "./limits.ts";

/** What is known of what a conversation carries besides its record. */
type KnownMetadata = {
  /** The folder in which its agents work, and the version of the one that worked last. */
  readonly cwd?: string;
  readonly version?: string;
  /** How freely its agents work, as it was last chosen. */
  readonly mode?: string;
  readonly archived?: boolean;
  /** It shows what somebody did elsewhere, as the recorded sessions of a first start do: nobody here has paid for it. */
  readonly recorded?: boolean;
  /** Where its title comes from, if no person gave it. */
  readonly titled?: "prompt" | "provider";
};

/** What a conversation carries besides its record: some keys are known, a program may add others. */
export type ConversationMetadata = JsonObject & KnownMetadata;

export interface Conversation {
  readonly id: ConversationId;
  readonly title: string;
  readonly createdBy: AgentId;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** The sequence number of its last op. */
  readonly seq: number;
  /** How many blocks it has. */
  readonly blocks: number;
  /** The last block that continues it: where the next one goes unless its writer says otherwise. */
  readonly head: BlockId | null;
  /** Turns that run now. */
  readonly running: readonly string[];
  /** Why its last turn ended as it did; absent where it ended well, or none has ended. */
  readonly ended?: Reason;
  /** Tool calls that wait for the owner's answer; absent where none does. */
  readonly asking?: readonly BlockId[];
  /** Those that were cut off unanswered with the last turn; absent where none was. `openAsks` says which can be answered. */
  readonly cutAsks?: readonly BlockId[];
  readonly provider?: string;
  readonly model?: string;
  /** The provider's session, for resuming, by provider name. */
  readonly sessions: { readonly [provider: string]: string };
  /** Blocks of elsewhere that belong to the context. */
  readonly included: readonly BlockId[];
  readonly forkedFrom?: BlockId;
  readonly usage: Usage;
  /** Stated by providers, or from the user's price table; null while nobody has stated any. */
  readonly costUsd: number | null;
  /** Turns that used more than is counted; absent where there is none. */
  readonly uncounted?: number;
  readonly turns: number;
  readonly metadata: ConversationMetadata;
  /** It was deleted: hidden from everybody, and removed from the store when its undo time is over. */
  readonly deleted?: Deleted;
}

export interface Deleted {
  readonly at: number;
  readonly by: AgentId;
  /** Until then it can be restored. */
  readonly until: number;
}

/** What an op may change of the record; everything else follows from the ops. */
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

/** One request to a provider and all that it produced. An op carries the whole turn as it stands. */
export interface Turn {
  readonly id: string;
  readonly provider: string;
  readonly agent: AgentId;
  readonly model?: string;
  readonly sessionId?: string;
  /** Who started it here. Absent: a stream, an import or another program brought it, so that none of its sessions is resumed. */
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
  /** It used more than `usage` and `costUsd` say: an answer was cut, or its process ended, before that was counted. */
  readonly uncounted?: true;
  /** Usage by message id; of sub-agents too. */
  readonly messages?: { readonly [messageId: string]: MessageUsage };
  readonly native?: JsonObject;
  /** Begun by its agent, which runs it itself and holds it with its lease: see leased.ts. */
  readonly leased?: true;
  /** It was ended because its agent was away for too long; the agent may still say how it ended. */
  readonly lapsed?: true;
  /** The node that runs it, where several share a store. A run that ends its turn takes this off; who ends it for it does not. */
  readonly node?: string;
  /** What was asked of that node by way of another one. Absent: nobody there takes orders. */
  readonly orders?: readonly TurnOrder[];
}

/** A turn without a cost, or tokens, that nothing can have: whoever said so would make what others spent look like more, or less. */
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

/** Calls that the owner can answer: those that wait, and those that a restart has cut off with the last turn. */
export function openAsks({
  asking = [],
  cutAsks = [],
  ended,
  running,
}: Pick<Conversation, "asking" | "cutAsks" | "ended" | "running">): readonly BlockId[] {
  return ended === "interrupted" && running.length === 0 ? [...asking, ...cutAsks] : asking;
}

/** What is known of a turn before it ends. */
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

/** To stop a turn, or an answer to what it asks; it is carried out once. */
export interface TurnOrder {
  readonly id: string;
  readonly by: AgentId;
  /** Absent: stop. */
  readonly answer?: {
    readonly block: BlockId;
    readonly ask: string;
    readonly allow: boolean;
    readonly message?: string;
    readonly answer?: AskAnswer;
    /** Of a plan: the version of its block that was read. */
    readonly planVersion?: number;
  };
}

export interface MessageUsage {
  readonly usage: Usage;
  readonly model?: string;
  /** The tool call of the sub-agent that it belongs to. */
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
