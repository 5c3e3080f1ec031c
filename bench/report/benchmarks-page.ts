/**
 * Writes docs/benchmarks.md and its pictures from what the benches left in bench/results/. Every number and every sentence
 * about one comes from there: what a bench wants to say, it says in its question and its notes.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { Bench, TableRow } from "../bench.ts";
import { keeps } from "../bench.ts";
import { type KeptBench, keptBenches } from "./kept-page.ts";
import { type Plot, svgOf } from "./plot.ts";
import {
  describeSpread,
  describeTarget,
  type Part,
  readable,
  readResult,
  type SavedResult,
} from "./result.ts";

const DOCS = new URL("../../docs/", import.meta.url);
const PAGE = new URL("benchmarks.md", DOCS);
const PLOTS = new URL("benchmarks/", DOCS);

/** Programs for each core, from which on others have an effect on what is measured. */
const BUSY = 0.5;

const INTRODUCTION = `# Benchmarks

Written by \`npm run bench\`, which runs every bench and then this page's writer; no number in it is typed by hand.
\`npm run bench <name>\` measures one question and leaves the page alone, \`npm run bench -- --render\` writes the page again from
the last results without measuring; of benches without a result here it keeps what it says. How figures are made, and why they are ratios:
[the decision](decisions/0013-benchmarks.md).

A figure is the median of its measurements; the spread is between what their middle half lies, and how many there were. A
figure without a spread is a count or a size, or its measurements are in a table below. \`MISSED\` is a promise that this run did
not keep.
`;

/** How many benches had results to show. Of the others the page keeps what it says. */
export function writeBenchmarksPage(benches: readonly Bench[]): number {
  const results = benches.flatMap(({ name }) => readResult(name) ?? []);
  const isNew = (name: string) => results.some((result) => result.name === name);
  const kept = keptBenches(readFileSync(PAGE, "utf8")).filter(
    ({ name }) => !isNew(name) && benches.some((bench) => bench.name === name),
  );
  mkdirSync(PLOTS, { recursive: true });
  for (const file of readdirSync(PLOTS))
    if (file.endsWith(".svg") && !kept.some(({ section }) => section.includes(`benchmarks/${file}`)))
      rmSync(new URL(file, PLOTS));
  for (const result of results)
    for (const part of result.parts)
      if ("plot" in part) writeFileSync(new URL(fileOf(result, part.plot), PLOTS), svgOf(part.plot));
  writeFileSync(PAGE, pageOf(results, kept));
  return results.length;
}

export function pageOf(results: readonly SavedResult[], kept: readonly KeptBench[] = []): string {
  const told = [...results.map((result) => ({ name: result.name, section: section(result) })), ...kept];
  const sections = told.toSorted((a, b) => (a.name < b.name ? -1 : 1)).map((each) => each.section.trimEnd());
  const parts = [
    INTRODUCTION,
    machines(results, kept),
    overview(results, kept),
    `${sections.join("\n\n")}\n`,
  ];
  return `${parts.join("\n").trimEnd()}\n`;
}

function machines(results: readonly SavedResult[], kept: readonly KeptBench[]): string {
  const distinct = Map.groupBy(results, ({ machine, packages, date }) =>
    JSON.stringify([machine, packages, date]),
  );
  const tables = [...distinct.values()].map((group) => {
    const { machine, packages, date } = group[0] as SavedResult;
    const rows: [string, string][] = [
      ["cores", `${machine.cores}, ${machine.processor}`],
      ["memory", `${machine.memoryGb} GB`],
      ["kernel", machine.kernel],
      ["Node", machine.node],
      ["SQLite", machine.sqlite],
      ["Chromium", machine.chromium],
      ["date", date],
      [
        "packages",
        Object.entries(packages)
          .map((each) => each.join(" "))
          .join(", "),
      ],
    ];
    const table = `| | |\n|---|---|\n${rows.map(([name, value]) => `| ${name} | ${value} |`).join("\n")}\n`;
    return { names: group.map(({ name }) => name), table };
  });
  for (const [table, group] of Map.groupBy(kept, ({ machine }) => machine))
    if (table !== "") tables.push({ names: group.map(({ name }) => name), table });
  const titled = tables.map(({ names, table }) =>
    tables.length === 1 ? table : `${names.join(", ")}:\n\n${table}`,
  );
  return `## The machine\n\n${titled.join("\n")}`;
}

