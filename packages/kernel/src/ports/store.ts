/**
 * The store port: where ops become durable. Asynchronous and optimistic: a commit names the sequence number that it was
 * planned on, and is answered `committed` (durable: a crash or a power loss does not undo it) or `moved` (another writer
 * was faster; nothing was written). One kernel on SQLite and many on PostgreSQL run the same code over it.
 *
 * What a store must keep (one suite checks all of them: store-contract.ts):
 *   - a commit is atomic: ops, block records, the conversation's record, turns and answers appear together or not at all;
 *   - `seq` is dense per conversation; a commit on another sequence number than the stored one is `moved`;
 *   - ops come back as they went in, in order, except that appends of one unit may have been merged into runs, and that
 *     ops before a compaction are gone;
 *   - block records and turns are derived (they could be rebuilt from the ops) but are always as new as the ops.
 */

import type { Block } from "../model/block.ts";
import type { Conversation, Turn } from "../model/conversation.ts";
import type { AgentId, BlockId, ConversationId } from "../model/ids.ts";
import type { Json } from "../model/json.ts";
import type { Kind, Status } from "../model/kind.ts";
import type { Op } from "../model/op.ts";
import type { Problem } from "../model/problem.ts";
import type { AuditLog } from "./audit.ts";

export interface Commit {
  readonly conversation: ConversationId;
  /** The conversation's sequence number that this was planned on; 0 creates the conversation. */
  readonly expectedSeq: number;
  readonly ops: readonly Op[];
  /** The touched blocks after the ops. */
  readonly blocks: readonly Block[];
  /** The conversation's record after the ops. */
  readonly record: Conversation;
  readonly turns: readonly Turn[];
  /** Idempotency keys with the answers to give again. */
  readonly answers: readonly { readonly key: string; readonly answer: Json }[];
}

export type CommitAnswer =
  | { readonly type: "committed" }
  /** `seq` is the conversation's current seq. Read what the caller missed with the other methods. */
  | { readonly type: "moved"; readonly seq: number };

/** All commits after a sequence number, consistent as of one moment. */
export interface Missed {
  readonly record: Conversation;
  /** At least those that have changed. */
  readonly turns: readonly Turn[];
  readonly blocks: readonly Block[];
  readonly ops: readonly Op[];
  /** Blocks with missing ops: they were compacted. */
  readonly renewed: readonly BlockId[];
}

/**
 * A commit that is planned when its turn comes: nobody else writes to the conversation between reading what it missed
 * and its commit. It may be planned several times, if the store has to restart the transaction.
 */
export interface TurnedCommit {
  readonly conversation: ConversationId;
  /** The planner's seq; called when its turn comes, like the methods below. */
  since(): number;
  /** Keys of writes whose stored answers the planner needs. */
  keys(): readonly string[];
  /**
   * Keys of writes that arrived after `keys` was called, if there are enough to justify another lookup. May be called
   * once more.
   */
  moreKeys(): readonly string[];
  /** Applies what was missed, if anything, and plans on it; undefined: nothing to commit. */
  plan(missed: Missed | undefined, answers: ReadonlyMap<string, Json>): Commit | undefined;
}

/** The parts of a block's text: a compaction, if there is one, and the ops after it. */
export interface BlockLog {
  /** The text (and CRDT state, for a promoted block) at `version`; absent when no history was compacted. */
  readonly compacted?: Compacted;
  /** All ops of the block after the compaction and after the requested point, by version. */
  readonly ops: readonly Op[];
}

export type LogPoint = { readonly version: number } | { readonly seq: number };

export interface Compacted {
  readonly version: number;
  readonly text: string;
  /** CRDT state of a promoted block: it keeps the identity of every character, so that old replicas still merge. */
  readonly state?: Uint8Array;
  /** Append anchors of agents at the compaction. */
  readonly anchors: { readonly [agent: string]: string };
  /** Whose splices it contains. Absent: compacted by an earlier version, and nobody knows. */
  readonly editors?: readonly AgentId[];
}

export interface ConversationQuery {
  readonly limit: number;
  /** Only those that were last changed before this time. */
  readonly before?: number;
  /** Only those whose title contains this; case is ignored. */
  readonly title?: string;
  /** Not these: they are deleted. */
  readonly except?: readonly ConversationId[];
}

