/** `blockyard costs`: what turns have used and cost, by day, agent, model or folder; as a table, or as CSV. */

import type { CostRow } from "@blockyard/kernel";
import { formatCost, plural } from "@blockyard/kernel/plain";
import { HOME_OPTION, JSON_OPTION, readArguments } from "./args.ts";
import { known } from "./block-source.ts";
import { type Command, CommandError, EXIT } from "./command.ts";
import { openClient } from "./command-client.ts";
import { lineWidth, oneLine, print, printJson, safeText, styleFor, wrapped } from "./terminal.ts";

const GROUPS = ["day", "workspace", "agent", "model", "conversation"] as const;
type Group = (typeof GROUPS)[number];

const options = {
  home: HOME_OPTION,
  json: JSON_OPTION,
  by: {
    type: "string",
    multiple: true,
    value: "WHAT",
    summary: "what to group by; repeat it to combine several (default: day)",
    choices: GROUPS,
  },
  since: { type: "string", value: "DATE", summary: "only turns since this day, such as 2026-11-01" },
  until: { type: "string", value: "DATE", summary: "only turns before this day" },
  csv: { type: "boolean", summary: "print CSV" },
} as const;

interface Report {
  readonly rows: readonly CostRow[];
  readonly total: CostRow;
  readonly more: boolean;
}

export const costs: Command = {
  name: "costs",
  usage: "costs [--by day|workspace|agent|model|conversation] [--since DATE] [--until DATE] [--csv | --json]",
  summary: "show what turns used and cost",
  examples: [
    "blockyard costs --since 2026-11-01",
    "blockyard costs --by model",
    "blockyard costs --by day --by agent --csv > costs.csv",
  ],
  options,
  async run(args) {
    const { values } = readArguments({ name: "costs", options }, args, [0, 0]);
    const by = groupsOf(values.by ?? ["day"]);
    const time_zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
    const limit = 2_000;
    const range = { ...timeOf("since", values.since), ...timeOf("until", values.until) };
    const client = await openClient({ home: values.home });
    try {
      const answer = await client.call("cost.report", { by, time_zone, limit, ...range });
      const report: Report = known(answer);
      if (values.csv) await print(csvOf(report, by));
      else if (values.json) for (const row of report.rows) await printJson(row);
      else await print(tableOf(report, by, lineWidth()));
      if (report.rows.length === 0 && !values.csv && !values.json) process.stderr.write("No turns.\n");
      if (report.more)
        process.stderr.write(`Only the first ${limit} rows are shown: use --since or fewer --by.\n`);
      return report.rows.length === 0 ? EXIT.nothing : EXIT.done;
    } finally {
      await client.close();
    }
  },
};

function groupsOf(given: readonly string[]): readonly Group[] {
  return given.map((name) => {
    const group = GROUPS.find((each) => each === name);
    if (group === undefined)
      throw new CommandError(`--by takes ${GROUPS.join(", ")}, not ${name}`, EXIT.usage);
    return group;
  });
}

/** A day begins at midnight of this machine's clock. */
function timeOf(name: "since" | "until", value: string | undefined): { [name: string]: number } {
  if (value === undefined) return {};
  const parts = /^(\d{4})-(\d{2})-(\d{2})$/.exec(value)?.slice(1).map(Number) as
    | [number, number, number]
    | undefined;
  const at = parts && new Date(parts[0], parts[1] - 1, parts[2]);
  if (!at || at.getDate() !== parts[2])
    throw new CommandError(`--${name} takes a day, such as 2026-11-01`, EXIT.usage);
  return { [name]: at.getTime() };
}

export function tableOf(
  { rows, total }: Pick<Report, "rows" | "total">,
  by: readonly Group[],
  width: number,
): string {
  if (rows.length === 0) return "";
  const style = styleFor(process.stdout);
  const named = [
    by,
    ...rows.map((row) => by.map((group) => nameOf(row, group))),
    by.map((_, i) => (i === 0 ? "total" : "")),
  ];
  const counted = [HEADS, ...rows.map(numbersOf), numbersOf(total)];
  const wide = HEADS.map((_, i) => Math.max(...counted.map((each) => (each[i] ?? "").length)));
  const room = Math.floor((width - wide.reduce((sum, chars) => sum + chars + 2, 0)) / by.length) - 2;
  const narrow = by.map((_, i) =>
    Math.min(Math.max(8, room), Math.max(...named.map((each) => (each[i] ?? "").length))),
  );
  const [head = "", ...lines] = named.map((names, row) => {
    const cells = names.map((name, i) => oneLine(name, narrow[i] ?? 0).padEnd(narrow[i] ?? 0));
    const numbers = (counted[row] ?? []).map((cell, i) => cell.padStart(wide[i] ?? 0));
    return `${[...cells, ...numbers].join("  ")}\n`;
  });
  const sum = lines.pop() ?? "";
  return `${style.dim(head)}${lines.join("")}${style.bold(sum)}${style.dim(unpricedWords(total, width))}`;
}

