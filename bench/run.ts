/**
 * Runs benches: `npm run bench [names…]`, all of them without a name. Prints a table for people, or with --json
 * one JSON line per bench on stdout and everything else on stderr. Each result is also written to bench/results/.
 * Ends with exit code 1 if a target was missed.
 */
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { type Bench, type BenchResult, judge, keeps, type Report, type Target } from "./bench.ts";

const here = new URL("./", import.meta.url);

const usage = `Usage: npm run bench -- [names…] [--json] [--list]

  --json   one JSON line per bench on stdout: {"name","figures","targets","pass"}
  --list   names and questions, without running anything`;

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { json: { type: "boolean" }, list: { type: "boolean" }, help: { type: "boolean", short: "h" } },
});

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
  let missed = 0;
  for (const name of wanted.length > 0 ? wanted : names) {
    const bench = await load(name);
    if (options.list) {
      console.log(`${name.padEnd(20)} ${bench.question}`);
      continue;
    }
    const result = await measure(bench);
    if (options.json) console.log(JSON.stringify(result));
    if (!result.pass) missed++;
  }
  return missed > 0 ? 1 : 0;
}

function benchNames(): string[] {
  return readdirSync(here)
    .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"))
    .map((file) => file.slice(0, -".ts".length))
    .filter((name) => name !== "bench" && name !== "run")
    .toSorted();
}

async function load(name: string): Promise<Bench> {
  const module: { bench?: Bench } = await import(new URL(`${name}.ts`, here).href);
  if (module.bench?.name !== name) throw new Error(`bench/${name}.ts must export a bench named "${name}"`);
  return module.bench;
}

async function measure(bench: Bench): Promise<BenchResult> {
  const print = options.json ? console.error : console.log;
  const report: Report = {
    note: (text) => print(text),
    table: (rows) => print(`${format(rows)}\n`),
  };
  print(`\n${bench.name}: ${bench.question}`);
  const startMs = performance.now();
  const result = judge(bench, await bench.run(report));
  report.table(
    Object.entries(result.figures).map(([figure, value]) => ({
      figure,
      value: readable(value),
      target: describeTarget(bench.targets[figure]),
      "": verdict(value, bench.targets[figure]),
    })),
  );
  for (const figure of Object.keys(bench.targets)) {
    if (result.figures[figure] === undefined) print(`MISSED  ${figure} was promised but not measured`);
  }
  print(`${result.pass ? "pass" : "MISSED"}, ${((performance.now() - startMs) / 1000).toFixed(1)} s`);
  const folder = new URL("results/", here);
  mkdirSync(folder, { recursive: true });
  writeFileSync(new URL(`${bench.name}.json`, folder), `${JSON.stringify(result, null, 2)}\n`);
  return result;
}

function describeTarget(target: Target | undefined): string {
  return [
    target?.min === undefined ? "" : `>= ${readable(target.min)}`,
    target?.max === undefined ? "" : `<= ${readable(target.max)}`,
  ]
    .filter(Boolean)
    .join(", ");
}

function verdict(value: number, target: Target | undefined): string {
  if (target === undefined) return "";
  return keeps(value, target) ? "ok" : "MISSED";
}

function readable(value: number): string {
  return Number.isInteger(value) ? value.toLocaleString("en") : String(Number(value.toPrecision(4)));
}

/** Columns in the order of the first row; numbers to the right. */
function format(rows: Parameters<Report["table"]>[0]): string {
  const columns = Object.keys(rows[0] ?? {});
  const cell = (value: string | number | undefined) =>
    typeof value === "number" ? readable(value) : (value ?? "");
  const widths = columns.map((column) =>
    Math.max(column.length, ...rows.map((row) => cell(row[column]).length)),
  );
  const isNumeric = columns.map((column) => rows.every((row) => /^[\d.,-]+$/.test(cell(row[column]))));
  const render = (cells: readonly string[]) =>
    cells
      .map((text, index) => (isNumeric[index] ? text.padStart(widths[index]!) : text.padEnd(widths[index]!)))
      .join("  ")
      .trimEnd();
  return [columns, ...rows.map((row) => columns.map((column) => cell(row[column])))]
    .map((cells) => `  ${render(cells)}`)
    .join("\n");
}
