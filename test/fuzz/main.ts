/**
 * The long fuzz runner: `npm run fuzz -- [names…] --seed N --minutes M`, or --count K for a number of seeds.
 * Without a seed it takes one from the clock and prints it. Harnesses take turns, seed by seed, so each has the
 * same number of runs. Prints the command that repeats a failing seed.
 */
import { readdirSync } from "node:fs";
import { parseArgs } from "node:util";
import { Batch, type Fuzz } from "./fuzz.ts";

const progressMs = 10_000;
/** A broken harness fails on nearly every seed: more of the same helps nobody. */
const failuresMax = 5;

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seed: { type: "string" },
    minutes: { type: "string" },
    count: { type: "string" },
    help: { type: "boolean", short: "h" },
  },
});

if (options.help) {
  console.log("Usage: npm run fuzz -- [names…] [--seed N] [--minutes M | --count K]");
} else {
  process.exitCode = await main();
}

async function main(): Promise<number> {
  const harnesses = await load(positionals);
  if (harnesses === undefined) return 2;
  const from = number("seed") ?? Date.now() % 1_000_000_000;
  const count = number("count") ?? Number.POSITIVE_INFINITY;
  const minutes = number("minutes") ?? (count === Number.POSITIVE_INFINITY ? 1 : Number.POSITIVE_INFINITY);
  console.log(`Fuzzing ${harnesses.map(({ name }) => name).join(", ")} from seed ${from}`);
  const batches = harnesses.map((fuzz) => new Batch(fuzz));
  await runAll(batches, from, count, performance.now() + minutes * 60_000);
  // Repeating one seed is for looking at it; it cannot show everything that happens sometimes.
  return conclude(batches, count > 1) ? 0 : 1;
}

function number(name: "seed" | "minutes" | "count"): number | undefined {
  const text = options[name];
  if (text === undefined) return undefined;
  const value = Number(text);
  if (!(value >= 0)) throw new RangeError(`--${name} ${text} is not a number`);
  return value;
}

async function load(wanted: readonly string[]): Promise<Fuzz[] | undefined> {
  const folder = new URL("./", import.meta.url);
  const files = readdirSync(folder).filter((file) => file.endsWith(".fuzz.ts"));
  const all: Fuzz[] = [];
  for (const file of files.toSorted()) {
    const module: { fuzz?: Fuzz } = await import(new URL(file, folder).href);
    if (module.fuzz === undefined) throw new Error(`test/fuzz/${file} must export \`fuzz\``);
    all.push(module.fuzz);
  }
  const chosen = wanted.length === 0 ? all : all.filter(({ name }) => wanted.includes(name));
  if (chosen.length > 0 && chosen.length >= wanted.length) return chosen;
  console.error(
    `There is no such harness. There are: ${all.map(({ name }) => name).join(", ") || "none yet"}`,
  );
  return undefined;
}

async function runAll(
  batches: readonly Batch[],
  from: number,
  count: number,
  untilMs: number,
): Promise<void> {
  let toldMs = performance.now();
  for (let offset = 0; offset < count; offset++) {
    const active = batches.filter((batch) => batch.failures.length < failuresMax);
    if (active.length === 0) return;
    for (const batch of active) {
      await runSeed(batch, from + offset);
      if (performance.now() - toldMs >= progressMs) {
        toldMs = performance.now();
        console.log(`  ${batches.map(progress).join("; ")}`);
      }
      if (performance.now() >= untilMs) return;
    }
  }
}

async function runSeed(batch: Batch, seed: number): Promise<void> {
  const outcome = await batch.run(seed);
  if (outcome.ok) return;
  const { name } = batch.fuzz;
  console.log(`FAILED  ${name} at seed ${seed}: ${outcome.detail ?? "no detail"}`);
  console.log(`        npm run fuzz -- ${name} --seed ${seed} --count 1`);
}

function progress(batch: Batch): string {
  const failed = batch.failures.length > 0 ? `, ${batch.failures.length} failed` : "";
  return `${batch.fuzz.name} ${batch.seeds} seeds${failed}`;
}

function conclude(batches: readonly Batch[], checkSometimes: boolean): boolean {
  let good = true;
  for (const batch of batches) {
    const report = batch.report();
    const never = checkSometimes ? report.neverHit : [];
    const passed = report.failures.length === 0 && never.length === 0 && report.seeds > 0;
    const hits = Object.entries(report.hits).map(([name, times]) => `${name} ${times}`);
    console.log(
      `${passed ? "ok     " : "FAILED "} ${progress(batch)}${hits.length > 0 ? ` (${hits.join(", ")})` : ""}`,
    );
    for (const name of never) console.log(`        never happened: ${name}`);
    good &&= passed;
  }
  return good;
}
