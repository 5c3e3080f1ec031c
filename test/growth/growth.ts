/**
 * How a walker's work grows with its text: twice the text should cost twice the time. Times are compared within one run, as the
 * shortest of several, and only where they are long enough to mean something.
 */
import type { Filled } from "./fragments.ts";
import type { Walker } from "./walker.ts";

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
/** What seems to grow too fast is measured so often, neither more nor less: until it fits would be no measure. */
const TRIES = 8;

/** The worst growth of a walker over these texts, each to be filled to a length and to twice that; undefined where all are fast. */
export function worstGrowth(
  walker: Walker,
  texts: readonly Filled[],
  chars: number,
  timeOf: (walker: Walker, text: string) => number = processorMs,
): Growth | undefined {
  const growthOf = (small: string, large: string, fragment: string) =>
    growthBetween((text) => timeOf(walker, text), small, large, fragment);
  let worst: Growth | undefined;
  for (const { name, fill } of texts) {
    if (timeOf(walker, fill(2 * chars)) < MS_MIN) continue;
    let growth = growthOf(fill(chars), fill(2 * chars), name);
    // A budget that begins to be used up is one step; what grows too fast does so with every doubling.
    if (growth.ratio > RATIO_MAX) growth = least(growth, growthOf(fill(2 * chars), fill(4 * chars), name));
    if (worst === undefined || growth.ratio > worst.ratio) worst = growth;
  }
  return worst;
}

/** The shortest of a fixed number of times each, taken in turn, where a first look has shown too much: what else runs lengthens some, never all. */
function growthBetween(
  timeOf: (text: string) => number,
  small: string,
  large: string,
  fragment: string,
): Growth {
  let ms = timeOf(large);
  let smallMs = timeOf(small);
  const tries = ms / smallMs > RATIO_MAX ? TRIES : 0;
  for (let i = 0; i < tries; i++) {
    ms = Math.min(ms, timeOf(large));
    smallMs = Math.min(smallMs, timeOf(small));
  }
  return { fragment, ratio: ms / smallMs, ms };
}

function least(one: Growth, other: Growth): Growth {
  return one.ratio < other.ratio ? one : other;
}

/** Processor time of this thread, which other processes do not lengthen. */
function processorMs(walker: Walker, text: string): number {
  const start = process.threadCpuUsage();
  walker.walk(text);
  const { user, system } = process.threadCpuUsage(start);
  return (user + system) / 1_000;
}
