/**
 * The cost of a turn whose agent does not state it: its own tokens and those of its sub-agents, each at the model's
 * price in the user's table. If one of these prices is unknown, there is no cost: a part of it would look like the
 * whole.
 */

import type { BlockEvent, Usage } from "@blockyard/kernel";
import { costUsd, type PriceTable } from "@blockyard/providers";

export class TurnCost {
  readonly #table: () => PriceTable;
  /** The model of the turn that runs: as it was asked for, until the agent says which one it is. */
  #model: string | undefined;
  /** Of sub-agents, the last that was told of each. */
  readonly #others = new Map<string, { readonly model: string | undefined; readonly usage: Usage }>();

  constructor(table: () => PriceTable, model?: string) {
    this.#table = table;
    this.#model = model;
  }

  /** The event, with the cost where it ends a turn that has none. */
  take(event: BlockEvent): BlockEvent {
    if ((event.type === "session" || event.type === "turn-start") && event.model !== undefined)
      this.#model = event.model;
    if (event.type === "message-usage" && event.parent !== undefined)
      this.#others.set(event.messageId, { model: event.model ?? this.#model, usage: event.usage });
    if (event.type !== "turn-end") return event;
    const cost = event.costUsd ?? this.#cost(event.usage, event.models);
    this.#others.clear();
    return cost === undefined ? event : { ...event, costUsd: cost };
  }

  #cost(usage: Usage | undefined, models: readonly string[] | undefined): number | undefined {
    // Tokens of several models are told as one sum: whose they were is not known.
    if (usage === undefined || (models !== undefined && models.length > 1)) return undefined;
    const parts = [{ model: models?.[0] ?? this.#model, usage }, ...this.#others.values()];
    let sum = 0;
    for (const { model, usage: used } of parts) {
      if (used.input === 0 && used.output === 0) continue;
      const cost = model === undefined ? undefined : costUsd(used, model, this.#table());
      if (cost === undefined) return undefined;
      sum += cost;
    }
    return sum > 0 ? Math.round(sum * 1e10) / 1e10 : undefined;
  }
}
