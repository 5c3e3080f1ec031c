/**
 * What a bench is, and the arithmetic that benches have in common. A bench is a file beside this one that exports
 * `bench`; bench/run.ts finds it by listing the directory. It answers one question with a few named figures, and
 * says in `targets` which figures are promises.
 *
 * Machines are noisy: compare two ways in alternating pairs (`alternate`), and judge by ratios rather than by
 * seconds wherever the question allows it.
 */
import type { Plot } from "./report/plot.ts";

/** A figure meets its target if it is within both given limits. */
export interface Target {
  readonly max?: number;
  readonly min?: number;
}

/** The median of repeated measurements, and the range of their middle half. */
export interface Measured {
  readonly median: number;
  readonly low: number;
  readonly high: number;
  readonly count: number;
}

/** A bare number is a count, a size, or something else that does not vary. */
export type Figure = number | Measured;

export interface Bench {
  /** The file's name without its ending. */
  readonly name: string;
  /** The question that the figures answer. */
  readonly question: string;
  readonly targets: Readonly<Record<string, Target>>;
  /** Measures. Names of figures end in their unit: `openMs`, `storedBytesPerTextByte`. */
  run(report: Report): Promise<Readonly<Record<string, Figure>>>;
}

/** Prints additional information for people. Never part of the machine-readable result. */
export interface Report {
  note(text: string): void;
  table(rows: readonly TableRow[]): void;
  plot(plot: Plot): void;
}

export type TableRow = Readonly<Record<string, string | number>>;

export interface BenchResult {
  readonly name: string;
  readonly figures: Readonly<Record<string, number>>;
  readonly targets: Readonly<Record<string, Target>>;
  readonly pass: boolean;
}

/** A target without a figure is missed: a bench that measured nothing must not pass. */
export function keeps(figure: number | undefined, target: Target): boolean {
  if (figure === undefined || Number.isNaN(figure)) return false;
  return (
    figure <= (target.max ?? Number.POSITIVE_INFINITY) && figure >= (target.min ?? Number.NEGATIVE_INFINITY)
  );
}

export function judge(bench: Bench, measured: Readonly<Record<string, Figure>>): BenchResult {
  const figures = Object.fromEntries(
    Object.entries(measured).map(([name, figure]) => [
      name,
      typeof figure === "number" ? figure : figure.median,
    ]),
  );
  const pass = Object.entries(bench.targets).every(([name, target]) => keeps(figures[name], target));
  return { name: bench.name, figures, targets: bench.targets, pass };
}

/** The value below which the given share of the values lies; between two values it is interpolated. */
export function quantile(values: readonly number[], share: number): number {
  if (values.length === 0) throw new RangeError("A quantile of no values");
  if (!(share >= 0 && share <= 1)) throw new RangeError(`Share ${share} is not between 0 and 1`);
  const sorted = values.toSorted((a, b) => a - b);
  const at = (sorted.length - 1) * share;
  const low = sorted[Math.floor(at)]!;
  const high = sorted[Math.ceil(at)]!;
  return low + (high - low) * (at - Math.floor(at));
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

export function measured(values: readonly number[]): Measured {
  return {
    median: median(values),
    low: quantile(values, 0.25),
    high: quantile(values, 0.75),
    count: values.length,
  };
}

/** The worst of several figures under one target. */
export function worst(figures: readonly Measured[], isLargeBad = true): Measured {
  const sorted = figures.toSorted((a, b) => (isLargeBad ? b.median - a.median : a.median - b.median));
  if (sorted[0] === undefined) throw new RangeError("The worst of nothing");
  return sorted[0];
}

export async function elapsedMs(work: () => unknown): Promise<number> {
  const startMs = performance.now();
  await work();
  return performance.now() - startMs;
}

export interface Comparison {
  readonly medianA: number;
  readonly medianB: number;
  /** The median over the pairs of a / b: anything that slows both halves of a pair cancels out. */
  readonly ratio: number;
  /** The spread of the ratios: their middle half, relative to `ratio`. Above 0.2, measure again. */
  readonly spread: number;
  /** The same ratio as a figure, with its middle half. */
  readonly figure: Measured;
}

type Measure = () => number | Promise<number>;

/** Measures a and b in turn, `pairs` times, each going first in every other pair. Both return their own figure. */
export async function alternate(pairs: number, a: Measure, b: Measure): Promise<Comparison> {
  if (!(pairs >= 1)) throw new RangeError(`${pairs} pairs measure nothing`);
  const figuresA: number[] = [];
  const figuresB: number[] = [];
  for (let pair = 0; pair < pairs; pair++) {
    if (pair % 2 === 0) {
      figuresA.push(await a());
      figuresB.push(await b());
    } else {
      figuresB.push(await b());
      figuresA.push(await a());
    }
  }
  const figure = measured(figuresA.map((each, index) => each / figuresB[index]!));
  return {
    medianA: median(figuresA),
    medianB: median(figuresB),
    ratio: figure.median,
    spread: (figure.high - figure.low) / figure.median,
    figure,
  };
}
