/**
 * The write queue of one conversation: plans waiting writes as one batch, commits it, then emits the change.
 *
 * Writes are planned in the order in which they came; a write that needs something loaded holds back those after it. One batch
 * is in flight at a time. If the store answers `moved`, the queue reads what it missed and plans the batch again; if the
 * commit fails, every write of the batch is answered with a problem and nothing has changed.
 * If other nodes write to the conversation too, most commits would be `moved`. Then the batch is planned under the store's lock,
 * on the latest state (`commitInTurn`).
 *
 * A write has three outcomes, and its answer says which: written (the plan's answer), not written (`storage`, or the plan's
 * own problem), or unknown (`uncertain`: the store did not say whether the commit took effect).
 */

import type { Block } from "../model/block.ts";
import { type Change, changeOf } from "../model/change.ts";
import type { Conversation } from "../model/conversation.ts";
import type { BlockId, ConversationId } from "../model/ids.ts";
import { limits } from "../model/limits.ts";
import type { Problem } from "../model/problem.ts";
import type { Env } from "../ports/env.ts";
import { readMissed } from "../ports/missed.ts";
import type { Commit, CommitAnswer, Missed, Store, TurnedCommit } from "../ports/store.ts";
import type { TextCache } from "../text/text-cache.ts";
import { answerAgain, keysOf, settleKnown } from "./answered.ts";
import { BaseState } from "./base-state.ts";
import { type Batch, planBatch } from "./batch.ts";
import { loadMissing, type MissingPart } from "./missing.ts";
import { lateOutcomeOf, outcomeOf, refusalOf, storageProblem, uncertainProblem } from "./outcome.ts";
import type { Runnable, Scheduler } from "./scheduler.ts";
import { streamedBatch } from "./streamed.ts";
import { WaitingWrites } from "./waiting-writes.ts";
import { type Queued, queuedOf, type Write } from "./write.ts";

export class WriteQueue implements Runnable {
  readonly conversation: ConversationId;
  /** The count of all queues' uses at this queue's last use: for dropping the least recently used. */
  usedAt = 0;
  readonly #env: Env;
  readonly #store: Store;
  readonly #emit: (change: Change) => void;
  readonly #scheduler: Scheduler;
  readonly #base: BaseState;
  readonly #waiting = new WaitingWrites();
  #running = false;
  readonly #inFlight = new Map<string, Promise<unknown>>();
  #isOpen = false;
  #underWay: Batch | undefined;
  /** When another node's commit was last applied. */
  #rivalAt = Number.NEGATIVE_INFINITY;
  /** When this node last wrote. */
  #writtenAt = Number.NEGATIVE_INFINITY;
  /** Callers of `refresh`. */
  #refreshing: (() => void)[] = [];

  constructor(
    conversation: ConversationId,
    env: Env,
    store: Store,
    texts: TextCache,
    scheduler: Scheduler,
    emit: (change: Change) => void,
  ) {
    this.conversation = conversation;
    this.#env = env;
    this.#store = store;
    this.#scheduler = scheduler;
    this.#emit = emit;
    this.#base = new BaseState(conversation, env, store, texts);
  }

  get idle(): boolean {
    return !this.#running && this.#waiting.isEmpty && this.#refreshing.length === 0;
  }

  /** Whether it was written to a moment ago: the next write probably comes soon. */
  get isBusy(): boolean {
    return this.#env.monotonic() - this.#writtenAt < limits.rivalMs;
  }

  /** The committed record, if loaded. */
  get record(): Conversation | undefined {
    return this.#base.committed;
  }

  /** The committed block, if loaded; null if it does not exist. */
  cached(id: BlockId): Block | null | undefined {
    return this.#base.block(id);
  }

