/**
 * Two timeouts for an agent that runs as a child process: for output, and for its exit after its last output. The run decides
 * what happens then.
 */

import type { Env } from "@blockyard/kernel";
import { AGENT_LINGER_MS, AGENT_SILENT_MS } from "./limits.ts";

interface AgentWatchOptions {
  readonly env: Env;
  readonly silentMs?: number | undefined;
  readonly lingerMs?: number | undefined;
  /** While it waits for an answer of the owner, silence is not its fault. */
  readonly isAsking: () => boolean;
  readonly onSilent: (why: string) => void;
  /** None where it lives on for the next turn. */
  readonly onLingering?: (why: string) => void;
}

export class AgentWatch {
  readonly #options: AgentWatchOptions;
  #cancelSilence: (() => void) | undefined;
  #cancelLinger: (() => void) | undefined;
  #isClosed = false;

  constructor(options: AgentWatchOptions) {
    this.#options = options;
  }

  /** It has said something, or has something to answer: its silence begins anew. */
  heard(): void {
    const { env, silentMs: ms = AGENT_SILENT_MS, isAsking, onSilent } = this.#options;
    this.#cancelSilence?.();
    // What it says after its turn, until somebody else listens to it, is nobody's to wait for.
    if (this.#isClosed) return;
    this.#cancelSilence = env.after(ms, () => {
      if (!isAsking())
        onSilent(`The agent sent nothing for ${Math.round(ms / 1_000)} seconds and was stopped.`);
    });
  }

  /** Nothing more is expected of it: it gets a moment to end by itself. */
  linger(): void {
    if (this.#isClosed) return;
    const { env, lingerMs: ms = AGENT_LINGER_MS, onLingering } = this.#options;
    this.#cancelLinger ??= env.after(ms, () =>
      onLingering?.("The agent closed its output before its turn was over, but kept running."),
    );
  }

  /** Something more has come of it. */
  stay(): void {
    this.#cancelLinger?.();
    this.#cancelLinger = undefined;
  }

  /** The turn is over: nothing is waited for any more. */
  close(): void {
    this.#isClosed = true;
    this.#cancelSilence?.();
    this.#cancelLinger?.();
  }
}
