/**
 * A provider's raw lines on their way to the store: buffered, and written in pieces. While the store is unavailable a
 * piece is held and retried; producers wait for it, so that no more than one piece is held.
 *
 * If the answer to a piece was lost, the store is checked before it is written again: each line is stored once.
 */

import { type Kernel, type Problem, patiently, type RawRun } from "@blockyard/kernel";
import { RAW_FLUSH_CHARS } from "./limits.ts";
import { withoutPieces } from "./redact-body.ts";

export class RawLines {
  readonly #kernel: Kernel;
  readonly #run: RawRun;
  #lines: string[] = [];
  #chars = 0;
  /** Bytes of the run that are known to be in the store. */
  #written = 0;
  #flushing: Promise<Problem | undefined> = Promise.resolve(undefined);
  #lost: Problem | undefined;

  constructor(kernel: Kernel, run: RawRun) {
    this.#kernel = kernel;
    this.#run = run;
  }

  add(line: string): void {
    if (this.#lost) return;
    this.#lines.push(line);
    this.#chars += line.length;
  }

  /** Enough has gathered to be written. */
  get isDue(): boolean {
    return this.#chars > RAW_FLUSH_CHARS;
  }

  /** Writes what has gathered. A problem: the store was away for so long that it is lost. */
  flush(): Promise<Problem | undefined> {
    this.#flushing = this.#flushing.then(() => this.#flushOne());
    return this.#flushing;
  }

  async #flushOne(): Promise<Problem | undefined> {
    if (this.#lines.length === 0) return this.#lost;
    const bytes = Buffer.from(`${this.#lines.splice(0).join("\n")}\n`);
    this.#chars = 0;
    const { store, env } = this.#kernel;
    let isInDoubt = false;
    const written = await patiently<undefined>(env, async () => {
      if (isInDoubt && (await store.raw(this.#run)).length >= this.#written + bytes.length) return undefined;
      isInDoubt = true;
      await store.appendRaw(this.#run, bytes);
      return undefined;
    });
    if (written === undefined) this.#written += bytes.length;
    else this.#lost = written;
    return this.#lost;
  }
}

/** Adds lines. Of a turn none are kept where secrets are taken out. It holds nothing of the stream that it is made for: others go on reading. */
export function lineKeeper(
  raw: RawLines,
  { isRedacted, isOfTurn }: { readonly isRedacted: boolean; readonly isOfTurn: boolean },
): (line: string) => void {
  return (line) => {
    if (!isRedacted) raw.add(line);
    else if (!isOfTurn) raw.add(withoutPieces(line));
  };
}
