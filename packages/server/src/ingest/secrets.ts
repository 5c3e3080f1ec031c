/**
 * Redaction in a running server, if BLOCKYARD_REDACT_INGEST is set. The events of each stream are redacted; an agent's
 * original requests are kept in memory, because rules compare them and the agent is answered with them.
 */

import type { Ask } from "@blockyard/kernel";
import { redactText } from "../system/redact.ts";
import { EventRedactor } from "./event-redactor.ts";
import { MAX_ASKS } from "./limits.ts";

export class Secrets {
  readonly #asks = new Map<string, Ask>();

  /** For the events of one run: that of a turn, where it has one. */
  redactor(run: string): EventRedactor {
    return new EventRedactor((ask) => {
      const [oldest] = this.#asks.keys();
      if (this.#asks.size >= MAX_ASKS && oldest !== undefined) this.#asks.delete(oldest);
      this.#asks.set(`${run} ${ask.id}`, ask);
    });
  }

  /** What was asked in a turn, as it came. */
  asked(turn: string, ask: Ask): Ask {
    const came = this.#asks.get(`${turn} ${ask.id}`);
    return came === undefined ? ask : { ...came, state: ask.state, ...(ask.plan && { plan: ask.plan }) };
  }

  /** A whole text. */
  clean(text: string): string {
    return redactText(text, () => undefined);
  }
}
