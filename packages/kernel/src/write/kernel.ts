/**
 * The kernel: the one write path. Adapters, models, people and tools all use `write` (or `append`, which batches streamed pieces
 * into writes). It checks, plans, commits to the store and then emits the change to listeners, in that order. Listeners and
 * readers only ever see committed state.
 *
 * It does no I/O of its own: the store is a port, and time, timers and randomness come from `env`.
 */

import { type Block, isLapsed, type WholeBlock } from "../model/block.ts";
import type { Change } from "../model/change.ts";
import type { Conversation, Turn } from "../model/conversation.ts";
import {
  type AgentId,
  type BlockId,
  type ConversationId,
  conversationOf,
  parseBlockId,
} from "../model/ids.ts";
import { isEnded } from "../model/kind.ts";
import { limits } from "../model/limits.ts";
import { isProblem, type Problem, problem } from "../model/problem.ts";
import { derivedName, type Env, randomName } from "../ports/env.ts";
import type {
  BlockLog,
  BlockQuery,
  ConversationQuery,
  LogPoint,
  SearchAnswer,
  SearchQuery,
  Store,
} from "../ports/store.ts";
import { cleanText } from "../text/sanitize.ts";
import type { Text } from "../text/text.ts";
import { TextCache } from "../text/text-cache.ts";
import type { UndoModel } from "../text/undo.ts";
import { Appender } from "./append.ts";
import { closedProblem, notAnIdProblem } from "./block-rules.ts";
import { Compaction } from "./compaction.ts";
import { Deletions, removedProblem } from "./deletions.ts";
import type { Draft } from "./draft.ts";
import { OpenQueues } from "./open-queues.ts";
import { unreadProblem } from "./outcome.ts";
import type { Write } from "./write.ts";

type Listener = (change: Change) => void;

export class Kernel {
  readonly env: Env;
  readonly store: Store;
  readonly deletions: Deletions;
  /** This node's name, if several share the store: see nodes.ts. */
  node: string | undefined;
  /** Called with errors that listeners throw. By default they crash the program. */
  onFault: (error: unknown) => void = (error) =>
    this.env.soon(() => {
      throw error;
    });
  readonly #queues: OpenQueues;
  readonly #texts: TextCache;
  readonly #appender: Appender;
  readonly #listeners = new Set<Listener>();
  readonly #compaction: Compaction;

  constructor(env: Env, store: Store) {
    this.env = env;
    this.store = store;
    this.#texts = new TextCache(store);
    this.#queues = new OpenQueues(env, store, this.#texts, this.#emit);
    this.#appender = new Appender(env, (piece) => this.#queues.open(piece.conversation).post(piece));
    this.#compaction = new Compaction(this, this.#texts, (read) => this.#read(read));
    this.deletions = new Deletions(this);
    this.deletions.onFault = (error) => this.onFault(error);
  }

