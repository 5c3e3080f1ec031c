/**
 * Append batching: the pieces that one agent streams into one block are buffered until they contain a newline or more than
 * `limits.appendFlushChars` units, or the oldest is `limits.appendFlushMs` old. A timer enforces the age, so the tail of a
 * stream appears even if nothing follows. Half a surrogate pair at the end of a piece waits for its other half.
 *
 * A stream is written once and in order. When the store is full or failing, pieces that were not written return to the front
 * of the buffer and are retried; until then no later piece of the stream is written.
 */

import { type AgentId, type BlockId, type ConversationId, conversationOf } from "../model/ids.ts";
import { limits } from "../model/limits.ts";
import { isProblem, type Problem, problem } from "../model/problem.ts";
import type { Env } from "../ports/env.ts";
import { splitTail } from "../text/sanitize.ts";
import type { Draft } from "./draft.ts";
import type { Queued, Streamed } from "./write.ts";

type Outcome = number | Problem | undefined;

/** What one agent streams into one block. It stays for a while after everything is written: most streams continue. */
interface Stream {
  readonly block: BlockId;
  readonly conversation: ConversationId;
  readonly agent: AgentId;
  /** Accepted, not yet sent. */
  text: string;
  cancelTimer: (() => void) | undefined;
  /** How many pieces are in flight. The text of those that failed collects in `returned`, in order. */
  underWay: number;
  returned: string;
  refused: Problem | undefined;
  /** Why `text` was not written the last time; reset when it is sent again. */
  held: Problem | undefined;
  /** Refused for good; reported once. */
  failed: Problem | undefined;
  version: number | undefined;
  waiting: Waiter[] | undefined;
  /** Callers that wait until nothing is in flight, whatever the outcome. */
  resting: (() => void)[] | undefined;
}

/** A caller that waits until the whole stream is durable, at most until `dueAt`. */
interface Waiter {
  readonly done: (outcome: Outcome) => void;
  /** Monotonic ms. */
  readonly dueAt: number;
}

/**
 * One piece on its way to the store. Nothing is more frequent, so a piece implements the queue's interface itself instead of
 * being wrapped.
 */
class Piece implements Queued, Streamed {
  readonly text: string;
  readonly key = undefined;
  readonly create = false;
  readonly patient = true;
  isInDoubt = false;
  answer: unknown = undefined;
  isNew = true;
  isFresh = false;
  texts: Set<BlockId> | undefined = undefined;
  readonly #stream: Stream;
  readonly #appender: Appender;

  constructor(appender: Appender, stream: Stream, text: string) {
    this.#appender = appender;
    this.#stream = stream;
    this.text = text;
  }

  get block(): BlockId {
    return this.#stream.block;
  }

  get conversation(): ConversationId {
    return this.#stream.conversation;
  }

  get agent(): AgentId {
    return this.#stream.agent;
  }

  get streamed(): this {
    return this;
  }

  get refused(): Problem | undefined {
    return this.#stream.refused;
  }

  /** Refused if an earlier piece of the stream was not written. */
  plan(draft: Draft): number | Problem {
    const { refused, block } = this.#stream;
    if (refused) return refused;
    const after = draft.append(block, this.text);
    return isProblem(after) ? after : after.version;
  }

  /** Called before the next write is planned, with the block's version or the reason for a refusal. */
  settle(answer: number | Problem): void {
    this.#appender.settle(this.#stream, this.text, answer);
  }
}

export class Appender {
  readonly #env: Env;
  readonly #flush: (piece: Piece) => void;
  /** The open streams of each block: nearly always one. */
  readonly #streams = new Map<BlockId, Stream[]>();
  /** The last stream that was looked up: one append looks it up several times. */
  #last: Stream | undefined;
  #sweepAt: number = limits.idleStreams;
  /** One timer for all waiters: nearly all are answered long before it fires, and one timer each would cost too much. */
  #cancelDue: (() => void) | undefined;

  constructor(env: Env, flush: (piece: Piece) => void) {
    this.#env = env;
    this.#flush = flush;
  }

