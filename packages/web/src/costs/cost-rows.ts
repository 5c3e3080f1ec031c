/** What cost.report answers, as the page shows and exports it. Pure. */
import { REPORTED_DAYS } from "./limits.ts";

export const COST_GROUPS = ["day", "workspace", "agent", "model", "conversation"] as const;
export type CostGroup = (typeof COST_GROUPS)[number];

interface Tokens {
  readonly input: number;
  readonly cached: number;
  readonly output: number;
}

export interface CostSums extends Tokens {
  readonly turns: number;
  readonly conversations: number;
  readonly subagents: Tokens;
  /** Of the turns whose cost is known; null: of none it is. */
  readonly cost_usd: number | null;
  readonly unpriced: { readonly turns: number; readonly input: number; readonly output: number };
  /** Turns that used more than is counted. */
  readonly uncounted: number;
  /** Turns whose agent reported no usage. */
  readonly unreported: number;
}

export type CostRow = CostSums & { readonly [group in CostGroup]?: string } & { readonly title?: string };

export interface CostReport {
  readonly rows: readonly CostRow[];
  readonly total: CostSums;
  readonly more: boolean;
}

/** The subject of a row, in words. */
export function nameOf(row: CostRow, group: CostGroup): string {
  if (group === "conversation") return row.title || "Untitled";
  return row[group] || { day: "", workspace: "No folder", agent: "", model: "Unknown model" }[group];
}

/** Nobody has reported anything of its turns: what they used is unknown, not zero. */
export function isUnknown({ turns, unreported }: Pick<CostSums, "turns" | "unreported">): boolean {
  return turns > 0 && unreported === turns;
}

/** Whether sub-agents have a column: where none has worked, it would be empty. */
export function usedSubagents(rows: readonly CostRow[]): boolean {
  return rows.some(({ subagents }) => subagents.input + subagents.output > 0);
}

/** A day of a report for people; with its year if that is not the current one. */
export function dayWords(day: string, now: Date): string {
  const [year, month, date] = day.split("-").map(Number);
  if (year === undefined || month === undefined || date === undefined) return day;
  return new Date(year, month - 1, date).toLocaleDateString("en-US", {
    ...{ weekday: "short", month: "short", day: "numeric" },
    ...(year === now.getFullYear() ? {} : { year: "numeric" }),
  });
}

const COLUMNS: readonly (readonly [string, (row: CostRow) => string | number])[] = [
  ["turns", (row) => row.turns],
  ["conversations", (row) => row.conversations],
  ["input_tokens", known((row) => row.input)],
  ["cached_tokens", known((row) => row.cached)],
  ["output_tokens", known((row) => row.output)],
  ["subagent_input_tokens", known((row) => row.subagents.input)],
  ["subagent_output_tokens", known((row) => row.subagents.output)],
  ["cost_usd", (row) => row.cost_usd ?? ""],
  ["turns_without_price", (row) => row.unpriced.turns],
  ["uncounted_turns", (row) => row.uncounted],
  ["unreported_turns", (row) => row.unreported],
];

function known(read: (row: CostRow) => number): (row: CostRow) => string | number {
  return (row) => (isUnknown(row) ? "" : read(row));
}

/** As spreadsheets read it: a header, a line per row, CRLF. A name that a spreadsheet would take for a formula stays a name. */
export function csvOf(rows: readonly CostRow[], group: CostGroup): string {
  const id =
    group === "conversation" ? [["conversation_id", (row: CostRow) => row.conversation ?? ""] as const] : [];
  const columns = [[group, (row: CostRow) => nameOf(row, group)] as const, ...id, ...COLUMNS];
  const lines = [columns.map(([name]) => name), ...rows.map((row) => columns.map(([, read]) => read(row)))];
  return lines.map((cells) => `${cells.map(cell).join(",")}\r\n`).join("");
}

function cell(value: string | number): string {
  if (typeof value === "number") return String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export interface DayCost {
  readonly day: string;
  readonly costUsd: number;
  readonly turns: number;
}

/** One for each day from the first to the last, also if nothing was spent. `from`: the first, if known. */
export function everyDay(rows: readonly CostRow[], today: string, from?: string): readonly DayCost[] {
  const known = new Map(rows.map((row) => [row.day ?? "", row]));
  const first = from ?? [...known.keys()].filter((day) => day !== "").sort()[0];
  if (first === undefined) return [];
  const days: DayCost[] = [];
  for (let at = Date.parse(`${first}T12:00:00Z`); days.length < REPORTED_DAYS; at += DAY_MS) {
    const day = new Date(at).toISOString().slice(0, 10);
    days.push({ day, costUsd: known.get(day)?.cost_usd ?? 0, turns: known.get(day)?.turns ?? 0 });
    if (day >= today) break;
  }
  return days;
}

export const DAY_MS = 24 * 60 * 60 * 1_000;