  /** Calls back after every commit, in order per conversation. The returned function ends it. */
  listen(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** The one write path. Resolves when the commit is durable. */
  write<T>(conversation: ConversationId, write: Write<T>): Promise<T | Problem> {
    const { behind, agent } = write;
    if (behind === undefined || behind.length === 0) return this.#queues.open(conversation).write(write);
    for (const id of behind) this.#appender.push(id, agent);
    const plan = (draft: Draft): T | Problem => {
      for (const id of behind) {
        const refused = this.#appender.refused(id, agent);
        if (refused) return refused;
      }
      return write.plan(draft);
    };
    return this.#queues.open(conversation).write({ ...write, plan });
  }

  /** Writes to one block, after everything the agent has streamed into it. */
  writeBlock<T>(id: BlockId, write: Write<T>): Promise<T | Problem> {
    const parts = parseBlockId(id);
    if (!parts) return Promise.resolve(notAnIdProblem(id));
    return this.write(parts.conversation, { ...write, behind: [id] });
  }

  /** A new conversation; its id. */
  async createConversation(agent: AgentId, title: string, key?: string): Promise<ConversationId | Problem> {
    const answer = await this.openConversation(agent, key, (draft, conversation) => {
      draft.conversation({ title: cleanText(title).slice(0, limits.titleChars).toWellFormed() });
      return { conversation };
    });
    return isProblem(answer) ? answer : answer.conversation;
  }

  /** Writes the first ops of a new conversation. With a key, the id is derived from it, so a repeated request finds it. */
  openConversation<T>(
    agent: AgentId,
    key: string | undefined,
    plan: (draft: Draft, id: ConversationId) => T | Problem,
  ): Promise<T | Problem> {
    const id = key === undefined ? randomName(this.env, 7) : derivedName(`key:${agent}:${key}`, 24);
    return this.write(id, {
      agent,
      create: true,
      ...(key === undefined ? {} : { key }),
      plan: (draft) => {
        if (draft.record.seq > 0) return problem("conflict", `conversation ${id} already exists; try again`);
        return plan(draft, id);
      },
    });
  }

  /** Accepts a streamed piece; see append.ts for when it is flushed. */
  append(id: BlockId, agent: AgentId, text: string): Promise<Block | Problem> {
    const known = this.#queues.get(this.#appender.conversation(id, agent) ?? conversationOf(id))?.cached(id);
    if (known) return Promise.resolve(this.#accept(known, agent, text));
    return this.block(id).then((block) => (isProblem(block) ? block : this.#accept(block, agent, text)));
  }

  /** Like `append`, but does not look at the block: the caller knows that it is open. A refusal is reported later. */
  stream(id: BlockId, agent: AgentId, text: string): Problem | undefined {
    return this.#appender.append(id, agent, text);
  }

  #accept(block: Block, agent: AgentId, text: string): Block | Problem {
    const { id } = block;
    const mayGoOn = block.kind === "file" || (isLapsed(block) && block.agent === agent);
    if (isEnded(block.status) && !mayGoOn) return closedProblem(block);
    return this.#appender.append(id, agent, text) ?? block;
  }

  /** Waits until the agent's appends to the block are durable. Returns the version, or why they were refused; bounded in time. */
  drain(id: BlockId, agent: AgentId): Promise<number | Problem | undefined> {
    return this.#appender.drain(id, agent);
  }

  /** Waits for the agent's appends, so that it reads its own writes next. */
  flushed(agent: AgentId): Promise<void> {
    return this.#appender.flushed(agent);
  }

  async conversation(id: ConversationId): Promise<Conversation | Problem> {
    const gone = this.deletions.isReady ? this.deletions.refusal(id) : await this.#gone(id);
    if (gone) return gone;
    const record = this.#queues.get(id)?.record ?? (await this.#read(() => this.store.conversation(id)));
    return record ?? this.#absent(id, `conversation ${id} does not exist`, { conversation: id });
  }

  /** Newest first. */
  conversations(query: ConversationQuery): Promise<readonly Conversation[] | Problem> {
    return this.#read(() => this.store.conversations({ ...query, ...this.deletions.except }));
  }

  async turns(id: ConversationId): Promise<readonly Turn[] | Problem> {
    const gone = await this.#gone(id);
    if (gone) return gone;
    return (await this.#read(() => this.store.turns(id))) ?? [];
  }

  /** The committed block. */
  async block(id: BlockId): Promise<Block | Problem> {
    const parts = parseBlockId(id);
    if (!parts) return notAnIdProblem(id);
    const { conversation } = parts;
    // Avoids an await if possible: appends pass here, and must stay in order.
    const gone = this.deletions.isReady
      ? this.deletions.refusal(conversation)
      : await this.#gone(conversation);
    if (gone) return gone;
    const cached = this.#queues.get(conversation)?.cached(id);
    const block = cached ?? (cached === null ? undefined : await this.#read(() => this.store.block(id)));
    return block ?? this.#absent(conversation, `block ${id} does not exist`, { block_id: id });
  }

  /** Committed blocks that match a query. */
  blocks(query: BlockQuery): Promise<readonly Block[] | Problem> {
    return this.#read(() => this.store.blocks({ ...query, ...this.deletions.except }));
  }

  /** All blocks of a conversation, oldest first, read in parts so that other writers do not wait. */
  async allBlocks(conversation: ConversationId): Promise<readonly Block[] | Problem> {
    const all: Block[] = [];
    for (;;) {
      const after = all.at(-1)?.born ?? 0;
      const part = await this.blocks({ conversation, after, order: "first", limit: limits.readBlocks });
      if (isProblem(part)) return part;
      for (const block of part) all.push(block);
      if (part.length < limits.readBlocks) return all;
      await new Promise<void>((done) => this.env.soon(done));
    }
  }

  search(query: SearchQuery): Promise<SearchAnswer | Problem> {
    return this.#read(() => this.store.search({ ...query, ...this.deletions.except }));
  }

  /** The committed block and its text, both of the same version. */
  async read(id: BlockId): Promise<{ readonly block: Block; readonly text: Text } | Problem> {
    for (let tries = 0; tries < limits.replans; tries++) {
      const block = await this.block(id);
      if (isProblem(block)) return block;
      const loaded = await this.#read(() => this.#texts.load(id));
      if (isProblem(loaded)) return loaded;
      this.#texts.used(loaded);
      const now = await this.block(id);
      if (isProblem(now)) return now;
      const { text, version } = loaded.committed;
      if (now.version === version) return { block: now, text };
      // Another node has written: either the text or the record is outdated.
      if (version > now.version) await this.wake(now.conversation);
      else if (loaded.version === version) this.#texts.dropId(id);
    }
    return problem("busy", `block ${id} changes faster than it can be read; try again`);
  }

  async whole(id: BlockId): Promise<WholeBlock | Problem> {
    const read = await this.read(id);
    return isProblem(read) ? read : { ...read.block, text: read.text.toString() };
  }

  async log(id: BlockId, after: LogPoint): Promise<BlockLog | Problem> {
    const conversation = conversationOf(id);
    const gone = this.deletions.isReady
      ? this.deletions.refusal(conversation)
      : await this.#gone(conversation);
    return gone ?? this.#read(() => this.store.log(id, after));
  }

  /** A block's CRDT state for a merging replica; promotes the block if necessary. */
  async mergeState(
    id: BlockId,
    agent: AgentId,
    vector?: Uint8Array,
  ): Promise<{ readonly version: number; readonly update: Uint8Array } | Problem> {
    return this.writeBlock(id, {
      agent,
      plan: (draft) => {
        const block = draft.promote(id);
        if (isProblem(block)) return block;
        draft.text(id);
        const merge = this.#texts.peek(id)?.merge;
        if (!merge) return problem("unavailable", "the block was not promoted");
        const update = vector === undefined ? merge.state() : merge.since(vector);
        return isProblem(update) ? update : { version: block.version, update };
      },
    });
  }

  /** The undo model of a block, for history and authorship. Read only. */
  async history(id: BlockId): Promise<UndoModel | Problem> {
    for (let tries = 0; tries < limits.replans; tries++) {
      const read = await this.read(id);
      if (isProblem(read)) return read;
      const failed = await this.#read(async () => {
        await this.#texts.loadUndo(id);
        return null;
      });
      if (isProblem(failed)) return failed;
      const loaded = this.#texts.peek(id);
      if (loaded?.undo && loaded.version === loaded.committed.version) return loaded.undo;
      await this.wake(read.block.conversation); // waits for the batch in flight
    }
    return problem("busy", `block ${id} changes faster than it can be read; try again`);
  }

  /**
   * Compacts a promoted block's history into a snapshot, except for its last `keepUnits` undo steps. The block does not change;
   * edits before the compaction can no longer be undone.
   */
  compact(id: BlockId, keepUnits = 0): Promise<Problem | undefined> {
    return this.#compaction.compact(id, keepUnits);
  }

  /** Removes deleted conversations and compacts histories. Call it now and then. */
  async maintain(): Promise<number> {
    await this.deletions.sweep();
    return this.#compaction.sweep();
  }

  /** Reads what another node may have committed to a conversation. */
  async wake(conversation: ConversationId): Promise<void> {
    await this.#queues.get(conversation)?.refresh();
  }

  /** Whether other nodes may commit too. */
  get isShared(): boolean {
    return this.store.nodes !== undefined;
  }

  /**
   * Emits all changes of a conversation, including other nodes' commits, until the returned function is called. To read and then
   * stay up to date, follow first. With a single node this is always the case.
   */
  async follow(id: ConversationId): Promise<(() => void) | Problem> {
    if (!this.isShared) return () => undefined;
    const stop = this.#queues.follow(id);
    // A queue emits what comes after the record it has loaded, so load one now.
    const queue = this.#queues.open(id);
    await queue.refresh();
    if (queue.record !== undefined) return stop;
    stop();
    const there = await this.conversation(id);
    return isProblem(there) ? there : problem("busy", `conversation ${id} could not be opened; try again`);
  }

  /** The conversations that are open here, each with the seq known here. */
  open(): ReadonlyMap<ConversationId, number> {
    return this.#queues.seqs();
  }

  /**
   * Another node has committed up to `seq`. Reads and emits the changes if someone follows the conversation or writes to it here;
   * otherwise drops it from memory.
   */
  async catchUp(id: ConversationId, seq: number): Promise<void> {
    const queue = this.#queues.get(id);
    if (queue === undefined || (queue.record?.seq ?? 0) >= seq) return;
    if (queue.idle && !queue.isBusy && !this.#queues.isFollowed(id)) this.#queues.forget(id);
    else await queue.refresh();
  }

  /** Emits only the record of a conversation that is not open here, for lists. Open ones emit their ops. */
  emitRecord(record: Conversation): void {
    const { id } = record;
    if (this.#queues.get(id)) return;
    this.#emit({ conversation: id, seq: record.seq, record, ops: [], blocks: [], turns: [] });
  }

  /** Drops all state of a removed conversation. */
  forget(id: ConversationId): void {
    this.#queues.forget(id);
  }

  /** Waits until everything accepted is durable. Nothing may be written afterwards. */
  async close(): Promise<void> {
    await this.deletions.close();
    await this.#appender.drainAll();
    await this.#queues.drain();
  }

  readonly #emit = (change: Change): void => {
    this.deletions.onCommit(change.record);
    this.#compaction.onCommit(change);
    for (const listener of this.#listeners) {
      try {
        listener(change);
      } catch (error) {
        // A listener's bug affects neither the commit nor the other listeners.
        this.onFault(error);
      }
    }
  };

  /** Why a conversation cannot be read, if it is deleted. */
  async #gone(id: ConversationId): Promise<Problem | undefined> {
    return (await this.#read(async () => null)) ?? this.deletions.refusal(id);
  }

  /** The problem for something missing: it was deleted, or never existed. */
  async #absent(id: ConversationId, words: string, details: Record<string, unknown>): Promise<Problem> {
    const removed = await this.#read(() => removedProblem(this.store, id));
    return removed ?? problem("not_found", words, details);
  }

  async #read<T>(read: () => Promise<T>): Promise<T | Problem> {
    try {
      if (!this.deletions.isReady) await this.deletions.ready();
      return await read();
    } catch (error) {
      return unreadProblem(error);
    }
  }
}
