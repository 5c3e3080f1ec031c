/**
 * The write queue of one conversation: plans what waits as one batch, commits it, then tells.
 *
 * Order is kept: writes are planned in the order in which they came, and a write that needs something loaded holds back
 * those behind it. One batch is under way at a time. When the store says `moved`, what was missed is taken in and the
 * batch is planned again; when it fails, every write of the batch is answered with a problem and nothing has changed.
 */

import type { AgentId, Block, BlockId, ConversationId } from "./block.ts";
import { type Conversation, newConversation, type Turn } from "./conversation.ts";
import { Draft, type Ground, Missing } from "./draft.ts";
import type { Env } from "./env.ts";
import type { Json } from "./json.ts";
import { limits } from "./limits.ts";
import { type Missed, readMissed, wasTaken } from "./missed.ts";
import type { Op } from "./op.ts";
import { isProblem, type Problem, problem } from "./problem.ts";
import type { Commit, Store } from "./store.ts";
import { StoreError } from "./store-rules.ts";
import type { BlockText } from "./text/block-text.ts";
import type { TextCache } from "./text-cache.ts";

export interface Write<T = unknown> {
  readonly agent: AgentId;
  /** Sent again with the same key, a write is answered again and applied once. Keys are per agent. */
  readonly key?: string;
  /** Makes the conversation if it does not exist. */
  readonly create?: boolean;
  readonly plan: (draft: Draft) => T | Problem;
  /** Told the answer before anything else is planned. */
  readonly settled?: (answer: T | Problem) => void;
}

/** What listeners are told, after the commit, in order. */
export interface Told {
  readonly conversation: ConversationId;
  readonly record: Conversation;
  readonly ops: readonly Op[];
  /** The touched blocks as they are now. */
  readonly blocks: readonly Block[];
  readonly turns: readonly Turn[];
  /** Of these blocks, ops are missing: another node has folded them before they were heard of here. Read them anew. */
  readonly renewed?: readonly BlockId[];
}

interface Waiting {
  readonly agent: AgentId;
  readonly key: string | undefined;
  readonly create: boolean;
  readonly plan: (draft: Draft) => unknown;
  readonly settle: (answer: unknown) => void;
  /** Its key is not among the stored answers. */
  isNew: boolean;
  /** What other nodes have committed was looked for on its behalf. */
  isFresh?: boolean;
  /** The texts that its plan has asked for. A plan that is given up spoils those that it changed: it needs them all again. */
  texts?: Set<BlockId>;
}

interface OpenUnit {
  readonly type: "append" | "burst" | "other";
  readonly unit: number;
  readonly at: number;
}

interface Planned {
  readonly write: Waiting;
  readonly answer: unknown;
}

/** How often, and how long apart, the store is asked what became of a commit that it did not answer. */
const OUTCOME_TRIES = 20;
const OUTCOME_MS = 250;

/** Block records kept in memory per conversation. */
const CACHED_BLOCKS = 20_000;

export class WriteQueue {
  readonly conversation: ConversationId;
  readonly #env: Env;
  readonly #store: Store;
  readonly #texts: TextCache;
  readonly #tell: (told: Told) => void;
  readonly #ground: Ground;
  #waiting: Waiting[] = [];
  #running = false;
  #record: Conversation | undefined;
  readonly #blocks = new Map<BlockId, Block | null>();
  readonly #turns = new Map<string, Turn>();
  readonly #units = new Map<BlockId, Map<AgentId, OpenUnit>>();
  readonly #inFlight = new Map<string, Promise<unknown>>();
  #isOpen = false;
  /** Those who want to know what other nodes have committed. */
  #refreshing: (() => void)[] = [];

  constructor(
    conversation: ConversationId,
    env: Env,
    store: Store,
    texts: TextCache,
    tell: (told: Told) => void,
  ) {
    this.conversation = conversation;
    this.#env = env;
    this.#store = store;
    this.#texts = texts;
    this.#tell = tell;
    this.#ground = this.#makeGround();
  }

  get idle(): boolean {
    return !this.#running && this.#waiting.length === 0 && this.#refreshing.length === 0;
  }

  /** The committed record, if this queue has it. */
  get record(): Conversation | undefined {
    return this.#record;
  }

  /** The committed block, if this queue has it; null if it does not exist. */
  cached(id: BlockId): Block | null | undefined {
    return this.#blocks.get(id);
  }

