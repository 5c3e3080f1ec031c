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
import type { BlockId, ConversationId } from "../model/ids.ts";
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
  /** The touched blocks as they are after the ops. */
  readonly blocks: readonly Block[];
  /** The conversation's record after the ops. */
  readonly record: Conversation;
  readonly turns: readonly Turn[];
  /** Idempotency keys with the answers to give again. */
  readonly answers: readonly { readonly key: string; readonly answer: Json }[];
}

export type CommitAnswer =
  | { readonly type: "committed" }
  /** `seq` is where the conversation stands now. What the caller missed is read with the other methods. */
  | { readonly type: "moved"; readonly seq: number };

/** What was committed after a sequence number, all of it as it was at one moment. */
export interface Missed {
  readonly record: Conversation;
  /** At least those that have changed. */
  readonly turns: readonly Turn[];
  readonly blocks: readonly Block[];
  readonly ops: readonly Op[];
  /** Blocks of which ops are missing: they were compacted. */
  readonly renewed: readonly BlockId[];
}

/**
 * A commit that is planned when it is its turn: between what it is told that it missed and its commit nobody else writes
 * to the conversation. It may be planned more than once, each time anew, if the store has to begin again.
 */
export interface TurnedCommit {
  readonly conversation: ConversationId;
  /** Where its planner stands; asked when it is its turn, as is what follows. */
  since(): number;
  /** Keys of writes whose stored answers the planner has to know. */
  keys(): readonly string[];
  /** Keys of writes that came after `keys` was asked, if so many came that they are worth another look. May be asked once more. */
  moreKeys(): readonly string[];
  /** Takes in what was missed, if anything was, and plans on it; undefined: there is nothing to commit. */
  plan(missed: Missed | undefined, answers: ReadonlyMap<string, Json>): Commit | undefined;
}

/** What a block's text is made of: a compaction, if there was one, and the ops after it. */
export interface BlockLog {
  /** The text (and CRDT state, for a promoted block) at `version`; absent when no history was compacted. */
  readonly compacted?: Compacted;
  /** All ops of the block after the compaction and after the point that was asked for, in order of version. */
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
  /** It is the owner who asks: others wait. */
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
  /** Only blocks behind this one in the order of search: the next page. */
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
   * Columns in UTF-16 units in the matched line; the end is exclusive. A match that goes on in later lines has its end
   * past the line's: start + its length, every newline counted as one.
   */
  readonly start: number;
  readonly end: number;
  /**
   * Only where the matched line is too long to be shown whole: the column of the first unit that `content` shows of it,
   * behind the ellipsis that stands for what was cut.
   */
  readonly shownFrom?: number;
}

export interface SearchHit {
  readonly block: Block;
  readonly matches: readonly SearchMatch[];
  /** More matches in this block than were asked for. */
  readonly more: boolean;
}

export interface SearchAnswer {
  readonly hits: readonly SearchHit[];
  /** The limit on blocks or the deadline ended the search before everything was looked at. */
  readonly more: boolean;
  /** Where the next page begins, if there is more and the blocks that are left can be told by their age. */
  readonly next?: SearchPlace;
  /** Only while the index is being built: the rest of the blocks is looked at one by one, as far as the time allows. */
  readonly indexing?: SearchIndexing;
}

/** A block's place in the order of search: newest first, as newestBlockFirst has it. */
export type SearchPlace = Pick<Block, "createdAt" | "conversation" | "born">;

