/**
 * Append batching: streamed pieces of one agent into one block gather until there is a newline, more than
 * `limits.appendFlushChars` units, or the oldest of them is `limits.appendFlushMs` old; a real timer, so the tail shows
 * up even if nothing follows, and a slow trickle shows up as it comes. Half a surrogate pair at the end of a piece waits
 * for its other half.
 *
 * A stream is written once and in order. When the store is full or failing, what was sent and not written goes back to the
 * front and is tried again; until then nothing of the same stream that was sent behind it is written.
 */

import type { AgentId, BlockId } from "./block.ts";
import type { Env } from "./env.ts";
import { limits } from "./limits.ts";
import { isProblem, type Problem, problem } from "./problem.ts";
import { splitTail } from "./text/door.ts";

/** One piece on its way to the store. */
export interface Flush {
  readonly block: BlockId;
  readonly agent: AgentId;
  readonly text: string;
  /** Asked when the piece is planned: why it must not be written now, if an earlier one of the stream was not. */
  refused(): Problem | undefined;
  /** Told before anything else is planned: the block's version, or why the piece was not written. */
  settled(answer: number | Problem): void;
}

type Outcome = number | Problem | undefined;

interface Buffer {
  readonly block: BlockId;
  readonly agent: AgentId;
  /** Accepted and not sent. */
  text: string;
  cancelTimer: (() => void) | undefined;
  /** How many pieces are under way; those that were not written wait in `returned`, in order. */
  underWay: number;
  returned: string;
  refused: Problem | undefined;
  /** Refused for good; told once. */
  failed: Problem | undefined;
  version: number | undefined;
  waiting: ((outcome: Outcome) => void)[];
}

const RETRY_MS = 1_000;

export class Appender {
  readonly #env: Env;
  readonly #flush: (flush: Flush) => void;
  /** Of each block the streams that are open: nearly always one. */
  readonly #buffers = new Map<BlockId, Buffer[]>();

  constructor(env: Env, flush: (flush: Flush) => void) {
    this.#env = env;
    this.#flush = flush;
  }

  /** Accepts a piece. Answers with a problem if an earlier piece of this stream was refused. */
  append(block: BlockId, agent: AgentId, text: string): Problem | undefined {
    const buffer = this.#open(block, agent);
    if (buffer.failed) return this.#tellFailure(buffer);
    const chars = buffer.returned.length + buffer.text.length;
    if (chars + text.length > limits.writeTextChars) {
      return problem("busy", "too much text waits to be written to this block; try again", { chars });
    }
    buffer.text += text;
    if (text.includes("\n") || buffer.text.length > limits.appendFlushChars) this.#flushNow(buffer, false);
    else if (!buffer.cancelTimer) this.#arm(buffer, limits.appendFlushMs);
    return undefined;
  }

  /** Everything accepted of this stream is durable, or refused. The version is that of the last flush, if there was one. */
  drain(block: BlockId, agent: AgentId): Promise<Outcome> {
    const buffer = this.#find(block, agent);
    if (!buffer) return Promise.resolve(undefined);
    this.#flushNow(buffer, true);
    if (buffer.underWay > 0) return new Promise((done) => buffer.waiting.push(done));
    return Promise.resolve(buffer.failed ? this.#tellFailure(buffer) : buffer.version);
  }

  /** Sends what is buffered on its way, so that a write that follows comes behind it. */
  push(block: BlockId, agent: AgentId): void {
    const buffer = this.#find(block, agent);
    if (buffer) this.#flushNow(buffer, true);
  }

  /** Why a write that must come behind the stream cannot be planned now. */
  refused(block: BlockId, agent: AgentId): Problem | undefined {
    return this.#find(block, agent)?.refused;
  }

  async drainAll(): Promise<void> {
    const all = [...this.#buffers.values()].flat();
    await Promise.all(all.map(({ block, agent }) => this.drain(block, agent)));
  }

  #find(block: BlockId, agent: AgentId): Buffer | undefined {
    return this.#buffers.get(block)?.find((buffer) => buffer.agent === agent);
  }

  #open(block: BlockId, agent: AgentId): Buffer {
    const streams = this.#buffers.get(block);
    const known = streams?.find((buffer) => buffer.agent === agent);
    if (known) return known;
    const buffer: Buffer = {
      block,
      agent,
      text: "",
      cancelTimer: undefined,
      underWay: 0,
      returned: "",
      refused: undefined,
      failed: undefined,
      version: undefined,
      waiting: [],
    };
    if (streams) streams.push(buffer);
    else this.#buffers.set(block, [buffer]);
    return buffer;
  }

  #close(buffer: Buffer): void {
    buffer.cancelTimer?.();
    buffer.cancelTimer = undefined;
    const streams = this.#buffers.get(buffer.block);
    const at = streams?.indexOf(buffer) ?? -1;
    if (!streams || at === -1) return;
    if (streams.length === 1) this.#buffers.delete(buffer.block);
    else streams.splice(at, 1);
  }

  #tellFailure(buffer: Buffer): Problem | undefined {
    this.#close(buffer);
    return buffer.failed;
  }

  #arm(buffer: Buffer, delayMs: number): void {
    buffer.cancelTimer?.();
    buffer.cancelTimer = this.#env.after(delayMs, () => this.#flushNow(buffer, true));
  }

  /** `all`: nothing more is expected, so half a pair at the end goes too (and is replaced at the door). */
  #flushNow(buffer: Buffer, all: boolean): void {
    buffer.cancelTimer?.();
    buffer.cancelTimer = undefined;
    if (buffer.failed) return;
    const { ready, held } = all ? { ready: buffer.text, held: "" } : splitTail(buffer.text);
    buffer.text = held;
    if (held !== "") this.#arm(buffer, limits.appendFlushMs);
    if (ready === "") return;
    buffer.underWay++;
    const { block, agent } = buffer;
    this.#flush({
      block,
      agent,
      text: ready,
      refused: () => buffer.refused,
      settled: (answer) => this.#settle(buffer, ready, answer),
    });
  }

  #settle(buffer: Buffer, text: string, answer: number | Problem): void {
    buffer.underWay--;
    if (isProblem(answer)) {
      buffer.refused ??= answer;
      buffer.returned += text;
    } else buffer.version = answer;
    if (buffer.underWay > 0) return;
    const { refused } = buffer;
    if (refused) this.#takeBack(buffer, refused);
    else if (buffer.text === "") this.#close(buffer);
    const { waiting } = buffer;
    if (waiting.length === 0) return;
    buffer.waiting = [];
    const outcome = buffer.failed ? this.#tellFailure(buffer) : (refused ?? buffer.version);
    for (const done of waiting) done(outcome);
  }

  #takeBack(buffer: Buffer, refused: Problem): void {
    if (refused.problem === "storage" || refused.problem === "busy") {
      buffer.text = buffer.returned + buffer.text;
      this.#arm(buffer, RETRY_MS);
    } else buffer.failed = refused;
    buffer.returned = "";
    buffer.refused = undefined;
  }
}
