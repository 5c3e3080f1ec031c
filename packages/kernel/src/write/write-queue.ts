/**
 * The write queue of one conversation: plans the waiting writes as one batch, commits it, then emits the change.
 *
 * Order is kept: writes are planned in the order of arrival, and a write that waits for data holds back those after it.
 * One batch is in flight at a time. If the store answers `moved`, the missed ops are applied and the batch is planned
 * again; if the commit fails, every write of the batch is answered with a problem and nothing has changed. If other
 * nodes write to the conversation too, `moved` would be the usual answer. Then the batch first waits for its turn, is
 * planned on top of the missed ops, and nobody comes between (`commitInTurn` of the store).
 *
 * A write has three outcomes, and its answer says which: written (the plan's answer), not written (`storage`, or the
 * plan's own problem), unknown (`uncertain`: the store took the commit and did not report its outcome).
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
  /** When it was last used, counted in uses of all queues: the kernel's own note. */
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
  /** When another node's commit was last taken in. */
  #rivalAt = Number.NEGATIVE_INFINITY;
  /** When it was last written to here. */
  #writtenAt = Number.NEGATIVE_INFINITY;
  /** Those who want to know what other nodes have committed. */
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

  /** Whether it was written to a moment ago: the next write comes soon, and is to find it open. */
  get isBusy(): boolean {
    return this.#env.monotonic() - this.#writtenAt < limits.rivalMs;
  }

  /** The committed record, if this queue has it. */
  get record(): Conversation | undefined {
    return this.#base.committed;
  }

  /** The committed block, if this queue has it; null if it does not exist. */
  cached(id: BlockId): Block | null | undefined {
    return this.#base.block(id);
  }

  write<T>(write: Write<T>): Promise<T | Problem> {
    const key = write.key === undefined ? undefined : `${write.agent}:${write.key}`;
    const twin = key === undefined ? undefined : this.#inFlight.get(key);
    if (twin) return twin as Promise<T | Problem>;
    const busy = this.#waiting.refusal();
    if (busy) {
      write.settled?.(busy);
      return Promise.resolve(busy);
    }
    const answer = new Promise<T | Problem>((done) => this.#waiting.add(queuedOf(write, key, done)));
    if (key !== undefined) {
      this.#inFlight.set(key, answer);
      answer.then(() => this.#inFlight.delete(key));
    }
    this.#start();
    return answer;
  }

  /** A write whose answer goes to its `settle` alone. Streams come this way: they need no promise. */
  post(write: Queued): void {
    const busy = this.#waiting.refusal();
    if (busy) return write.settle(busy);
    this.#waiting.add(write);
    this.#start();
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
    this.#scheduler.add(this);
  }

  // -- for the rounds to call

  /** Plans what waits and sends it on its way. */
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
    // Nearly every batch: it waits for its commit and for nothing else, so that no function has to wait for it.
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

  /** Whether all that waits can be planned as it stands. */
  #isReady(): boolean {
    return this.#isOpen && this.#refreshing.length === 0 && this.#waiting.areNew;
  }

  /**
   * Whether to plan what waits when it is its turn: where others write too, what is planned now would be too late; and keys
   * that have to be looked for are looked for on the same way.
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
        asked = [...this.#waiting.all]; // what comes while they are looked for was not
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

  /** Its turn did not come, or did not end well. Where nothing was to be committed, nothing has failed. */
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
    // A store that does not answer has nothing new to tell; who asked will ask again.
    if (this.#isOpen) {
      const missed = await this.#missed(this.#base.committed?.seq ?? 0).catch(() => undefined);
      if (missed) this.#absorb(missed);
    }
    for (const settle of asked) settle();
  }

  /** Undefined, or what was thrown. */
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

  /** Settles the writes whose keys were answered before. */
  async #answerAgain(): Promise<void> {
    this.#waiting.remove(await answerAgain(this.#store, this.conversation, this.#waiting.all));
  }

  #committed(batch: Batch): void {
    if (this.#store.nodes) this.#writtenAt = this.#env.monotonic();
    const commit = batch.commit as Commit;
    this.#base.takeUp(commit, batch.draft, batch.units);
    this.#emit(changeOf(commit));
    for (const write of batch.planned) write.settle(write.answer);
  }

  /** A commit that the store has not answered: it failed, or it took effect all the same. */
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
    // Their keys tell, as soon as the store can be asked.
    for (const write of keyed) write.isNew = false;
    this.#waiting.putFirst(keyed);
  }

  /** For those who wait, but not for ever. Whoever else wants something meanwhile is told at once that it is not done. */
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

  /** The texts that a draft has changed are not what is committed, if it is not. */
  #dropTouched({ draft }: Batch): void {
    if (draft !== undefined) this.#base.dropTexts(draft.touched);
  }

  async #moved(batch: Batch): Promise<void> {
    this.#dropTouched(batch);
    try {
      await this.#takeIn();
    } catch (error) {
      for (const write of batch.planned) write.settle(refusalOf(write, error));
      return;
    }
    this.#waiting.giveBack(batch.planned);
  }

  /** Reads what others have committed since our record, tells it, and forgets what it has made old. */
  async #takeIn(): Promise<void> {
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

  /** What a plan lacked. Where it cannot be had, only that write has failed, wherever it waits by now. */
  async #load(missing: MissingPart): Promise<void> {
    try {
      await loadMissing(this.#base, missing, () => this.#takeIn());
    } catch (error) {
      this.#waiting.refuse(missing.write, error);
    }
  }
}
