/**
 * What both sides said, on its way into the conversation: in one order, as records of traffic. Held back until the turn has
 * begun, since a thread that cannot be opened leaves nothing in the conversation but the reason; the lines are kept all the same.
 */

import { type Problem, problem } from "@blockyard/kernel";
import { trafficLine } from "@blockyard/providers";
import type { StreamIngest } from "../../../ingest/ingest-stream.ts";
import { bounds } from "../limits.ts";
import type { Direction } from "./connection.ts";

export class Kept {
  readonly #stream: StreamIngest;
  readonly #startedAt: number;
  readonly #now: () => number;
  #lines: string[] = [];
  #chars = 0;
  #isHeld = true;
  #chain: Promise<void> = Promise.resolve();
  #lost: Problem | undefined;

  constructor(stream: StreamIngest, now: () => number) {
    this.#stream = stream;
    this.#now = now;
    this.#startedAt = now();
  }

  get isHeld(): boolean {
    return this.#isHeld;
  }

  add(dir: Direction, line: string): void {
    if (this.#isHeld) this.#chars += line.length;
    if (this.#isHeld && this.#chars > bounds.heldChars) {
      this.#lost ??= problem(
        "too_large",
        `more than ${bounds.heldChars} characters before the turn had begun`,
      );
      return;
    }
    this.#lines.push(trafficLine(dir, line, Math.max(0, Math.round(this.#now() - this.#startedAt))));
    // Lines that come together go together.
    if (!this.#isHeld && this.#lines.length === 1) queueMicrotask(() => this.#push());
  }

  /** The turn has begun: held lines are released. */
  release(): void {
    if (!this.#isHeld) return;
    this.#isHeld = false;
    this.#push();
  }

  /** Runs something when all lines so far are in the conversation, and before any later one is. */
  after(run: () => Promise<Problem | undefined>): void {
    this.#push();
    this.#next(run);
  }

  /** Everything so far is passed on. A problem: it could not be stored. */
  async settled(): Promise<Problem | undefined> {
    this.#push();
    await this.#chain;
    return this.#lost;
  }

  /** Held lines that are not part of the conversation. */
  async aside(): Promise<void> {
    const lines = this.#lines.splice(0);
    if (lines.length > 0) await this.#stream.keepAside(Buffer.from(lines.join("\n")));
  }

  #push(): void {
    if (this.#isHeld) return;
    const lines = this.#lines.splice(0);
    if (lines.length > 0) this.#next(() => this.#stream.push(Buffer.from(`${lines.join("\n")}\n`)));
  }

  #next(run: () => Promise<Problem | undefined>): void {
    this.#chain = this.#chain.then(async () => {
      if (this.#lost) return;
      // The boundary of one step: if it cannot be stored, the run ends.
      this.#lost = await run().catch((error) => problem("storage", String(error)));
    });
  }
}
