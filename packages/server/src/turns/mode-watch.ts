/**
 * The mode of one run, as its agent says it: where the agent goes into another one than it was asked for (a plan was approved), that
 * one is the conversation's, at once. Not full access: only a person gives that.
 */

import type { Kernel } from "@blockyard/kernel";
import { keepMode, type Mode } from "./mode.ts";
import type { Run, TurnStart } from "./run.ts";

export class ModeWatch {
  readonly #kernel: Kernel;
  readonly #start: TurnStart;
  readonly #run: Run;
  /** Unknown until the agent works as it was asked to: before that it may still be in the mode of an earlier turn. */
  #last: Mode | undefined;

  constructor(kernel: Kernel, start: TurnStart, run: Run) {
    this.#kernel = kernel;
    this.#start = start;
    this.#run = run;
  }

  /** Something has happened in the conversation; cheap where the mode is the same. */
  look(): void {
    const { mode } = this.#run;
    if (mode === this.#last) return;
    const isKnown = this.#last !== undefined || mode === this.#wanted;
    if (mode === undefined || !isKnown) return;
    const isFirst = this.#last === undefined;
    this.#last = mode;
    if (!isFirst) this.#keep(mode).catch((error) => this.#kernel.onFault(error));
  }

  /** The run is over. */
  async end(): Promise<void> {
    const { mode } = this.#run;
    if (mode !== undefined && mode !== this.#wanted) await this.#keep(mode);
  }

  get #wanted(): Mode {
    return this.#start.request.mode ?? "ask";
  }

  async #keep(mode: Mode): Promise<void> {
    if (mode === "full") return;
    const { request, by } = this.#start;
    await this.#kernel.write(request.conversation, {
      agent: by,
      plan: (draft) => {
        keepMode(draft, mode);
        return null;
      },
    });
  }
}