  write<T>(write: Write<T>): Promise<T | Problem> {
    const key = write.key === undefined ? undefined : `${write.agent}:${write.key}`;
    const twin = key === undefined ? undefined : this.#inFlight.get(key);
    if (twin) return twin as Promise<T | Problem>;
    const busy = this.#busy();
    if (busy) {
      write.settled?.(busy);
      return Promise.resolve(busy);
    }
    const { agent, plan, settled, create = false } = write;
    const answer = new Promise<T | Problem>((done) => {
      const settle = (given: unknown) => {
        settled?.(given as T | Problem);
        done(given as T | Problem);
      };
      this.#waiting.push({ agent, key, create, plan, settle, isNew: key === undefined });
    });
    if (key !== undefined) {
      this.#inFlight.set(key, answer);
      answer.then(() => this.#inFlight.delete(key));
    }
    this.#start();
    return answer;
  }

  /** A write without a key whose answer goes to `settle` alone. Streams come this way: they need no promise. */
  post<T>(agent: AgentId, plan: (draft: Draft) => T | Problem, settle: (answer: T | Problem) => void): void {
    const busy = this.#busy();
    if (busy) return settle(busy);
    const told = settle as (answer: unknown) => void;
    this.#waiting.push({ agent, key: undefined, create: false, plan, settle: told, isNew: true });
    this.#start();
  }

  #busy(): Problem | undefined {
    const { length: waiting } = this.#waiting;
    if (waiting < limits.queuedWrites) return undefined;
    return problem("busy", `${waiting} writes wait in this conversation; try again`, { waiting });
  }

  /** Takes in what another node has committed. In turn with the batches: nothing may change under a draft. */
  async refresh(): Promise<void> {
    const done = new Promise<void>((settle) => this.#refreshing.push(settle));
    this.#start();
    await done;
  }

  #start(): void {
    if (this.#running) return;
    this.#running = true;
    this.#env.soon(() => this.#run());
  }

  async #run(): Promise<void> {
    try {
      while (this.#waiting.length > 0 || this.#refreshing.length > 0) {
        const refused = this.#isOpen ? undefined : await this.#open();
        if (this.#refreshing.length > 0) await this.#refreshAll();
        if (refused) this.#failAll(refused);
        else if (this.#waiting.length > 0) await this.#batch();
      }
    } finally {
      this.#running = false;
    }
  }

  async #refreshAll(): Promise<void> {
    const asked = this.#refreshing.splice(0);
    // A store that does not answer has nothing new to tell; who asked will ask again.
    if (this.#isOpen) {
      const missed = await this.#missed(this.#record?.seq ?? 0).catch(() => undefined);
      if (missed) this.#absorb(missed);
    }
    for (const settle of asked) settle();
  }

  async #open(): Promise<Problem | undefined> {
    try {
      await this.#load();
      this.#isOpen = true;
      return undefined;
    } catch (error) {
      return storageProblem(error);
    }
  }