  write<T>(write: Write<T>): Promise<T | Problem> {
    const key = write.key === undefined ? undefined : `${write.agent}:${write.key}`;
    const twin = key === undefined ? undefined : this.#inFlight.get(key);
    if (twin) return twin as Promise<T | Problem>;
    const busy = this.#waiting.refusal();
    if (busy) return Promise.resolve(busy);
    const answer = new Promise<T | Problem>((done) => this.#waiting.add(queuedOf(write, key, done)));
    if (key !== undefined) {
      this.#inFlight.set(key, answer);
      answer.then(() => this.#inFlight.delete(key));
    }
    this.#start();
    return answer;
  }

  /** Queues a write that is answered through `settle` only. Streams use this: they need no promise. */
  post(write: Queued): void {
    const busy = this.#waiting.refusal();
    if (busy) return write.settle(busy);
    this.#waiting.add(write);
    this.#start();
  }

  /** Applies other nodes' commits, between batches: nothing may change under a draft. */
  async refresh(): Promise<void> {
    const done = new Promise<void>((settle) => this.#refreshing.push(settle));
    this.#start();
    await done;
  }

  #start(): void {
    if (this.#running) return;
    this.#running = true;
    this.#scheduler.add(this);
  }

  // -- called by the scheduler

  /** Plans and commits waiting writes. */
  run(at: number): void {
    if (this.#isInTurn()) {
      void this.#runInTurn();
      return;
    }
    if (!this.#isReady()) {
      void this.#runReady();
      return;
    }
    const batch = this.#streamed(at) ?? this.#planned();
    if (batch.commit === undefined || batch.missing !== undefined) {
      void this.#runBatch(batch);
      return;
    }
    // Nearly every batch only waits for its commit: the scheduler's callback is cheaper than an async function.
    this.#underWay = batch;
    this.#scheduler.wait(this.#store.commit(batch.commit), this);
  }

  answered({ type }: CommitAnswer): void {
    const batch = this.#underWay as Batch;
    this.#underWay = undefined;
    if (type === "moved") {
      void this.#moved(batch).then(() => this.#goOn());
      return;
    }
    this.#committed(batch);
    this.#goOn();
  }

  unanswered(error: unknown): void {
    const batch = this.#underWay as Batch;
    this.#underWay = undefined;
    void this.#failed(batch, error).then(() => this.#goOn());
  }

  #goOn(): void {
    if (!this.#waiting.isEmpty || this.#refreshing.length > 0) this.run(this.#env.now());
    else this.#running = false;
  }

  /** Whether the waiting writes can be planned now. */
  #isReady(): boolean {
    return this.#isOpen && this.#refreshing.length === 0 && this.#waiting.areNew;
  }

  /**
   * Whether to plan under the store's lock: if other nodes write too, a batch planned now would come too late; and keys can be
   * looked up in the same round trip.
   */
  #isInTurn(): boolean {
    const { commitInTurn, nodes } = this.#store;
    if (commitInTurn === undefined || nodes === undefined) return false;
    if (!this.#isOpen || this.#base.committed === undefined || this.#waiting.isEmpty) return false;
    if (this.#env.monotonic() - this.#rivalAt < limits.rivalMs) return true;
    return !this.#waiting.areNew;
  }

  async #runInTurn(): Promise<void> {
    let asked: readonly Queued[] = [];
    let batch: Batch | undefined;
    const turned: TurnedCommit = {
      conversation: this.conversation,
      since: () => this.#base.committed?.seq ?? 0,
      keys: () => {
        if (batch) this.#unplan(batch);
        batch = undefined;
        asked = [...this.#waiting.all]; // not those that come during the lookup
        return keysOf(asked);
      },
      moreKeys: () => {
        const more = this.#waiting.after(asked);
        if (more.length * limits.moreKeysShare < asked.length) return [];
        asked = [...asked, ...more];
        return keysOf(more);
      },
      plan: (missed, answers) => {
        if (missed) this.#absorb(missed);
        for (const settle of this.#refreshing.splice(0)) settle();
        this.#waiting.remove(settleKnown(asked, answers));
        batch = this.#planned();
        return batch.commit;
      },
    };
    try {
      const answer = await this.#store.commitInTurn?.(turned);
      if (batch !== undefined) await this.#inTurn(batch, answer?.type);
    } catch (error) {
      await this.#notInTurn(batch, error);
    }
    this.#goOn();
  }

  async #inTurn(batch: Batch, type: CommitAnswer["type"] | undefined): Promise<void> {
    if (batch.commit === undefined) for (const write of batch.planned) write.settle(write.answer);
    else if (type === "moved") await this.#moved(batch);
    else this.#committed(batch);
    if (batch.missing) await this.#load(batch.missing);
  }

  /** The turn did not come, or failed. If there was nothing to commit, nothing failed. */
  async #notInTurn(batch: Batch | undefined, error: unknown): Promise<void> {
    if (batch?.commit !== undefined) return this.#failed(batch, error);
    if (batch !== undefined) return this.#inTurn(batch, "committed");
    for (const settle of this.#refreshing.splice(0)) settle();
    this.#waiting.refuseAll(error);
  }

  #unplan(batch: Batch): void {
    this.#dropTouched(batch);
    this.#waiting.giveBack(batch.planned);
  }

  async #runReady(): Promise<void> {
    const refused = this.#isOpen ? undefined : await this.#open();
    if (this.#refreshing.length > 0) await this.#refreshAll();
    if (refused !== undefined) this.#waiting.refuseAll(refused);
    else await this.#answerAgain();
    this.#goOn();
  }

  async #runBatch(batch: Batch): Promise<void> {
    const { commit, missing } = batch;
    if (commit === undefined) for (const write of batch.planned) write.settle(write.answer);
    else {
      let answer: CommitAnswer | undefined;
      try {
        answer = await this.#store.commit(commit);
      } catch (error) {
        await this.#failed(batch, error);
      }
      if (answer?.type === "moved") await this.#moved(batch);
      else if (answer) this.#committed(batch);
    }
    if (missing) await this.#load(missing);
    this.#goOn();
  }

  async #refreshAll(): Promise<void> {
    const asked = this.#refreshing.splice(0);
    // If the store does not answer, the caller asks again.
    if (this.#isOpen) {
      const missed = await this.#missed(this.#base.committed?.seq ?? 0).catch(() => undefined);
      if (missed) this.#absorb(missed);
    }
    for (const settle of asked) settle();
  }

