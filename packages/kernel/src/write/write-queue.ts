/**
 * The write queue of one conversation: plans what waits as one batch, commits it, then tells.
 *
 * Order is kept: writes are planned in the order in which they came, and a write that needs something loaded holds back
 * those behind it. One batch is under way at a time. When the store says `moved`, what was missed is taken in and the
 * batch is planned again; when it fails, every write of the batch is answered with a problem and nothing has changed.
 * Where other nodes write to the conversation too, that would happen most of the time: then the batch is planned when it is
 * its turn, with what was missed, and nobody comes between (`commitInTurn` of the store).
 *
 * A write has three outcomes, and its answer says which: written (the plan's answer), not written (`storage`, or whatever
 * the plan refused), not known (`uncertain`: the store took the commit and did not say what became of it).
 */

import type { Block } from "../model/block.ts";
import { type Change, changeOf } from "../model/change.ts";
import { type Conversation, newConversation, type Turn } from "../model/conversation.ts";
import type { BlockId, ConversationId } from "../model/ids.ts";
import type { Json } from "../model/json.ts";
import { limits } from "../model/limits.ts";
import { isProblem, type Problem, problem } from "../model/problem.ts";
import type { Env } from "../ports/env.ts";
import { readMissed } from "../ports/missed.ts";
import type { Commit, CommitAnswer, Missed, Store, TurnedCommit } from "../ports/store.ts";
import type { BlockText } from "../text/block-text.ts";
import type { TextCache } from "../text/text-cache.ts";
import { answerAgain, keysOf, settleKnown } from "./answered.ts";
import { BlockRecords } from "./block-records.ts";
import { refusedWrite, removedProblem } from "./deletions.ts";
import { Draft, type DraftBase, type DraftedUnit, Missing } from "./draft.ts";
import { OpenUnits } from "./open-units.ts";
import { lookFor, type Outcome, outcomeOf, refusalOf, storageProblem, uncertainProblem } from "./outcome.ts";
import type { Runnable, Scheduler } from "./scheduler.ts";
import { commitOf, isPlain, isStreamed } from "./streamed.ts";
import { type Queued, queuedOf, type Write } from "./write.ts";

/** What was planned together. `missing`: what the next write needs. */
interface Batch {
  readonly planned: readonly Queued[];
  /** None where a piece has gone the short way. */
  readonly draft: Draft | undefined;
  readonly units: readonly DraftedUnit[];
  /** None where no plan came to an op. */
  readonly commit: Commit | undefined;
  readonly missing: Missing | undefined;
}

/** Never added to. */
const NOTHING: Queued[] = [];
const NO_UNITS: readonly DraftedUnit[] = [];

/** How often the store is asked what became of a commit, for those who wait for it. */
const OUTCOME_WAIT_MS = 1_000;