  /** The conversation of a block that the agent streams into. */
  conversation(block: BlockId, agent: AgentId): ConversationId | undefined {
    return this.#find(block, agent)?.conversation;
  }

  /** Accepts a piece. Answers with a problem if an earlier piece of this stream was refused. */
  append(block: BlockId, agent: AgentId, text: string): Problem | undefined {
    const stream = this.#find(block, agent) ?? this.#open(block, agent);
    if (stream.failed) return this.#tellFailure(stream);
    const chars = stream.returned.length + stream.text.length;
    if (chars + text.length > limits.writeTextChars) {
      return problem("busy", "too much text is queued for this block; try again", { chars });
    }
    stream.text += text;
    if (text.includes("\n") || stream.text.length > limits.appendFlushChars) this.#flushNow(stream, false);
    else if (!stream.cancelTimer) this.#arm(stream, limits.appendFlushMs);
    return undefined;
  }

  /**
   * Waits until everything accepted from this stream is durable or refused. Returns the version of the last flush, if there was
   * one, or a problem if the store takes longer than `limits.durableWaitMs`; accepted text stays accepted.
   */
  drain(block: BlockId, agent: AgentId): Promise<Outcome> {
    const stream = this.#find(block, agent);
    if (!stream) return Promise.resolve(undefined);
    this.#flushNow(stream, true);
    if (stream.underWay === 0) {
      return Promise.resolve(stream.failed ? this.#tellFailure(stream) : stream.version);
    }
    return new Promise((done) => {
      const waiter: Waiter = { done, dueAt: this.#env.monotonic() + limits.durableWaitMs };
      if (stream.waiting) stream.waiting.push(waiter);
      else stream.waiting = [waiter];
      this.#cancelDue ??= this.#env.after(limits.durableWaitMs, this.#answerLate);
    });
  }

  /**
   * Waits until everything that an agent has streamed, into any block, is written or has failed. Failures are not reported
   * here. Half a character at the end of a stream keeps waiting for its other half.
   */
  async flushed(agent: AgentId): Promise<void> {
    const waits: Promise<unknown>[] = [];
    for (const streams of this.#streams.values()) {
      for (const stream of streams) {
        if (stream.agent !== agent) continue;
        this.#flushNow(stream, false);
        if (stream.underWay === 0) continue;
        waits.push(
          new Promise<void>((done) => {
            if (stream.resting) stream.resting.push(done);
            else stream.resting = [done];
          }),
        );
      }
    }
    if (waits.length > 0) await Promise.all(waits);
  }

  /** Sends the buffer, so that a write that follows comes after it. */
  push(block: BlockId, agent: AgentId): void {
    const stream = this.#find(block, agent);
    if (stream) this.#flushNow(stream, true);
  }

  /** Why a write that must come after the stream cannot be planned now. */
  refused(block: BlockId, agent: AgentId): Problem | undefined {
    const stream = this.#find(block, agent);
    return stream?.refused ?? stream?.held;
  }

  /** Bounded by `limits.durableWaitMs`: an unreachable store must not keep the program from exiting. */
  async drainAll(): Promise<void> {
    const all = [...this.#streams.values()].flat();
    await Promise.all(all.map(({ block, agent }) => this.drain(block, agent)));
    this.#cancelDue?.();
    this.#cancelDue = undefined;
  }

  /** Answers waiters whose time is up, and sets the timer for the next one. */
  readonly #answerLate = (): void => {
    const now = this.#env.monotonic();
    let nextAt = Number.POSITIVE_INFINITY;
    const late: Waiter[] = [];
    for (const stream of [...this.#streams.values()].flat()) {
      if (!stream.waiting) continue;
      const rest: Waiter[] = [];
      for (const waiter of stream.waiting) (waiter.dueAt <= now ? late : rest).push(waiter);
      stream.waiting = rest.length > 0 ? rest : undefined;
      for (const { dueAt } of rest) nextAt = Math.min(nextAt, dueAt);
    }
    this.#cancelDue =
      nextAt === Number.POSITIVE_INFINITY ? undefined : this.#env.after(nextAt - now, this.#answerLate);
    if (late.length === 0) return;
    const seconds = Math.round(limits.durableWaitMs / 1_000);
    const refused = problem("storage", `the store has not answered for ${seconds} s`);
    for (const { done } of late) done(refused);
  };

  #find(block: BlockId, agent: AgentId): Stream | undefined {
    if (this.#last?.block !== block || this.#last.agent !== agent) {
      this.#last = this.#streams.get(block)?.find((stream) => stream.agent === agent);
    }
    return this.#last;
  }

  #open(block: BlockId, agent: AgentId): Stream {
    if (this.#streams.size >= this.#sweepAt) this.#closeIdle();
    const stream: Stream = {
      block,
      conversation: conversationOf(block),
      agent,
      text: "",
      cancelTimer: undefined,
      underWay: 0,
      returned: "",
      refused: undefined,
      held: undefined,
      failed: undefined,
      version: undefined,
      waiting: undefined,
      resting: undefined,
    };
    const streams = this.#streams.get(block);
    if (streams) streams.push(stream);
    else this.#streams.set(block, [stream]);
    return stream;
  }

  #closeIdle(): void {
    for (const streams of this.#streams.values())
      for (const stream of streams.filter(isIdle)) this.#close(stream);
    this.#sweepAt = Math.max(limits.idleStreams, 2 * this.#streams.size);
  }

  #close(stream: Stream): void {
    stream.cancelTimer?.();
    stream.cancelTimer = undefined;
    if (this.#last === stream) this.#last = undefined;
    const streams = this.#streams.get(stream.block);
    const at = streams?.indexOf(stream) ?? -1;
    if (!streams || at === -1) return;
    if (streams.length === 1) this.#streams.delete(stream.block);
    else streams.splice(at, 1);
  }

  #tellFailure(stream: Stream): Problem | undefined {
    this.#close(stream);
    return stream.failed;
  }

  #arm(stream: Stream, delayMs: number): void {
    stream.cancelTimer?.();
    stream.cancelTimer = this.#env.after(delayMs, () => this.#flushNow(stream, true));
  }