  async #load(): Promise<void> {
    this.#record = await this.#store.conversation(this.conversation);
    this.#turns.clear();
    if (this.#record)
      for (const turn of await this.#store.turns(this.conversation)) this.#turns.set(turn.id, turn);
  }

  /** Plans what waits, until something is missing or the batch is full; commits it; then loads what was missing. */
  async #batch(): Promise<void> {
    if (this.#waiting.some((write) => !write.isNew)) await this.#answerAgain();
    if (this.#waiting.length === 0) return;
    const draft = new Draft(this.#ground);
    const planned: Planned[] = [];
    let missing: Missing | undefined;
    while (
      this.#waiting.length > 0 &&
      draft.ops.length < limits.opsPerCommit &&
      planned.length < limits.queuedWrites
    ) {
      const write = this.#waiting[0] as Waiting;
      if (!write.isNew) break; // it came while the stored answers were looked up
      const answer = this.#plan(draft, write);
      if (answer instanceof Missing) {
        missing = answer;
        break;
      }
      this.#waiting.shift();
      planned.push({ write, answer });
    }
    for (const text of draft.spoilt) this.#texts.drop(text);
    const commit = draft.ops.length > 0 ? this.#commitOf(draft) : undefined;
    if (!commit) for (const { write, answer } of planned) write.settle(answer);
    else {
      // Waited for here and not one call further down: of nearly every write this is the only wait.
      let refused: Problem | undefined;
      let isMoved = false;
      try {
        isMoved = (await this.#store.commit(commit)).type === "moved";
      } catch (error) {
        refused = await this.#outcome(commit, error);
      }
      if (refused) this.#fail(draft, planned, refused);
      else if (isMoved) await this.#moved(draft, planned);
      else this.#committed(draft, planned, commit);
    }
    if (missing) await this.#loadMissing(missing);
  }

  /** Settles the writes whose keys were answered before. */
  async #answerAgain(): Promise<void> {
    const keyed = this.#waiting.filter((write) => !write.isNew);
    const settled = new Set<Waiting>();
    await Promise.all(
      keyed.map(async (write) => {
        try {
          const answer = await this.#store.answer(this.conversation, write.key as string);
          write.isNew = true;
          if (answer === undefined) return;
          write.settle(answer);
        } catch (error) {
          write.settle(storageProblem(error));
        }
        settled.add(write);
      }),
    );
    this.#waiting = this.#waiting.filter((write) => !settled.has(write));
  }

  #plan(draft: Draft, write: Waiting): unknown {
    if (this.#record === undefined && draft.record.seq === 0 && !write.create) {
      return problem("not_found", `conversation ${this.conversation} does not exist`);
    }
    const before = draft.ops.length;
    try {
      const answer = draft.plan(write.agent, this.#env.now(), write.plan);
      if (write.key !== undefined && !isProblem(answer) && draft.ops.length > before) {
        draft.answers.push({ key: write.key, answer: (answer ?? null) as Json });
      }
      return answer;
    } catch (thrown) {
      if (thrown instanceof Missing) return thrown;
      // A bug in one plan must not take the others with it; its draft is rolled back.
      return problem(
        "unavailable",
        `internal error: ${thrown instanceof Error ? thrown.message : String(thrown)}`,
      );
    }
  }

  #commitOf(draft: Draft): Commit {
    const { conversation } = this;
    const { ops, record, answers } = draft;
    const expectedSeq = record.seq - ops.length;
    const blocks = [...draft.changedBlocks];
    const turns = [...draft.changedTurns];
    return { conversation, expectedSeq, ops, blocks, record, turns, answers };
  }

  #committed(draft: Draft, planned: readonly Planned[], commit: Commit): void {
    const { conversation, record, ops, blocks, turns } = commit;
    this.#takeUp(draft, blocks, turns);
    this.#tell({ conversation, record, ops, blocks, turns });
    for (const { write, answer } of planned) write.settle(answer);
  }

  #fail(draft: Draft, planned: readonly Planned[], refused: Problem): void {
    for (const text of draft.touched) this.#texts.drop(text);
    // Where it is not known whether a write was committed, its key tells, sooner or later.
    const isKnown = refused.problem !== "unavailable";
    const again = planned
      .filter(({ write }) => !isKnown && write.key !== undefined)
      .map(({ write }) => write);
    for (const write of again) write.isNew = false;
    this.#waiting = [...again, ...this.#waiting];
    for (const { write } of planned) if (!again.includes(write)) write.settle(refused);
  }

  /**
   * What became of a commit that failed: it may have taken effect all the same, and only its answer was lost. Reading
   * tells. Until then nothing can be planned, and nobody can be told whether to try again.
   */
  async #outcome({ expectedSeq, ops }: Commit, error: unknown): Promise<Problem | undefined> {
    for (let tries = 0; tries < OUTCOME_TRIES; tries++) {
      if (tries > 0) await new Promise<void>((done) => this.#env.after(OUTCOME_MS, done));
      try {
        const missed = await this.#missed(expectedSeq);
        const isThere = missed === undefined ? false : wasTaken(missed, ops);
        if (isThere === undefined) break;
        return isThere ? undefined : storageProblem(error);
      } catch (unread) {
        if (unread instanceof StoreError && unread.code === "closed") return storageProblem(error);
      }
    }
    return problem("unavailable", "the store did not answer: whether this was written is not known");
  }

  #takeUp(draft: Draft, blocks: readonly Block[], turns: readonly Turn[]): void {
    this.#record = draft.record;
    for (const block of blocks) this.#remember(block.id, block);
    for (const turn of turns) this.#turns.set(turn.id, turn);
    for (const text of draft.touched) {
      if (draft.spoilt.has(text)) continue;
      text.commit();
      if (isStreamed(text, draft.ops)) this.#texts.grew(text);
      else this.#texts.used(text);
    }
    for (const block of blocks) this.#texts.outdate(block.id, block.version);
    const at = this.#env.monotonic();
    for (const { block, agent, type, unit } of draft.units) {
      const open = this.#units.get(block);
      if (open) open.set(agent, { type, unit, at });
      else this.#units.set(block, new Map([[agent, { type, unit, at }]]));
    }
    if (this.#units.size > CACHED_BLOCKS) this.#units.clear(); // the next write of each starts a new unit
  }