const HEADS = ["turns", "input", "cached", "output", "sub-agents", "cost"];

/** What the sums leave out, and what to do about it. */
function unpricedWords({ unpriced, uncounted, unreported, cost_usd }: CostRow, width: number): string {
  const isAll = cost_usd === null;
  const without = `${plural(unpriced.turns, "turn")} without a known price${isAll ? "" : " (+, –)"}`;
  const fix = "to see the cost of later turns, add prices to prices.json in the data directory";
  const price = unpriced.turns === 0 ? "" : `${wrapped(`${without}: ${fix}`, width)}\n`;
  const cut = `${plural(uncounted, "turn")} may have cost more than shown (+): ended before all usage was reported`;
  const silent = `${plural(unreported, "turn")} whose agent reported no usage: what they used is unknown (+, –)`;
  return [
    price,
    uncounted === 0 ? "" : `${wrapped(cut, width)}\n`,
    unreported === 0 ? "" : `${wrapped(silent, width)}\n`,
  ].join("");
}

function nameOf(row: CostRow, group: Group): string {
  if (group === "conversation") return oneLine(`${row.conversation} ${row.title ?? ""}`, 40);
  const value = row[group] ?? "";
  return value === "" ? "(unknown)" : oneLine(value, 60);
}

function numbersOf(row: CostRow): string[] {
  const { turns, input, cached, output, subagents, cost_usd, unpriced, uncounted, unreported } = row;
  const theirs = subagents.input + subagents.output;
  const isLeast = unpriced.turns + uncounted + unreported > 0;
  const cost = cost_usd === null ? "–" : `${formatCost(cost_usd)}${isLeast ? "+" : ""}`;
  const used = [input, cached, output, theirs].map((count) =>
    isUnknown(row) ? "–" : count.toLocaleString("en-US"),
  );
  return [turns.toLocaleString("en-US"), ...used, cost];
}

/** Nobody has reported anything: not a zero. */
function isUnknown({ turns, unreported }: CostRow): boolean {
  return unreported === turns && turns > 0;
}

/** One line a row; a field with a comma, a quote or a newline is quoted. Formulas are turned into text. */
export function csvOf({ rows }: Pick<Report, "rows">, by: readonly Group[]): string {
  const head = [
    ...by.flatMap((group) => (group === "conversation" ? [group, "title"] : [group])),
    ...["turns", "conversations", "input_tokens", "cached_tokens", "output_tokens"],
    ...["subagent_input_tokens", "subagent_cached_tokens", "subagent_output_tokens"],
    ...["cost_usd", "unpriced_turns", "unpriced_input_tokens", "unpriced_output_tokens", "uncounted_turns"],
    "unreported_turns",
  ];
  const lines = rows.map((row) => [
    ...by.flatMap((group) => (group === "conversation" ? [row.conversation, row.title] : [row[group]])),
    ...[row.turns, row.conversations],
    ...[row.input, row.cached, row.output].map((count) => (isUnknown(row) ? "" : count)),
    ...[row.subagents.input, row.subagents.cached, row.subagents.output].map((count) =>
      isUnknown(row) ? "" : count,
    ),
    ...[row.cost_usd ?? "", row.unpriced.turns, row.unpriced.input, row.unpriced.output, row.uncounted],
    row.unreported,
  ]);
  return [head, ...lines]
    .map((cells) => `${cells.map((cell) => csvCell(cell ?? "")).join(",")}\r\n`)
    .join("");
}

function csvCell(value: string | number): string {
  const text = typeof value === "string" ? safeText(value) : String(value);
  const safe = typeof value === "string" && /^[=+\-@＝＋－＠\t\r\n]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
