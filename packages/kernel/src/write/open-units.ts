/**
 * Open undo steps (units): the one that an agent's next append, or next edit in a burst, belongs to. Kept for recent writers of each
 * block; any other writer starts a new one.
 */

import type { AgentId, BlockId } from "../model/ids.ts";
import { limits } from "../model/limits.ts";
import type { DraftedUnit } from "./draft-base.ts";

interface Unit {
  readonly agent: AgentId;
  type: DraftedUnit["type"];
  unit: number;
  /** The last write, for bursts: only they end with time. */
  at: number;
  /** Another agent's, in the same block. */
  readonly next: Unit | undefined;
}

export class OpenUnits {
  readonly #monotonic: () => number;
  readonly #units = new Map<BlockId, Unit>();

  constructor(monotonic: () => number) {
    this.#monotonic = monotonic;
  }

  /** The open undo step, if there is one. */
  get(block: BlockId, agent: AgentId, type: "append" | "burst"): number | undefined {
    const open = this.#find(block, agent);
    if (open?.type !== type) return undefined;
    if (type === "burst" && this.#monotonic() - open.at > limits.burstMs) return undefined;
    return open.unit;
  }

  /** Remembers the undo steps of a commit. */
  take(units: readonly DraftedUnit[]): void {
    for (const { block, agent, type, unit } of units) {
      const at = type === "burst" ? this.#monotonic() : 0;
      const known = this.#find(block, agent);
      if (known) {
        known.type = type;
        known.unit = unit;
        known.at = at;
      } else this.#units.set(block, { agent, type, unit, at, next: this.#units.get(block) });
    }
    if (this.#units.size > limits.openUnitBlocks) this.clear();
  }

  clear(): void {
    this.#units.clear();
  }

  #find(block: BlockId, agent: AgentId): Unit | undefined {
    let unit = this.#units.get(block);
    while (unit && unit.agent !== agent) unit = unit.next;
    return unit;
  }
}
