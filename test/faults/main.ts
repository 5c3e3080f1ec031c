/**
 * `npm run faults`: every fault test at its full count. Takes a bit more than an hour on two cores.
 *
 *   npm run faults -- [names…] [--seed N] [--share 0.1] [--quiet]
 *
 * Names: kill, power, control, calls, full, answers, flips, backup, sweep, files, demo, cuts, frames, injection, slow, held. Prints the seed and a table,
 * and ends with exit code 1 if anything was lost.
 */
import { parseArgs } from "node:util";
import { cutViewers, holdOn, holdStreams, injectEverything, sendFrames } from "../access/long.ts";
import { playTogether } from "../files/together.ts";
import { compareAnswers } from "./answers.ts";
import { backUp, readOlder } from "./backups.ts";
import { killSavers, raceLinks, tryPaths } from "./files.ts";
import { flipAudit, flipBytes, flipLog } from "./flips.ts";
import { fillDisk } from "./full.ts";
import { killWriters } from "./kill.ts";
import { buildDisk, makeDirectory, type Outcome, type Run, removeDirectory } from "./lab.ts";
import { losePower } from "./power.ts";
import { killEverywhere } from "./sweep.ts";
import { failCalls } from "./syscalls.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seed: { type: "string" },
    share: { type: "string", default: "1" },
    quiet: { type: "boolean", default: false },
  },
});

const seed = values.seed === undefined ? Date.now() % 2 ** 31 : Number(values.seed);
const directory = makeDirectory();
const disk = buildDisk(directory);
if ("missing" in disk) console.log(`Power losses and failing calls cannot be tried: ${disk.missing}`);
const library = "path" in disk ? disk.path : undefined;

interface Test {
  readonly name: string;
  readonly rounds: number;
  /** Whether it needs the preloaded disk. */
  readonly disk: boolean;
  run(run: Run & { readonly disk: string }): Promise<Outcome>;
}

const tests: readonly Test[] = [
  { name: "kill", rounds: 200, disk: false, run: killWriters },
  { name: "power", rounds: 200, disk: true, run: (run) => losePower({ ...run, durability: "full" }) },
  { name: "control", rounds: 20, disk: true, run: (run) => losePower({ ...run, durability: "normal" }) },
  { name: "calls", rounds: 100, disk: true, run: failCalls },
  { name: "full", rounds: 5, disk: true, run: fillDisk },
  { name: "answers", rounds: 60, disk: true, run: compareAnswers },
  { name: "flips", rounds: 500, disk: false, run: (run) => flipBytes({ ...run, sums: true }) },
  { name: "flips", rounds: 500, disk: false, run: (run) => flipBytes({ ...run, sums: false }) },
  { name: "flips", rounds: 500, disk: false, run: (run) => flipAudit({ ...run, sums: true }) },
  { name: "flips", rounds: 500, disk: false, run: (run) => flipAudit({ ...run, sums: false }) },
  { name: "flips", rounds: 200, disk: false, run: flipLog },
  { name: "backup", rounds: 10, disk: false, run: backUp },
  { name: "backup", rounds: 1, disk: false, run: readOlder },
  { name: "sweep", rounds: 5_000, disk: true, run: killEverywhere },
  { name: "files", rounds: 200, disk: false, run: killSavers },
  { name: "files", rounds: 1_000, disk: false, run: tryPaths },
  { name: "files", rounds: 1_000, disk: false, run: raceLinks },
  { name: "demo", rounds: 60, disk: false, run: playTogether },
  { name: "cuts", rounds: 1_000, disk: false, run: cutViewers },
  { name: "frames", rounds: 1_000, disk: false, run: sendFrames },
  { name: "injection", rounds: 100, disk: false, run: injectEverything },
  { name: "slow", rounds: 3, disk: false, run: holdOn },
  { name: "held", rounds: 10, disk: false, run: holdStreams },
];

console.log(`seed ${seed}`);
const outcomes: Outcome[] = [];
let untried = 0;
for (const test of tests) {
  if (positionals.length > 0 && !positionals.includes(test.name)) continue;
  if (test.disk && library === undefined) {
    untried++;
    continue;
  }
  const rounds = Math.max(1, Math.round(test.rounds * Number(values.share)));
  const tell = values.quiet ? {} : { tell: (text: string) => console.log(`  ${text}`) };
  const startMs = performance.now();
  const outcome = await test.run({ rounds, seed, disk: library ?? "", ...tell });
  console.log(`${outcome.name}: ${((performance.now() - startMs) / 1_000).toFixed(0)} s`);
  outcomes.push(outcome);
}
removeDirectory(directory);

console.table(
  outcomes.map(({ name, rounds, failures, summary }) => ({
    name,
    rounds,
    failures: failures.length,
    summary,
  })),
);
for (const { name, failures } of outcomes) {
  for (const failure of failures.slice(0, 20)) console.log(`FAILED ${name}: ${failure}`);
}
const failed = outcomes.some(({ failures }) => failures.length > 0);
if (untried > 0) console.log(`${untried} tests were not run`);
console.log(failed ? `FAILED with seed ${seed}` : `passed with seed ${seed}`);
process.exitCode = failed || untried > 0 ? 1 : 0;