export interface BlockQuery {
  readonly conversation?: ConversationId;
  /** Not of these conversations. */
  readonly except?: readonly ConversationId[];
  readonly parent?: BlockId;
  readonly kinds?: readonly Kind[];
  readonly status?: Status;
  readonly pathPrefix?: string;
  /** Only blocks whose last op is after this sequence number. Needs `conversation`. */
  readonly changedSince?: number;
  /** Only blocks born before this sequence number. */
  readonly before?: number;
  readonly after?: number;
  /** Newest first (`last`) or oldest first; at most `limit`. */
  readonly order: "first" | "last";
  readonly limit: number;
}

export interface SearchQuery {
  /** The owner is asking: others wait. */
  readonly isOwners?: boolean;
  readonly pattern: string;
  /** Taken literally, not as a regular expression. */
  readonly literal: boolean;
  readonly ignoreCase: boolean;
  readonly conversation?: ConversationId;
  /** Not in these conversations. */
  readonly except?: readonly ConversationId[];
  readonly kinds?: readonly Kind[];
  readonly pathPrefix?: string;
  /** Only blocks after this one in search order: the next page. */
  readonly after?: SearchPlace;
  readonly contextLines: number;
  readonly maxMatchesPerBlock: number;
  readonly maxBlocks: number;
  readonly deadlineMs: number;
}

export interface SearchMatch {
  /** 0-based, as block.edit takes it. */
  readonly line: number;
  /** The matched line with its context lines. */
  readonly content: string;
  /** Line number of the first line of `content`. */
  readonly contentLine: number;
  /**
   * Columns in UTF-16 units in the matched line; the end is exclusive. A match that continues on later lines ends past
   * the line: start + its length, with every newline counted as one.
   */
  readonly start: number;
  readonly end: number;
  /**
   * Only if the matched line is too long to be shown whole: the column of the first unit that `content` shows, after
   * the ellipsis that replaces the cut text.
   */
  readonly shownFrom?: number;
}

export interface SearchHit {
  readonly block: Block;
  readonly matches: readonly SearchMatch[];
  /** There are more matches in this block than requested. */
  readonly more: boolean;
}

export interface SearchAnswer {
  readonly hits: readonly SearchHit[];
  /** The block limit or the deadline ended the search early. */
  readonly more: boolean;
  /** The start of the next page, if there is one and the remaining blocks can be ordered by age. */
  readonly next?: SearchPlace;
  /** Only while the index is being built: the rest of the blocks is scanned one by one, as far as time allows. */
  readonly indexing?: SearchIndexing;
}

/** A block's place in the order of search: newest first, as newestBlockFirst has it. */
export type SearchPlace = Pick<Block, "createdAt" | "conversation" | "born">;

/** Conversations indexed as of now, and all conversations. */
export interface SearchIndexing {
  readonly indexed: number;
  readonly total: number;
}

export interface RawRun {
  readonly conversation: ConversationId;
  /** The ingest run or turn that the bytes belong to. */
  readonly run: string;
}

export interface Store {
  /** Changes whenever sequence numbers may have a new meaning (a new database, a restore). */
  readonly epoch: string;

  commit(commit: Commit): Promise<CommitAnswer>;

  /**
   * Plans and commits under the lock of the conversation: for conversations that several nodes write to, where a commit
   * planned earlier is usually too late. Absent: nobody else writes.
   */
  commitInTurn?(commit: TurnedCommit): Promise<CommitAnswer>;

  conversation(id: ConversationId): Promise<Conversation | undefined>;
  /** All commits after `since`, in one query; undefined if there are none. Absent: they are read piecewise. */
  missed?(conversation: ConversationId, since: number): Promise<Missed | undefined>;
  /** The seqs of conversations, in one query, without those that do not exist. Absent: they are read one by one. */
  seqs?(ids: readonly ConversationId[]): Promise<ReadonlyMap<ConversationId, number>>;
  /** Newest first by `updatedAt`. */
  conversations(query: ConversationQuery): Promise<readonly Conversation[]>;
  turns(conversation: ConversationId): Promise<readonly Turn[]>;
  answer(conversation: ConversationId, key: string): Promise<Json | undefined>;
  /** The stored answers for keys, in one query. Absent: each is queried. */
  answers?(conversation: ConversationId, keys: readonly string[]): Promise<ReadonlyMap<string, Json>>;

