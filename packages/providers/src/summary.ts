/**
 * What a stream came to, in numbers: kinds of blocks, asks, tokens. For people and checks that look at a recording; nothing
 * is stored of it.
 */

import { addUsage, NO_USAGE, type Usage } from "@blockyard/kernel";
import type { Folded } from "./fold.ts";

interface Summary {
  /** How many blocks of each kind. */
  readonly kinds: Readonly<Record<string, number>>;
  readonly asks: Asks;
  /** All turns together. */
  readonly usage: Usage;
}

interface Asks {
  readonly opened: number;
  readonly answered: number;
  /** Ended without an answer, with a reason. */
  readonly expired: number;
  /** Still waiting at the end. */
  readonly open: number;
}

export function summaryOf(folded: Folded): Summary {
  const kinds = new Map<string, number>();
  for (const { kind } of folded.blocks) kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  return {
    kinds: Object.fromEntries([...kinds].sort(([a], [b]) => (a < b ? -1 : 1))),
    asks: asksOf([...folded.asks.values()]),
    usage: folded.turns.reduce((sum, { usage }) => addUsage(sum, usage ?? NO_USAGE), NO_USAGE),
  };
}

function asksOf(states: readonly string[]): Asks {
  const count = (...names: readonly string[]) => states.filter((state) => names.includes(state)).length;
  const open = count("asked");
  const expired = count("expired");
  return { opened: states.length, answered: states.length - open - expired, expired, open };
}
