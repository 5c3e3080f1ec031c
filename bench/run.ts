/**
 * Runs benches: `npm run bench [names…]`. Without a name all of them, each in a process of its own, so that none measures what
 * another left in memory; and then docs/benchmarks.md is written from the results. Prints tables for people, or with --json
 * one JSON line per bench on stdout and everything else on stderr. Each result is also written to bench/results/.
 * Ends with exit code 1 if a target was missed.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import {
  type Bench,
  type BenchResult,
  type Figure,
  judge,
  keeps,
  type Report,
  type TableRow,
} from "./bench.ts";
import { writeBenchmarksPage } from "./report/benchmarks-page.ts";
import { packageVersions, runningPrograms, thisMachine } from "./report/machine.ts";
import {
  describeSpread,
  describeTarget,
  type Part,
  readable,
  saveResult,
  spreadsOf,
} from "./report/result.ts";

const here = new URL("./", import.meta.url);
/** Files beside the benches that are none. */
const NO_BENCHES = ["bench", "peer", "profile", "run"];

const usage = `Usage: npm run bench -- [names…] [--json] [--list] [--render]

  Without a name every bench is run, and docs/benchmarks.md is written.

  --json     one JSON line per bench on stdout: {"name","figures","targets","pass"}
  --list     names and questions, without running anything
  --no-save  leave the last results as they are
  --render   write docs/benchmarks.md from the last results, without running anything`;

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: "boolean" },
    list: { type: "boolean" },
    render: { type: "boolean" },
    "no-save": { type: "boolean" },
    help: { type: "boolean", short: "h" },
  },
});
const print = options.json ? console.error : console.log;

if (options.help) {
  console.log(usage);
} else {
  process.exitCode = await main(positionals);
}

async function main(wanted: readonly string[]): Promise<number> {
  const names = benchNames();
  const unknown = wanted.filter((name) => !names.includes(name));
  if (unknown.length > 0) {
    console.error(`No bench is named ${unknown.join(", ")}. There are: ${names.join(", ") || "none yet"}`);
    return 2;
  }
  if (options.render) return render(names);
  if (options.list) {
    for (const bench of await Promise.all(names.map(load)))
      console.log(`${bench.name.padEnd(20)} ${bench.question}`);
    return 0;
  }
  if (wanted.length === 0) return runAll(names);
  let missed = 0;
  for (const name of wanted) {
    const result = await measure(await load(name));
    if (options.json) console.log(JSON.stringify(result));
    if (!result.pass) missed++;
  }
  return missed > 0 ? 1 : 0;
}

async function runAll(names: readonly string[]): Promise<number> {
  const startMs = performance.now();
  const missed: string[] = [];
  for (const name of names) {
    const args = [fileURLToPath(import.meta.url), name, ...(options.json ? ["--json"] : [])];
    const [code] = await once(
      spawn(process.execPath, [...process.execArgv, ...args], { stdio: "inherit" }),
      "close",
    );
    if (code !== 0) missed.push(name);
  }
  await render(names);
  print(
    `${names.length} benches in ${minutes(performance.now() - startMs)}; missed: ${missed.join(", ") || "none"}`,
  );
  return missed.length > 0 ? 1 : 0;
}

async function render(names: readonly string[]): Promise<number> {
  const shown = writeBenchmarksPage(await Promise.all(names.map(load)));
  print(`docs/benchmarks.md: ${shown} of ${names.length} benches`);
  return 0;
}

function benchNames(): string[] {
  return readdirSync(here)
    .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"))
    .map((file) => file.slice(0, -".ts".length))
    .filter((name) => !NO_BENCHES.includes(name))
    .toSorted();
}

async function load(name: string): Promise<Bench> {
  const module: { bench?: Bench } = await import(new URL(`${name}.ts`, here).href);
  if (module.bench?.name !== name) throw new Error(`bench/${name}.ts must export a bench named "${name}"`);
  return module.bench;
}

async function measure(bench: Bench): Promise<BenchResult> {
  const parts: Part[] = [];
  const report: Report = {
    note(text) {
      parts.push({ note: text });
      print(text);
    },
    table(rows) {
      parts.push({ table: rows });
      print(`${format(rows)}\n`);
    },
    plot: (plot) => parts.push({ plot }),
  };
  print(`\n${bench.name}: ${bench.question}`);
  const before = { machine: thisMachine(), packages: packageVersions(), runningPrograms: runningPrograms() };
  const startMs = performance.now();
  const { figures, failed } = await run(bench, report);
  const result = judge(bench, figures);
  const seconds = (performance.now() - startMs) / 1_000;
  const spreads = spreadsOf(figures);
  print(`${format(figureRows(bench, result, spreads))}\n`);
  for (const figure of Object.keys(bench.targets)) {
    if (result.figures[figure] === undefined) print(`MISSED  ${figure} was promised but not measured`);
  }
  print(`${result.pass ? "pass" : "MISSED"}, ${seconds.toFixed(1)} s`);
  const date = new Date().toISOString().slice(0, 10);
  const broken = failed === undefined ? {} : { failed };
  if (options["no-save"]) return result;
  saveResult({ ...result, question: bench.question, spreads, parts, seconds, date, ...before, ...broken });
  return result;
}

/** A bench that breaks has kept none of its promises; the others are still run. */
async function run(
  bench: Bench,
  report: Report,
): Promise<{ figures: Readonly<Record<string, Figure>>; failed?: string }> {
  try {
    return { figures: await bench.run(report) };
  } catch (error) {
    console.error(error);
    return { figures: {}, failed: String((error as Error)?.message ?? error).split("\n", 1)[0] as string };
  }
}

function figureRows(
  bench: Bench,
  result: BenchResult,
  spreads: ReturnType<typeof spreadsOf>,
): readonly TableRow[] {
  return Object.entries(result.figures).map(([figure, value]) => {
    const target = bench.targets[figure];
    return {
      figure,
      median: readable(value),
      spread: describeSpread(spreads[figure]),
      target: describeTarget(target),
      "": target === undefined ? "" : keeps(value, target) ? "ok" : "MISSED",
    };
  });
}

/** Columns in the order of the first row; numbers to the right. */
function format(rows: readonly TableRow[]): string {
  const columns = Object.keys(rows[0] ?? {});
  const cell = (value: string | number | undefined) =>
    typeof value === "number" ? readable(value) : (value ?? "");
  const widths = columns.map((column) =>
    Math.max(column.length, ...rows.map((row) => cell(row[column]).length)),
  );
  const isNumeric = columns.map((column) => rows.every((row) => /^[\d.,-]+$/.test(cell(row[column]))));
  const line = (cells: readonly string[]) =>
    cells
      .map((text, index) => (isNumeric[index] ? text.padStart(widths[index]!) : text.padEnd(widths[index]!)))
      .join("  ")
      .trimEnd();
  return [columns, ...rows.map((row) => columns.map((column) => cell(row[column])))]
    .map((cells) => `  ${line(cells)}`)
    .join("\n");
}

function minutes(ms: number): string {
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1_000)} s`;
}