  /** `all`: nothing more is expected, so half a pair at the end is sent too (and replaced by sanitizing). */
  #flushNow(stream: Stream, all: boolean): void {
    stream.cancelTimer?.();
    stream.cancelTimer = undefined;
    if (stream.failed || stream.text === "") return;
    const { ready, held } = all ? { ready: stream.text, held: "" } : splitTail(stream.text);
    stream.text = held;
    if (held !== "") this.#arm(stream, limits.appendFlushMs);
    if (ready === "") return;
    stream.held = undefined;
    stream.underWay++;
    this.#flush(new Piece(this, stream, ready));
  }

  /** Called by a piece with its outcome. */
  settle(stream: Stream, text: string, answer: number | Problem): void {
    stream.underWay--;
    if (isProblem(answer)) {
      stream.refused ??= answer;
      stream.returned += text;
    } else stream.version = answer;
    if (stream.underWay > 0) return;
    const { refused, version, waiting, resting } = stream;
    stream.resting = undefined;
    for (const done of resting ?? []) done();
    if (refused) this.#takeBack(stream, refused);
    else if (stream.text === "") stream.version = undefined;
    if (!waiting) return;
    stream.waiting = undefined;
    const outcome = stream.failed ? this.#tellFailure(stream) : (refused ?? version);
    for (const { done } of waiting) done(outcome);
  }

  #takeBack(stream: Stream, refused: Problem): void {
    if (refused.problem === "storage" || refused.problem === "busy") {
      stream.text = stream.returned + stream.text;
      stream.held = refused;
      this.#arm(stream, limits.appendRetryMs);
    } else stream.failed = refused;
    stream.returned = "";
    stream.refused = undefined;
  }
}

function isIdle({ text, underWay, failed }: Stream): boolean {
  return text === "" && underWay === 0 && failed === undefined;
}