/** Conversations that are in the search index as they are now, and all of them. */
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
  /** Changes whenever sequence numbers may have come to mean something else (a new database, a restore). */
  readonly epoch: string;

  commit(commit: Commit): Promise<CommitAnswer>;

  /**
   * Commits what is planned under the lock of its conversation: for those that several nodes write to, where a commit that
   * is planned before is too late most of the time. Absent: nobody else writes.
   */
  commitInTurn?(commit: TurnedCommit): Promise<CommitAnswer>;

  conversation(id: ConversationId): Promise<Conversation | undefined>;
  /** What was committed after `since`, in one question; undefined where nothing was. Absent: it is read bit by bit. */
  missed?(conversation: ConversationId, since: number): Promise<Missed | undefined>;
  /** Where conversations stand, in one question; those that do not exist are left out. Absent: they are read one by one. */
  seqs?(ids: readonly ConversationId[]): Promise<ReadonlyMap<ConversationId, number>>;
  /** Newest first by `updatedAt`. */
  conversations(query: ConversationQuery): Promise<readonly Conversation[]>;
  turns(conversation: ConversationId): Promise<readonly Turn[]>;
  answer(conversation: ConversationId, key: string): Promise<Json | undefined>;
  /** The stored answers among keys, in one question. Absent: each is asked for. */
  answers?(conversation: ConversationId, keys: readonly string[]): Promise<ReadonlyMap<string, Json>>;

  block(id: BlockId): Promise<Block | undefined>;
  blocks(query: BlockQuery): Promise<readonly Block[]>;
  /**
   * Ops of a block after a version, or after a sequence number of its conversation. A run that begins before that point
   * and ends after it is given whole. The compaction is given when history is asked for that it has replaced.
   */
  log(block: BlockId, after: LogPoint): Promise<BlockLog>;
  /** The whole text, without its history: what reading and searching need. */
  text(block: BlockId): Promise<string>;
  /** Ops of the conversation itself (no block) after `afterSeq`. */
  conversationOps(conversation: ConversationId, afterSeq: number): Promise<readonly Op[]>;

  /** Replaces a block's ops up to `compacted.version` by the compaction. Never changes what the block is. */
  compact(block: BlockId, compacted: Compacted): Promise<void>;

  search(query: SearchQuery): Promise<SearchAnswer | Problem>;

  /** A provider's raw bytes, kept compressed, per run, in order. */
  appendRaw(run: RawRun, bytes: Uint8Array): Promise<void>;
  raw(run: RawRun): Promise<Uint8Array>;
  rawRuns(conversation: ConversationId): Promise<readonly string[]>;

  /** Large values by the hash of their content. */
  putBlob(hash: string, mediaType: string, bytes: Uint8Array): Promise<void>;
  blob(hash: string): Promise<{ readonly mediaType: string; readonly bytes: Uint8Array } | undefined>;

  /** The conversations that were deleted. */
  readonly deletions: DeletionLog;

  /** What was allowed, run, granted and revoked. */
  readonly audit: AuditLog;

  /** Whether the store can serve now; throws what is wrong, and within seconds. Absent: nobody can tell without using it. */
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
  /** When it was removed from the store; absent: it is there, and can be restored. */
  readonly removedAt?: number;
}

/**
 * Which conversations were deleted. An entry is there before the conversation's record says that it is deleted, so that whoever
 * is killed in between leaves nothing hidden that nobody removes; and it stays when the conversation is gone, because its id
 * is never given again.
 */
export interface DeletionLog {
  /** Writes the entry, unless there is one. With `removedAt` it is there for ever: a session of a removed conversation is noted so. */
  note(deletion: Deletion): Promise<void>;
  /** Takes the entry of a conversation out that was restored. One that was removed stays. */
  withdraw(conversation: ConversationId): Promise<void>;
  /** The conversations that are not removed yet: few. */
  waiting(): Promise<readonly Deletion[]>;
  find(conversation: ConversationId): Promise<Deletion | undefined>;
  /**
   * Removes the conversation with all that belongs to it (ops, blocks, turns, answers, raw runs, blobs that no other block
   * names), and notes when. From then on nothing of it can be read; what a killed process left of its rows is cleared by the
   * next `clear`. `moved`: somebody has written since `expectedSeq`, and nothing was removed.
   */
  remove(conversation: ConversationId, expectedSeq: number, at: number): Promise<"removed" | "moved">;
  /** Clears what is left of removed conversations. */
  clear(): Promise<void>;
}

/** In front of the name of an agent, where the register keeps its lease (leases.ts); no node's name begins so. */
export const AGENT_PREFIX = "agent:";

/**
 * Which nodes are alive, by the store's own clock: a node says so again before its lease ends, and whose lease has ended is
 * dead until it does. Before a node begins anything that dies with it, it is in here. Agents that hold something open are in
 * here too, under their prefix.
 */
export interface NodeRegister {
  /** This node is alive for `leaseMs` from now on. */
  beat(node: string, leaseMs: number): Promise<NodeList>;
  /** Takes a node out: it has left, or what it left has been closed. */
  remove(node: string): Promise<void>;
}

export interface NodeList {
  readonly alive: readonly string[];
  /** Their leases have ended, and nobody has closed what they left. */
  readonly dead: readonly string[];
}