  async #moved(draft: Draft, planned: readonly Planned[]): Promise<void> {
    for (const text of draft.touched) this.#texts.drop(text);
    try {
      await this.#takeIn();
    } catch (error) {
      for (const { write } of planned) write.settle(storageProblem(error));
      return;
    }
    for (const { write } of planned) write.isNew = write.key === undefined;
    this.#waiting = [...planned.map(({ write }) => write), ...this.#waiting];
  }

  /** Reads what others have committed since our record, tells it, and forgets what it has made old. */
  async #takeIn(): Promise<void> {
    const missed = await this.#missed(this.#record?.seq ?? 0);
    if (missed) this.#absorb(missed);
  }

  #absorb({ record, turns, blocks, ops, renewed }: Missed): void {
    const { conversation } = this;
    this.#record = record;
    this.#turns.clear();
    for (const turn of turns) this.#turns.set(turn.id, turn);
    for (const block of blocks) {
      this.#remember(block.id, block);
      this.#texts.dropId(block.id);
    }
    this.#units.clear();
    // A key that was new may have come through another node.
    for (const write of this.#waiting) write.isNew = write.key === undefined;
    this.#tell({ conversation, record, ops, blocks, turns, ...(renewed.length > 0 ? { renewed } : {}) });
  }

  #missed(since: number): Promise<Missed | undefined> {
    return readMissed(this.#store, this.conversation, since);
  }

  async #loadMissing({ what }: Missing): Promise<void> {
    try {
      if ("news" in what) return await this.#lookForNews();
      if ("block" in what) return await this.#loadBlock(what.block);
      const id = "text" in what ? what.text : what.undo;
      const text = await this.#texts.load(id);
      if ("undo" in what) await this.#texts.loadUndo(id);
      await this.#loadAgain(id);
      if (this.#blocks.get(id) === undefined) await this.#loadBlock(id);
      const known = this.#blocks.get(id)?.version ?? 0;
      if (text.committed.version === known) return;
      // Of the two one is old: another node has written.
      this.#texts.drop(text);
      if (text.committed.version > known) await this.#takeIn();
    } catch (error) {
      this.#waiting.shift()?.settle(storageProblem(error));
    }
  }

  /** Otherwise two texts that one plan needs could take turns in being the missing one. */
  async #loadAgain(id: BlockId): Promise<void> {
    const [write] = this.#waiting;
    if (!write) return;
    for (const other of write.texts ?? []) await this.#texts.load(other);
    write.texts = (write.texts ?? new Set()).add(id);
  }

  async #lookForNews(): Promise<void> {
    const [write] = this.#waiting;
    if (write) write.isFresh = true;
    await this.#takeIn();
  }

  async #loadBlock(id: BlockId): Promise<void> {
    const block = await this.#store.block(id);
    this.#remember(id, block ?? null);
    if (block) this.#texts.outdate(id, block.version);
  }

  #makeGround(): Ground {
    const queue = this;
    const { conversation } = this;
    return {
      conversation,
      get record() {
        return (
          queue.#record ?? newConversation(conversation, queue.#waiting[0]?.agent ?? "", queue.#env.now())
        );
      },
      block: (id) => this.#blocks.get(id),
      text: (id) => this.#text(id),
      turn: (id) => this.#turns.get(id),
      isFresh: () => this.#waiting[0]?.isFresh === true,
      openUnit: (block, agent, type) => this.#openUnit(block, agent, type),
    };
  }

  /** A text of another version than the record's is not one to plan on. */
  #text(id: BlockId): BlockText | undefined {
    const text = this.#texts.peek(id);
    return text?.committed.version === (this.#blocks.get(id)?.version ?? 0) ? text : undefined;
  }

  #openUnit(block: BlockId, agent: AgentId, type: "append" | "burst"): number | undefined {
    const open = this.#units.get(block)?.get(agent);
    if (open?.type !== type) return undefined;
    if (type === "burst" && this.#env.monotonic() - open.at > limits.burstMs) return undefined;
    return open.unit;
  }

  #remember(id: BlockId, block: Block | null): void {
    // Age matters only to those who may have to leave.
    if (this.#blocks.size > CACHED_BLOCKS / 2) this.#blocks.delete(id);
    this.#blocks.set(id, block);
    if (this.#blocks.size <= CACHED_BLOCKS) return;
    const oldest = this.#blocks.keys().next().value;
    if (oldest !== undefined) this.#blocks.delete(oldest);
  }

  #failAll(answer: Problem): void {
    for (const write of this.#waiting.splice(0)) write.settle(answer);
  }
}

/** Whether nothing but a stream has written to the text, which it does without looking at it. */
function isStreamed({ id }: BlockText, ops: readonly Op[]): boolean {
  return ops.every((op) => op.block !== id || op.body.type === "append");
}

export function storageProblem(error: unknown): Problem {
  const reason = error instanceof Error ? error.message : String(error);
  return problem("storage", `the store could not do it, nothing was written: ${reason}`, { reason });
}