  /** Returns what was thrown, if anything. */
  async #open(): Promise<unknown> {
    try {
      await this.#base.load();
      this.#isOpen = true;
      return undefined;
    } catch (error) {
      return error ?? new Error("the store could not be read");
    }
  }

  #streamed(at: number): Batch | undefined {
    const batch = streamedBatch(this.#base, this.#waiting.all, at);
    if (batch !== undefined) this.#waiting.taken(batch.planned.length);
    return batch;
  }

  #planned(): Batch {
    const batch = planBatch(this.#env, this.#base, this.#waiting.all);
    this.#waiting.taken(batch.planned.length);
    return batch;
  }

  /** Settles writes whose keys have stored answers. */
  async #answerAgain(): Promise<void> {
    this.#waiting.remove(await answerAgain(this.#store, this.conversation, this.#waiting.all));
  }

  #committed(batch: Batch): void {
    if (this.#store.nodes) this.#writtenAt = this.#env.monotonic();
    const commit = batch.commit as Commit;
    this.#base.applyCommit(commit, batch.draft, batch.units);
    this.#emit(changeOf(commit));
    for (const write of batch.planned) write.settle(write.answer);
  }

  /** The commit failed, or took effect and only its answer was lost. */
  async #failed(batch: Batch, error: unknown): Promise<void> {
    const outcome = await outcomeOf(this.#env, this.#store, batch.commit as Commit, error);
    if (outcome === "written") return this.#committed(batch);
    if (outcome !== "unknown") {
      this.#dropTouched(batch);
      for (const write of batch.planned) write.settle(storageProblem(error));
      return;
    }
    for (const write of batch.planned) write.isInDoubt = true;
    const patient = batch.planned.filter((write) => write.patient);
    const keyed = batch.planned.filter((write) => !write.patient && write.key !== undefined);
    for (const write of batch.planned)
      if (!patient.includes(write) && !keyed.includes(write)) write.settle(uncertainProblem(error));
    if (patient.length > 0) await this.#waitForOutcome({ ...batch, planned: patient }, error);
    else this.#dropTouched(batch);
    // Looking up their keys tells the outcome, once the store is reachable.
    for (const write of keyed) write.isNew = false;
    this.#waiting.putFirst(keyed);
  }

  /** Waits for an outcome on behalf of patient writes, for a bounded time. Other callers are refused at once meanwhile. */
  async #waitForOutcome(batch: Batch, error: unknown): Promise<void> {
    const outcome = await lateOutcomeOf(this.#env, this.#store, batch.commit as Commit, () => {
      this.#waiting.refuseImpatient(error);
      for (const settle of this.#refreshing.splice(0)) settle();
    });
    if (outcome === "written") return this.#committed(batch);
    this.#dropTouched(batch);
    const refused = outcome === "not written" ? storageProblem(error) : uncertainProblem(error);
    for (const write of batch.planned) write.settle(refused);
  }

  /** The draft is not committed: drops the texts that it has changed. */
  #dropTouched({ draft }: Batch): void {
    if (draft !== undefined) this.#base.dropTexts(draft.touched);
  }

  async #moved(batch: Batch): Promise<void> {
    this.#dropTouched(batch);
    try {
      await this.#catchUp();
    } catch (error) {
      for (const write of batch.planned) write.settle(refusalOf(write, error));
      return;
    }
    this.#waiting.giveBack(batch.planned);
  }

  /** Reads, applies and emits what other nodes have committed since our record. */
  async #catchUp(): Promise<void> {
    const missed = await this.#missed(this.#base.committed?.seq ?? 0);
    if (missed) this.#absorb(missed);
  }

  #absorb(missed: Missed): void {
    const { conversation } = this;
    const { record, turns, blocks, ops, renewed } = missed;
    this.#rivalAt = this.#env.monotonic();
    this.#base.absorb(missed);
    this.#waiting.forgetKeys();
    this.#emit(changeOf({ conversation, record, ops, blocks, turns }, renewed));
  }

  #missed(since: number): Promise<Missed | undefined> {
    return readMissed(this.#store, this.conversation, since);
  }

  /** Loads what a plan was missing. If that fails, only that write fails. */
  async #load(missing: MissingPart): Promise<void> {
    try {
      await loadMissing(this.#base, missing, () => this.#catchUp());
    } catch (error) {
      this.#waiting.refuse(missing.write, error);
    }
  }
}
