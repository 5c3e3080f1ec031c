/**
 * The permission mode of one run, as its agent reports it. If the agent switches to a stricter mode, the conversation follows. It may
 * switch to a freer one only if the owner allowed that in this turn (by approving a plan, or choosing a mode with an answer); otherwise
 * it is switched back. Never to full access: only a person grants that.
 */

import { isProblem, type JsonObject, type Kernel } from "@blockyard/kernel";
import { isFreer, keepMode, type Mode, modeIn } from "./mode.ts";
import type { Answer, Run, TurnStart } from "./run.ts";

export class ModeWatch {
  readonly #kernel: Kernel;
  readonly #start: TurnStart;
  readonly #run: Run;
  /** Unknown until the agent works as it was asked to: before that it may still be in the mode of an earlier turn. */
  #last: Mode | undefined;
  /** How far the owner lets it go in this turn, besides what was chosen for the conversation. */
  #allowed: Mode = "plan";

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
    if (!isFirst) this.#take(mode, "ask").catch((error) => this.#kernel.onFault(error));
  }

  /** The owner chooses a mode while the agent works: it may say so before that is written. */
  chosen(mode: Mode): void {
    this.#allowed = mode;
  }

  /** The agent is about to be told the owner's answer. */
  answered({ allow, byRule, shown, answer }: Pick<Answer, "allow" | "byRule" | "shown" | "answer">): void {
    if (!allow || byRule) return;
    const taken = shown.suggestions?.find(({ id }) => id === answer?.suggestion);
    const { type, kind } = (taken?.native ?? {}) as JsonObject;
    const isMode = taken !== undefined && (type === "setMode" || kind === "allow_always");
    if (shown.kind !== "plan" && !isMode) return;
    const mode = taken?.id === "ask" ? "ask" : "edits";
    if (isFreer(mode, this.#allowed)) this.#allowed = mode;
  }

  /** The run is over. */
  async end(): Promise<void> {
    const { mode } = this.#run;
    // Where nobody has chosen any, the mode in which it has worked from the start is the one of its own settings.
    if (mode !== undefined && mode !== this.#wanted) await this.#take(mode, this.#last ?? mode);
  }

  get #wanted(): Mode {
    return this.#start.request.mode ?? "ask";
  }

  /** `unchosen`: what counts where nobody has chosen a mode. */
  async #take(mode: Mode, unchosen: Mode): Promise<void> {
    const { request, by } = this.#start;
    const back = await this.#kernel.write(request.conversation, {
      agent: by,
      plan: (draft) => {
        const chosen = modeIn(draft.record.metadata) ?? request.mode ?? unchosen;
        if (isFreer(mode, chosen) && isFreer(mode, this.#allowed)) return chosen;
        if (mode !== "full") keepMode(draft, mode);
        return null;
      },
    });
    if (back !== null && !isProblem(back)) await this.#run.setMode?.(back);
  }
}
