/**
 * Append batching: streamed pieces of one agent into one block gather until there is a newline, more than
 * `limits.appendFlushChars` units, or the oldest of them is `limits.appendFlushMs` old; a real timer, so the tail shows
 * up even if nothing follows, and a slow trickle shows up as it comes. Half a surrogate pair at the end of a piece waits for its other half.
 *
 * When the store is full or failing, a flushed piece is not lost: it goes back to the front and is tried again.
 */

import type { AgentId, BlockId } from "./block.ts";
import type { Env } from "./env.ts";
import { limits } from "./limits.ts";
import { isProblem, type Problem, problem } from "./problem.ts";
import { splitTail } from "./text/door.ts";

/** Commits one flush; answers with the block's version. */
export type Flush = (block: BlockId, agent: AgentId, text: string) => Promise<number | Problem>;

interface Buffer {
  readonly block: BlockId;
  readonly agent: AgentId;
  text: string;
  cancelTimer: (() => void) | undefined;
  /** The flushes under way, in order. */
  tail: Promise<number | Problem | undefined>;
  flushes: number;
  failed: Problem | undefined;
}

const RETRY_MS = 1_000;

export class Appender {
  readonly #env: Env;
  readonly #flush: Flush;
  readonly #buffers = new Map<string, Buffer>();

  constructor(env: Env, flush: Flush) {
    this.#env = env;
    this.#flush = flush;
  }

  /** Accepts a piece. Answers with a problem if an earlier piece of this stream was refused. */
  append(block: BlockId, agent: AgentId, text: string): Problem | undefined {
    const buffer = this.#open(block, agent);
    if (buffer.failed) {
      this.#close(buffer);
      return buffer.failed;
    }
    if (buffer.text.length + text.length > limits.writeTextChars) {
      return problem("busy", "too much text waits to be written to this block; try again", {
        chars: buffer.text.length,
      });
    }
    buffer.text += text;
    if (text.includes("\n") || buffer.text.length > limits.appendFlushChars) this.#flushNow(buffer, false);
    else if (!buffer.cancelTimer) this.#arm(buffer, limits.appendFlushMs);
    return undefined;
  }

  /** Everything accepted of this stream is durable, or refused. The version is that of the last flush, if there was one. */
  async drain(block: BlockId, agent: AgentId): Promise<number | Problem | undefined> {
    const buffer = this.#buffers.get(keyOf(block, agent));
    if (!buffer) return undefined;
    this.#flushNow(buffer, true);
    return buffer.tail;
  }

  /** Sends what is buffered on its way, so that a write that follows comes behind it. */
  push(block: BlockId, agent: AgentId): void {
    const buffer = this.#buffers.get(keyOf(block, agent));
    if (buffer) this.#flushNow(buffer, true);
  }

  async drainAll(): Promise<void> {
    await Promise.all([...this.#buffers.values()].map(({ block, agent }) => this.drain(block, agent)));
  }

  #open(block: BlockId, agent: AgentId): Buffer {
    const key = keyOf(block, agent);
    const known = this.#buffers.get(key);
    if (known) return known;
    const buffer: Buffer = {
      block,
      agent,
      text: "",
      cancelTimer: undefined,
      tail: Promise.resolve(undefined),
      flushes: 0,
      failed: undefined,
    };
    this.#buffers.set(key, buffer);
    return buffer;
  }

  #close(buffer: Buffer): void {
    buffer.cancelTimer?.();
    this.#buffers.delete(keyOf(buffer.block, buffer.agent));
  }

  #arm(buffer: Buffer, delayMs: number): void {
    buffer.cancelTimer?.();
    buffer.cancelTimer = this.#env.after(delayMs, () => this.#flushNow(buffer, true));
  }

  /** `all`: nothing more is expected, so half a pair at the end goes too (and is replaced at the door). */
  #flushNow(buffer: Buffer, all: boolean): void {
    buffer.cancelTimer?.();
    buffer.cancelTimer = undefined;
    const { ready, held } = all ? { ready: buffer.text, held: "" } : splitTail(buffer.text);
    buffer.text = held;
    if (held !== "") this.#arm(buffer, limits.appendFlushMs);
    if (ready === "") return;
    buffer.flushes++;
    const answer = this.#flush(buffer.block, buffer.agent, ready);
    buffer.tail = answer.then((version) => this.#settle(buffer, ready, version));
  }

  #settle(buffer: Buffer, text: string, version: number | Problem): number | Problem {
    buffer.flushes--;
    if (isProblem(version)) {
      if (version.problem === "storage" || version.problem === "busy") {
        buffer.text = text + buffer.text;
        this.#arm(buffer, RETRY_MS);
      } else buffer.failed = version;
    } else if (buffer.flushes === 0 && buffer.text === "" && !buffer.failed) this.#close(buffer);
    return version;
  }
}

function keyOf(block: BlockId, agent: AgentId): string {
  return `${block} ${agent}`;
}