export class WriteQueue implements Runnable {
  readonly conversation: ConversationId;
  /** When it was last used, counted in uses of all queues: the kernel's own note. */
  usedAt = 0;
  readonly #env: Env;
  readonly #store: Store;
  readonly #texts: TextCache;
  readonly #emit: (told: Change) => void;
  readonly #scheduler: Scheduler;
  readonly #base: DraftBase;
  #waiting: Queued[] = [];
  #running = false;
  #record: Conversation | undefined;
  /** It was deleted and removed: its id is never given again. */
  #removed: Problem | undefined;
  readonly #blocks = new BlockRecords();
  readonly #turns = new Map<string, Turn>();
  readonly #units: OpenUnits;
  readonly #inFlight = new Map<string, Promise<unknown>>();
  #isOpen = false;
  #planning: Queued | undefined;
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
    emit: (told: Change) => void,
  ) {
    this.conversation = conversation;
    this.#env = env;
    this.#store = store;
    this.#texts = texts;
    this.#scheduler = scheduler;
    this.#emit = emit;
    this.#units = new OpenUnits(() => env.monotonic());
    this.#base = this.#makeBase();
  }

  get idle(): boolean {
    return !this.#running && this.#waiting.length === 0 && this.#refreshing.length === 0;
  }

  /** Whether it was written to a moment ago: the next write comes soon, and is to find it open. */
  get isBusy(): boolean {
    return this.#env.monotonic() - this.#writtenAt < limits.rivalMs;
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
    const answer = new Promise<T | Problem>((done) => this.#add(queuedOf(write, key, done)));
    if (key !== undefined) {
      this.#inFlight.set(key, answer);
      answer.then(() => this.#inFlight.delete(key));
    }
    this.#start();
    return answer;
  }

  /** A write whose answer goes to its `settle` alone. Streams come this way: they need no promise. */
  post(write: Queued): void {
    const busy = this.#busy();
    if (busy) return write.settle(busy);
    this.#add(write);
    this.#start();
  }

  /** An array that begins with its first has no room that nobody needs: nearly always it is the only one. */
  #add(write: Queued): void {
    if (this.#waiting.length === 0) this.#waiting = [write];
    else this.#waiting.push(write);
  }

  #busy(): Problem | undefined {
    const { length: waiting } = this.#waiting;
    if (waiting < limits.queuedWrites) return undefined;
    return problem("busy", `${waiting} writes are queued in this conversation; try again`, { waiting });
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
    if (this.#waiting.length > 0 || this.#refreshing.length > 0) this.run(this.#env.now());
    else this.#running = false;
  }

  /** Whether all that waits can be planned as it stands. */
  #isReady(): boolean {
    if (!this.#isOpen || this.#refreshing.length > 0) return false;
    for (const write of this.#waiting) if (!write.isNew) return false;
    return true;
  }

  /**
   * Whether to plan what waits when it is its turn: where others write too, what is planned now would be too late; and keys
   * that have to be looked for are looked for on the same way.
   */
  #isInTurn(): boolean {
    const { commitInTurn, nodes } = this.#store;
    if (commitInTurn === undefined || nodes === undefined) return false;
    if (!this.#isOpen || this.#record === undefined || this.#waiting.length === 0) return false;
    if (this.#env.monotonic() - this.#rivalAt < limits.rivalMs) return true;
    return this.#waiting.some((write) => !write.isNew);
  }

  async #runInTurn(): Promise<void> {
    let asked: readonly Queued[] = [];
    let batch: Batch | undefined;
    const turned: TurnedCommit = {
      conversation: this.conversation,
      since: () => this.#record?.seq ?? 0,
      keys: () => {
        if (batch) this.#unplan(batch);
        batch = undefined;
        asked = [...this.#waiting]; // what comes while they are looked for was not
        return keysOf(asked);
      },
      plan: (missed, answers) => {
        if (missed) this.#absorb(missed);
        for (const settle of this.#refreshing.splice(0)) settle();
        const settled = settleKnown(asked, answers);
        if (settled.size > 0) this.#waiting = this.#waiting.filter((write) => !settled.has(write));
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
    if (batch.missing) await this.#loadMissing(batch.missing);
  }

  /** Its turn did not come, or did not end well. Where nothing was to be committed, nothing has failed. */
  async #notInTurn(batch: Batch | undefined, error: unknown): Promise<void> {
    if (batch?.commit !== undefined) return this.#failed(batch, error);
    if (batch !== undefined) return this.#inTurn(batch, "committed");
    for (const settle of this.#refreshing.splice(0)) settle();
    this.#failAll(error);
  }

  #unplan(batch: Batch): void {
    this.#dropTouched(batch);
    this.#giveBack(batch);
  }

  /** What was planned and is not going to be committed: it waits again, in front. */
  #giveBack({ planned }: Batch): void {
    for (const write of planned) write.isNew = write.key === undefined;
    this.#waiting = [...planned, ...this.#waiting];
  }

  async #runReady(): Promise<void> {
    const refused = this.#isOpen ? undefined : await this.#open();
    if (this.#refreshing.length > 0) await this.#refreshAll();
    if (refused !== undefined) this.#failAll(refused);
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
    if (missing) await this.#loadMissing(missing);
    this.#goOn();
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

  /** Undefined, or what was thrown. */
  async #open(): Promise<unknown> {
    try {
      await this.#load();
      this.#isOpen = true;
      return undefined;
    } catch (error) {
      return error ?? new Error("the store could not be read");
    }
  }

  async #load(): Promise<void> {
    this.#record = await this.#store.conversation(this.conversation);
    this.#turns.clear();
    this.#removed = this.#record ? undefined : await removedProblem(this.#store, this.conversation);
    if (this.#record)
      for (const turn of await this.#store.turns(this.conversation)) this.#turns.set(turn.id, turn);
  }

  /** What waits as a batch, if it is a piece that can go the short way. */
  #streamed(at: number): Batch | undefined {
    const planned = this.#waiting;
    const write = planned[0];
    const piece = write?.streamed;
    const record = this.#record;
    if (planned.length !== 1 || piece === undefined || record === undefined || record.deleted)
      return undefined;
    const block = this.#blocks.get(piece.block);
    if (!block || !isPlain(piece, block) || this.#texts.peek(block.id) !== undefined) return undefined;
    const { id, agent } = block;
    const unit = this.#units.get(id, agent, "append");
    const commit = commitOf(piece, block, record, unit, at);
    const { version } = commit.blocks[0] as Block;
    const units =
      unit === undefined ? [{ block: id, agent, type: "append" as const, unit: version }] : NO_UNITS;
    (write as Queued).answer = version;
    this.#waiting = NOTHING;
    return { planned, draft: undefined, units, commit, missing: undefined };
  }

  /** Plans what waits, until something is missing or the batch is full. */
  #planned(): Batch {
    const draft = new Draft(this.#base);
    const waiting = this.#waiting;
    let missing: Missing | undefined;
    let count = 0;
    while (count < waiting.length && count < limits.queuedWrites && draft.ops.length < limits.opsPerCommit) {
      const write = waiting[count] as Queued;
      if (!write.isNew) break; // it came after the keys were looked for
      this.#planning = write;
      const answer = this.#plan(draft, write);
      if (answer instanceof Missing) {
        missing = answer;
        break;
      }
      write.answer = answer;
      count++;
    }
    const all = count === waiting.length;
    const planned = all ? waiting : waiting.slice(0, count);
    this.#waiting = all ? [] : waiting.slice(count);
    if (draft.invalidated.size > 0) for (const text of draft.invalidated) this.#texts.drop(text);
    const commit = draft.ops.length > 0 ? this.#commitOf(draft) : undefined;
    return { planned, draft, units: draft.units, commit, missing };
  }

  /** Settles the writes whose keys were answered before. */
  async #answerAgain(): Promise<void> {
    const settled = await answerAgain(this.#store, this.conversation, this.#waiting);
    if (settled.size > 0) this.#waiting = this.#waiting.filter((write) => !settled.has(write));
  }

  #plan(draft: Draft, write: Queued): unknown {
    const refused = this.#removed ?? refusedWrite(this.#record !== undefined, draft.record, write);
    if (refused) return refused;
    const before = draft.ops.length;
    try {
      const answer = draft.plan(write.agent, this.#env.now(), write);
      if (write.key !== undefined && !isProblem(answer) && draft.ops.length > before) {
        draft.answered(write.key, (answer ?? null) as Json);
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
    const { changedBlocks: blocks, changedTurns: turns } = draft;
    return { conversation, expectedSeq, ops, blocks, record, turns, answers };
  }

  #committed(batch: Batch): void {
    if (this.#store.nodes) this.#writtenAt = this.#env.monotonic();
    this.#takeUp(batch);
    this.#emit(changeOf(batch.commit as Commit));
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
    this.#waiting = [...keyed, ...this.#waiting];
  }

  /** For those who wait, but not for ever. Whoever else wants something meanwhile is told at once that it is not done. */
  async #waitForOutcome(batch: Batch, error: unknown): Promise<void> {
    let outcome: Outcome | undefined;
    const untilMs = this.#env.monotonic() + limits.holdMs;
    while (outcome === undefined && this.#env.monotonic() < untilMs) {
      const waiting = this.#waiting;
      this.#waiting = waiting.filter((write) => write.patient);
      for (const write of waiting) if (!write.patient) write.settle(refusalOf(write, error));
      for (const settle of this.#refreshing.splice(0)) settle();
      await new Promise<void>((done) => this.#env.after(OUTCOME_WAIT_MS, done));
      outcome = await lookFor(this.#store, batch.commit as Commit);
    }
    if (outcome === "written") return this.#committed(batch);
    this.#dropTouched(batch);
    const refused = outcome === "not written" ? storageProblem(error) : uncertainProblem(error);
    for (const write of batch.planned) write.settle(refused);
  }

  #takeUp({ draft, units, commit }: Batch): void {
    const { record, blocks, turns } = commit as Commit;
    this.#record = record;
    for (const block of blocks) this.#blocks.set(block.id, block);
    for (const turn of turns) this.#turns.set(turn.id, turn);
    if (draft !== undefined && draft.touched.size > 0) this.#takeUpTexts(draft);
    for (const block of blocks) this.#texts.outdate(block.id, block.version);
    if (units.length > 0) this.#units.take(units);
  }

  /** The texts that a draft has changed are not what is committed, if it is not. */
  #dropTouched({ draft }: Batch): void {
    for (const text of draft?.touched ?? []) this.#texts.drop(text);
  }

  #takeUpTexts(draft: Draft): void {
    for (const text of draft.touched) {
      if (draft.invalidated.has(text)) continue;
      text.commit();
      if (isStreamed(text, draft.ops)) this.#texts.grew(text);
      else this.#texts.used(text);
    }
  }

  async #moved(batch: Batch): Promise<void> {
    this.#dropTouched(batch);
    try {
      await this.#takeIn();
    } catch (error) {
      for (const write of batch.planned) write.settle(refusalOf(write, error));
      return;
    }
    this.#giveBack(batch);
  }

  /** Reads what others have committed since our record, tells it, and forgets what it has made old. */
  async #takeIn(): Promise<void> {
    const missed = await this.#missed(this.#record?.seq ?? 0);
    if (missed) this.#absorb(missed);
  }

  #absorb({ record, turns, blocks, ops, renewed }: Missed): void {
    const { conversation } = this;
    this.#rivalAt = this.#env.monotonic();
    this.#record = record;
    for (const turn of turns) this.#turns.set(turn.id, turn);
    for (const block of blocks) {
      this.#blocks.set(block.id, block);
      this.#texts.dropId(block.id);
    }
    this.#units.clear();
    // A key that was new may have come through another node.
    for (const write of this.#waiting) write.isNew = write.key === undefined;
    this.#emit(changeOf({ conversation, record, ops, blocks, turns }, renewed));
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
      const write = this.#waiting.shift();
      write?.settle(refusalOf(write, error));
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
    this.#blocks.set(id, block ?? null);
    if (block) this.#texts.outdate(id, block.version);
  }

  #makeBase(): DraftBase {
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
      isFresh: () => this.#planning?.isFresh === true,
      openUnit: (block, agent, type) => this.#units.get(block, agent, type),
    };
  }

  /** A text of another version than the record's is not one to plan on. */
  #text(id: BlockId): BlockText | undefined {
    const text = this.#texts.peek(id);
    if (text === undefined) return undefined;
    return text.committed.version === (this.#blocks.get(id)?.version ?? 0) ? text : undefined;
  }

  #failAll(error: unknown): void {
    for (const write of this.#waiting.splice(0)) write.settle(refusalOf(write, error));
  }
}