  block(id: BlockId): Promise<Block | undefined>;
  blocks(query: BlockQuery): Promise<readonly Block[]>;
  /**
   * Ops of a block after a version, or after a sequence number of its conversation. A run that spans that point is
   * returned whole. The compaction is returned if it replaced requested history.
   */
  log(block: BlockId, after: LogPoint): Promise<BlockLog>;
  /** The whole text, without its history: what reading and searching need. */
  text(block: BlockId): Promise<string>;
  /** Ops of the conversation itself (no block) after `afterSeq`. */
  conversationOps(conversation: ConversationId, afterSeq: number): Promise<readonly Op[]>;

  /** Replaces a block's ops up to `compacted.version` by the compaction. Never changes the block's content. */
  compact(block: BlockId, compacted: Compacted): Promise<void>;

  search(query: SearchQuery): Promise<SearchAnswer | Problem>;

  /** A provider's raw bytes, stored compressed, per run, in order. */
  appendRaw(run: RawRun, bytes: Uint8Array): Promise<void>;
  raw(run: RawRun): Promise<Uint8Array>;
  rawRuns(conversation: ConversationId): Promise<readonly string[]>;

  /** Large values by the hash of their content. */
  putBlob(hash: string, mediaType: string, bytes: Uint8Array): Promise<void>;
  blob(hash: string): Promise<{ readonly mediaType: string; readonly bytes: Uint8Array } | undefined>;

  /** The conversations that were deleted. */
  readonly deletions: DeletionLog;

  /** The audit log: commands allowed and run, access granted and revoked. */
  readonly audit: AuditLog;

  /** Whether the store can serve now; throws the reason if not, within seconds. Absent: only using it can tell. */
  check?(): Promise<void>;

  /** The nodes that have this store open. Absent: one process at a time can. */
  readonly nodes?: NodeRegister;

  close(): Promise<void>;
}

/** A conversation that was deleted, or is about to be. */
export interface Deletion {
  readonly conversation: ConversationId;
  readonly at: number;
  readonly by: string;
  /** When it was removed from the store; absent: it still exists, and can be restored. */
  readonly removedAt?: number;
}

/**
 * Which conversations were deleted. An entry is written before the conversation's record is marked as deleted, so that
 * a crash in between never leaves a hidden conversation that is not removed. The entry stays after the removal, because
 * the id is never reused.
 */
export interface DeletionLog {
  /**
   * Writes the entry, unless there is one. With `removedAt` it is permanent: this marks a session of a removed
   * conversation.
   */
  note(deletion: Deletion): Promise<void>;
  /** Deletes the entry of a restored conversation. The entry of a removed one stays. */
  withdraw(conversation: ConversationId): Promise<void>;
  /** The deleted conversations that are not removed yet: few. */
  waiting(): Promise<readonly Deletion[]>;
  find(conversation: ConversationId): Promise<Deletion | undefined>;
  /**
   * Removes the conversation with everything that belongs to it (ops, blocks, turns, answers, raw runs, blobs that no
   * other block names), and records the time. From then on it cannot be read; the next `clear` deletes rows that a
   * killed process left. `moved`: somebody has written since `expectedSeq`, and nothing was removed.
   */
  remove(conversation: ConversationId, expectedSeq: number, at: number): Promise<"removed" | "moved">;
  /** Deletes the remaining rows of removed conversations. */
  clear(): Promise<void>;
}

/** Prefix for an agent's name in the register of leases (leases.ts); no node's name has it. */
export const AGENT_PREFIX = "agent:";

/**
 * Which nodes are alive, by the store's own clock: a node renews its lease before it expires, and counts as dead once
 * it has expired. A node registers before it begins anything that ends with it. Agents that hold something open are
 * registered too, under their prefix.
 */
export interface NodeRegister {
  /** This node is alive for `leaseMs` from now on. */
  beat(node: string, leaseMs: number): Promise<NodeList>;
  /** Removes a node: it has left, or what it left has been closed. */
  remove(node: string): Promise<void>;
}

export interface NodeList {
  readonly alive: readonly string[];
  /** Nodes with expired leases whose open work nobody has closed. */
  readonly dead: readonly string[];
}
