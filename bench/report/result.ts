/**
 * What one run of a bench leaves behind in bench/results/<name>.json: the machine-readable result, and everything that the
 * bench told people on the way, so that the page of benchmarks can be written again without measuring again.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import type { BenchResult, Figure, Measured, TableRow, Target } from "../bench.ts";
import type { Machine } from "./machine.ts";
import type { Plot } from "./plot.ts";

const FOLDER = new URL("../results/", import.meta.url);

/** In the order in which the bench told them. */
export type Part =
  | { readonly note: string }
  | { readonly table: readonly TableRow[] }
  | { readonly plot: Plot };

export interface SavedResult extends BenchResult {
  readonly question: string;
  readonly spreads: Readonly<Record<string, Measured>>;
  readonly parts: readonly Part[];
  readonly seconds: number;
  /** Day of the run. */
  readonly date: string;
  /** Programs that ran or waited to run, on average over the minute before. */
  readonly runningPrograms: number;
  readonly machine: Machine;
  readonly packages: Readonly<Record<string, string>>;
  /** Why there are no figures, where it broke. */
  readonly failed?: string;
}

export function spreadsOf(figures: Readonly<Record<string, Figure>>): Record<string, Measured> {
  return Object.fromEntries(
    Object.entries(figures).filter((entry): entry is [string, Measured] => typeof entry[1] !== "number"),
  );
}

export function saveResult(result: SavedResult): void {
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(new URL(`${result.name}.json`, FOLDER), `${JSON.stringify(result, null, 2)}\n`);
}

/** Undefined where the bench has not been run, or was by a version that kept less. */
export function readResult(name: string): SavedResult | undefined {
  try {
    const saved = JSON.parse(readFileSync(new URL(`${name}.json`, FOLDER), "utf8")) as SavedResult;
    return saved.machine === undefined ? undefined : saved;
  } catch {
    return undefined;
  }
}

export function readable(value: number): string {
  if (Number.isInteger(value) || Math.abs(value) >= 10_000) return Math.round(value).toLocaleString("en");
  return String(Number(value.toPrecision(value < 100 ? 3 : 4)));
}

export function describeTarget(target: Target | undefined): string {
  return [
    target?.min === undefined ? "" : `≥ ${readable(target.min)}`,
    target?.max === undefined ? "" : `≤ ${readable(target.max)}`,
  ]
    .filter(Boolean)
    .join(", ");
}

/** Between what the middle half of the measurements lies, and how many there were. */
export function describeSpread(spread: Measured | undefined): string {
  return spread === undefined ? "" : `${readable(spread.low)} to ${readable(spread.high)} of ${spread.count}`;
}
