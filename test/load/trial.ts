/**
 * What a trial under load is: it plays on a driver's server and comes to rows, each a figure with what it should be. A row
 * without a target is for people; a trial without rows has shown nothing and fails.
 */
import { keeps, type Target } from "../../bench/bench.ts";
import type { Driver } from "../../bench/fanout/driver.ts";

export interface Row {
  /** The line of the list of threats that it belongs to. */
  readonly rule: string;
  readonly figure: string;
  readonly value: number;
  readonly target?: Target;
}

export interface LoadRate {
  /** How long the longest load lasts. */
  readonly minutes: number;
  tell(text: string): void;
}

export interface Trial {
  readonly name: string;
  readonly question: string;
  run(driver: Driver, pace: LoadRate): Promise<readonly Row[]>;
}

export function isKept({ value, target }: Row): boolean {
  return target === undefined || keeps(value, target);
}

/** Rows as a table: rule, figure, value, target, ok. */
export function tableOf(rows: readonly Row[]): string {
  const cells = rows.map((row) => [
    row.rule,
    row.figure,
    readable(row.value),
    targetOf(row.target),
    row.target === undefined ? "" : isKept(row) ? "ok" : "MISSED",
  ]);
  const all = [["", "figure", "value", "target", ""], ...cells];
  const widths = all[0]!.map((_, column) => Math.max(...all.map((row) => row[column]!.length)));
  return all
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

function targetOf(target: Target | undefined): string {
  if (target === undefined) return "";
  const { min, max } = target;
  return [min === undefined ? "" : `>= ${readable(min)}`, max === undefined ? "" : `<= ${readable(max)}`]
    .filter(Boolean)
    .join(", ");
}

function readable(value: number): string {
  return Number.isInteger(value) ? value.toLocaleString("en") : String(Number(value.toPrecision(3)));
}

/** How much `values` rise with each step of `at`: the slope of the straight line that fits best. */
export function slope(at: readonly number[], values: readonly number[]): number {
  const mean = (numbers: readonly number[]) => numbers.reduce((sum, each) => sum + each, 0) / numbers.length;
  const [x, y] = [mean(at), mean(values)];
  const spread = at.reduce((sum, each) => sum + (each - x) ** 2, 0);
  return at.reduce((sum, each, index) => sum + (each - x) * (values[index]! - y), 0) / spread;
}
