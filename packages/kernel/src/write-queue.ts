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
import type { Op } from "./op.ts";
import { isProblem, type Problem, problem } from "./problem.ts";
import type { Store } from "./store.ts";
import type { TextCache } from "./text-cache.ts";

export interface Write<T = unknown> {
  readonly agent: AgentId;
  /** Sent again with the same key, a write is answered again and applied once. Keys are per agent. */
  readonly key?: string;
  /** Makes the conversation if it does not exist. */
  readonly create?: boolean;
  readonly plan: (draft: Draft) => T | Problem;
}

/** What listeners are told, after the commit, in order. */
export interface Told {
  readonly conversation: ConversationId;
  readonly record: Conversation;
  readonly ops: readonly Op[];
  /** The touched blocks as they are now. */
  readonly blocks: readonly Block[];
  readonly turns: readonly Turn[];
}

interface Waiting extends Write {
  readonly settle: (answer: unknown) => void;
  /** Its key is not among the stored answers. */
  isNew: boolean;
}

interface OpenUnit {
  readonly type: "append" | "burst" | "other";
  readonly unit: number;
  readonly at: number;
}

/** Block records kept in memory per conversation. */
const CACHED_BLOCKS = 20_000;

export class WriteQueue {
  readonly conversation: ConversationId;
  readonly #env: Env;
  readonly #store: Store;
  readonly #texts: TextCache;
  readonly #tell: (told: Told) => void;
  #waiting: Waiting[] = [];
  #running = false;
  #record: Conversation | undefined;
  readonly #blocks = new Map<BlockId, Block | null>();
  readonly #turns = new Map<string, Turn>();
  readonly #units = new Map<string, OpenUnit>();
  readonly #inFlight = new Map<string, Promise<unknown>>();
  #opened: Promise<void> | undefined;

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
  }

  get idle(): boolean {
    return !this.#running && this.#waiting.length === 0;
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
    if (this.#waiting.length >= limits.queuedWrites) {
      return Promise.resolve(
        problem("busy", `${this.#waiting.length} writes wait in this conversation; try again`, {
          waiting: this.#waiting.length,
        }),
      );
    }
    const answer = new Promise<unknown>((settle) => {
      this.#waiting.push({
        ...write,
        ...(key === undefined ? {} : { key }),
        settle,
        isNew: key === undefined,
      });
    });
    if (key !== undefined) {
      this.#inFlight.set(key, answer);
      answer.then(() => this.#inFlight.delete(key));
    }
    if (!this.#running) {
      this.#running = true;
      this.#env.soon(() => this.#run());
    }
    return answer as Promise<T | Problem>;
  }

  /** Takes in what another node has committed. */
  async refresh(): Promise<void> {
    await this.write({ agent: "kernel", plan: () => undefined });
    const stored = await this.#store.conversation(this.conversation);
    if (stored && this.#record && stored.seq > this.#record.seq) await this.#takeIn();
  }

  async #run(): Promise<void> {
    try {
      while (this.#waiting.length > 0) {
        const refused = await this.#open();
        if (refused) this.#failAll(refused);
        else await this.#batch();
      }
    } finally {
      this.#running = false;
    }
  }

  async #open(): Promise<Problem | undefined> {
    try {
      this.#opened ??= this.#load();
      await this.#opened;
      return undefined;
    } catch (error) {
      this.#opened = undefined;
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
    await this.#answerAgain();
    if (this.#waiting.length === 0) return;
    const draft = new Draft(this.#ground());
    const planned: { write: Waiting; answer: unknown }[] = [];
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
    await this.#commit(draft, planned);
    if (missing) await this.#loadMissing(missing);
  }

  /** Settles the writes whose keys were answered before. */
  async #answerAgain(): Promise<void> {
    const keyed = this.#waiting.filter((write) => !write.isNew);
    if (keyed.length === 0) return;
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

  async #commit(draft: Draft, planned: readonly { write: Waiting; answer: unknown }[]): Promise<void> {
    if (draft.ops.length === 0) {
      for (const { write, answer } of planned) write.settle(answer);
      return;
    }
    const expectedSeq = draft.record.seq - draft.ops.length;
    const blocks = [...draft.changedBlocks];
    const turns = [...draft.changedTurns];
    const { conversation } = this;
    const { ops, record, answers } = draft;
    try {
      const answer = await this.#store.commit({
        conversation,
        expectedSeq,
        ops,
        blocks,
        record,
        turns,
        answers,
      });
      if (answer.type === "moved") return await this.#moved(draft, planned);
    } catch (error) {
      for (const text of draft.touched) this.#texts.drop(text);
      for (const { write } of planned) write.settle(storageProblem(error));
      return;
    }
    this.#takeUp(draft, blocks, turns);
    this.#tell({ conversation, record, ops, blocks, turns });
    for (const { write, answer } of planned) write.settle(answer);
  }

  #takeUp(draft: Draft, blocks: readonly Block[], turns: readonly Turn[]): void {
    this.#record = draft.record;
    for (const block of blocks) this.#remember(block.id, block);
    for (const turn of turns) this.#turns.set(turn.id, turn);
    for (const text of draft.touched) {
      if (draft.spoilt.has(text)) continue;
      text.commit();
      this.#texts.used(text);
    }
    for (const block of blocks) this.#texts.outdate(block.id, block.version);
    const at = this.#env.monotonic();
    for (const { block, agent, type, unit } of draft.units)
      this.#units.set(`${block} ${agent}`, { type, unit, at });
    if (this.#units.size > CACHED_BLOCKS) this.#units.clear(); // the next write of each starts a new unit
  }

  async #moved(draft: Draft, planned: readonly { write: Waiting; answer: unknown }[]): Promise<void> {
    for (const text of draft.touched) this.#texts.drop(text);
    for (const { write } of planned) write.isNew = write.key === undefined;
    this.#waiting = [...planned.map(({ write }) => write), ...this.#waiting];
    await this.#takeIn();
  }

  /** Reads what others have committed since our record, tells it, and forgets what it has made old. */
  async #takeIn(): Promise<void> {
    const since = this.#record?.seq ?? 0;
    const { conversation } = this;
    await this.#load();
    const record = this.#record;
    if (!record) return;
    const blocks = await this.#store.blocks({
      conversation,
      changedSince: since,
      order: "first",
      limit: 1e9,
    });
    const ops = [...(await this.#store.conversationOps(conversation, since))];
    for (const block of blocks) {
      const log = await this.#store.log(block.id, { seq: since });
      ops.push(...log.ops);
      this.#remember(block.id, block);
      this.#texts.dropId(block.id);
    }
    this.#units.clear();
    ops.sort((a, b) => a.seq - b.seq);
    this.#tell({ conversation, record, ops, blocks, turns: [...this.#turns.values()] });
  }

  async #loadMissing({ what }: Missing): Promise<void> {
    try {
      if ("block" in what) await this.#loadBlock(what.block);
      else if ("text" in what) await this.#texts.load(what.text);
      else await this.#texts.loadUndo(what.undo);
    } catch (error) {
      this.#waiting.shift()?.settle(storageProblem(error));
    }
  }

  async #loadBlock(id: BlockId): Promise<void> {
    const block = await this.#store.block(id);
    this.#remember(id, block ?? null);
    if (block) this.#texts.outdate(id, block.version);
  }

  #ground(): Ground {
    const { conversation } = this;
    return {
      conversation,
      record: this.#record ?? newConversation(conversation, this.#waiting[0]?.agent ?? "", this.#env.now()),
      block: (id) => this.#blocks.get(id),
      text: (id) => this.#texts.peek(id),
      turn: (id) => this.#turns.get(id),
      openUnit: (block, agent, type) => this.#openUnit(block, agent, type),
    };
  }

  #openUnit(block: BlockId, agent: AgentId, type: "append" | "burst"): number | undefined {
    const open = this.#units.get(`${block} ${agent}`);
    if (open?.type !== type) return undefined;
    if (type === "burst" && this.#env.monotonic() - open.at > limits.burstMs) return undefined;
    return open.unit;
  }

  #remember(id: BlockId, block: Block | null): void {
    this.#blocks.delete(id);
    this.#blocks.set(id, block);
    if (this.#blocks.size <= CACHED_BLOCKS) return;
    const oldest = this.#blocks.keys().next().value;
    if (oldest !== undefined) this.#blocks.delete(oldest);
  }

  #failAll(answer: Problem): void {
    for (const write of this.#waiting.splice(0)) write.settle(answer);
  }
}

export function storageProblem(error: unknown): Problem {
  const reason = error instanceof Error ? error.message : String(error);
  return problem("storage", `the store could not do it, nothing was written: ${reason}`, { reason });
}