function overview(results: readonly SavedResult[], kept: readonly KeptBench[]): string {
  const measured = results.map((result) => {
    const missed = Object.entries(result.targets).filter(
      ([name, target]) => !keeps(result.figures[name], target),
    );
    const said = missed.length === 0 ? "ok" : `MISSED: ${missed.map(([name]) => name).join(", ")}`;
    return `| [${result.name}](#${result.name}) | ${result.question} | ${Object.keys(result.targets).length} | ${said} |`;
  });
  const rows = [...measured, ...kept.map(({ row }) => row)].toSorted();
  return `## Promises\n\n${warning(results, kept)}| bench | question | promises | kept |\n|---|---|--:|---|\n${rows.join("\n")}\n`;
}

/** A ratio forgives a busy machine, a tail or a deadline does not. */
function warning(results: readonly SavedResult[], kept: readonly KeptBench[]): string {
  const busy = results.map(({ runningPrograms, machine }) => runningPrograms / machine.cores);
  const most = Math.max(0, ...busy, ...kept.map(({ busyCores }) => busyCores));
  if (most < BUSY) return "";
  return `**The machine was busy**: up to ${readable(most)} programs for each core, beside the bench. What waits for its turn is late then,
and a missed promise may be the neighbours'; run it again on a quiet machine before believing it.\n\n`;
}

function section(result: SavedResult): string {
  const names = [...new Set([...Object.keys(result.targets), ...Object.keys(result.figures)])];
  const rows = names.map((name): TableRow => {
    const target = result.targets[name];
    const value = result.figures[name];
    return {
      figure: name,
      median: value === undefined ? "not measured" : readable(value),
      spread: describeSpread(result.spreads[name]),
      target: describeTarget(target),
      "": target === undefined ? "" : keeps(value, target) ? "ok" : "MISSED",
    };
  });
  const { seconds, runningPrograms, machine } = result;
  const took = `Measured in ${Math.round(seconds)} s; ${readable(runningPrograms)} other programs ran on ${machine.cores} cores in the minute before.`;
  const parts = [
    ...(result.failed === undefined ? [] : [`It broke: ${result.failed}`]),
    tableOf(rows),
    ...result.parts.map((part) => partOf(result, part)),
    took,
  ];
  return `## ${result.name}\n\n${result.question}\n\n${parts.join("\n\n")}\n`;
}

function partOf(result: SavedResult, part: Part): string {
  if ("note" in part) return escaped(part.note.trim());
  if ("table" in part) return tableOf(part.table);
  return `![${part.plot.title}](benchmarks/${fileOf(result, part.plot)})`;
}

function tableOf(rows: readonly TableRow[]): string {
  const columns = Object.keys(rows[0] ?? {});
  const isNumeric = columns.map((column) =>
    rows.every((row) => typeof row[column] === "number" || /^[\d.,\s-]*$/.test(String(row[column] ?? ""))),
  );
  const cell = (value: string | number | undefined) =>
    typeof value === "number" ? readable(value) : escaped(String(value ?? "").trim());
  return [
    `| ${columns.join(" | ")} |`,
    `|${columns.map((_, i) => (isNumeric[i] ? "--:" : "---")).join("|")}|`,
    ...rows.map((row) => `| ${columns.map((column) => cell(row[column])).join(" | ")} |`),
  ].join("\n");
}

function fileOf({ name }: SavedResult, plot: Plot): string {
  return `${name}-${plot.name}.svg`;
}

function escaped(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("<", "&lt;");
}
