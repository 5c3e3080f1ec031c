/**
 * The steps of `npm test`, in order. A step is one line here: add one, and `npm test` runs, times and counts it.
 *
 * `commands` are files of this repository with their arguments, run by the pinned Node; the step passes if all of
 * them do. A step with `counts: "tests"` runs vitest once and counts its tests; any other step counts as one.
 * `limitMinutes` ends a command that hangs. Steps of one `round` run beside each other, two commands at a time; a round begins
 * when the one before has ended.
 *
 * @typedef {object} Step
 * @property {string} name
 * @property {string} what
 * @property {"step" | "tests"} counts
 * @property {number} limitMinutes
 * @property {number} round
 * @property {string[][]} commands
 */

import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { root } from "./setup.mjs";

const biome = "node_modules/@biomejs/biome/bin/biome";
const tsc = "node_modules/typescript/bin/tsc";
const vitest = "node_modules/vitest/vitest.mjs";

/**
 * One program per runtime: what the kernel may see is not what the server may see. The longest first. Each has one thread: with
 * several, the compiler resolves the same types once in each, which took twice the processor time.
 */
const programs = [
  "tsconfig.json",
  "packages/web/tsconfig.json",
  "packages/server/tsconfig.json",
  "packages/providers/tsconfig.json",
  "packages/kernel/tsconfig.json",
  "packages/client/tsconfig.json",
].filter((program) => program === "tsconfig.json" || existsSync(join(root, dirname(program), "src")));
if (existsSync(join(root, "bench", "node_modules", ".blockyard-lock"))) programs.push("bench/tsconfig.json");

/** @type {readonly Step[]} */
export const steps = [
  {
    name: "format",
    what: "format and lint",
    counts: "step",
    round: 1,
    limitMinutes: 2,
    commands: [[biome, "ci", "--colors=off", "--error-on-warnings", "--max-diagnostics=50"]],
  },
  {
    name: "types",
    what: "types",
    counts: "step",
    round: 1,
    limitMinutes: 5,
    commands: programs.map((program) => [tsc, "--singleThreaded", "--pretty", "false", "-p", program]),
  },
  {
    name: "tidy",
    what: "shape of the code",
    counts: "tests",
    round: 1,
    limitMinutes: 3,
    commands: [[vitest, "run", "--project", "tidy"]],
  },
  {
    name: "page",
    what: "build of the page",
    counts: "step",
    round: 1,
    limitMinutes: 3,
    commands: [["scripts/build-page.mjs"]],
  },
  {
    name: "unit",
    what: "tests",
    counts: "tests",
    round: 2,
    limitMinutes: 25,
    commands: [[vitest, "run", "--project", "unit", "--project", "fuzz"]],
  },
  {
    name: "faults",
    what: "kills, power losses, full disks, flipped bytes",
    counts: "tests",
    round: 2,
    limitMinutes: 25,
    // They wait for the disk, and the others for the processor.
    commands: [[vitest, "run", "--project", "faults", "--maxWorkers=1"]],
  },
  {
    name: "e2e",
    what: "real agents, real page",
    counts: "tests",
    round: 3,
    limitMinutes: 25,
    commands: [[vitest, "run", "--project", "e2e"]],
  },
];
