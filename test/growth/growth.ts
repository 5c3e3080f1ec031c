/**
 * How a walker's work grows with its text: twice the text should cost twice the time. Times are compared within one run, as the
 * shortest of several, and only where they are long enough to mean something.
 */
import type { Filled } from "./fragments.ts";
import type { Walker } from "./walkers.ts";

export interface Growth {
  readonly fragment: string;
  /** Time for twice the text, divided by the time for the text. */
  readonly ratio: number;
  readonly ms: number;
}

/** What ends sooner is bounded well enough: below that, fixed costs and budgets bend the curve. */
const MS_MIN = 60;
/** Twice the text costs at most this much more: a linear walker's 2, with room for the collector. */
export const RATIO_MAX = 2.2;
const TRIES = 6;

/** The worst growth of a walker over these texts, each to be filled to a length and to twice that; undefined where all are fast. */
export function worstGrowth(walker: Walker, texts: readonly Filled[], chars: number): Growth | undefined {
  let worst: Growth | undefined;
  for (const { name, fill } of texts) {
    const large = fill(2 * chars);
    if (timeOf(walker, large) < MS_MIN) continue;
    const growth = growthOf(walker, fill(chars), large, name);
    if (worst === undefined || growth.ratio > worst.ratio) worst = growth;
  }
  return worst;
}

/** The shortest of several times each, taken in turn, while the ratio is too high: what else runs lengthens some, never all. */
function growthOf(walker: Walker, small: string, large: string, fragment: string): Growth {
  let ms = timeOf(walker, large);
  let smallMs = timeOf(walker, small);
  for (let i = 0; i < TRIES && ms / smallMs > RATIO_MAX; i++) {
    ms = Math.min(ms, timeOf(walker, large));
    smallMs = Math.min(smallMs, timeOf(walker, small));
  }
  return { fragment, ratio: ms / smallMs, ms };
}

/** Processor time of this thread, which other processes do not lengthen. */
function timeOf(walker: Walker, text: string): number {
  const start = process.threadCpuUsage();
  walker.walk(text);
  const { user, system } = process.threadCpuUsage(start);
  return (user + system) / 1_000;
}
