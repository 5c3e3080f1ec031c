/**
 * How vitest finds and runs the tests. Unit tests share a worker (isolate: false): a test keeps no global
 * state, so a fresh module graph per file would only cost time. Workers are processes, so that tests may use
 * node:sqlite and start worker threads of their own. What Node makes of the sources in those threads is kept, and tests write to
 * memory where they can: both were waited for over and over.
 *
 * The steps of `npm test` pick projects from here by name (scripts/steps.mjs).
 */
import { fileURLToPath } from "node:url";
import { configDefaults, defineConfig } from "vitest/config";
import { LongestFirst } from "./test/longest-first.ts";
import { scratchFolder } from "./test/scratch.ts";

const fuzz = ["packages/*/src/**/*fuzz*.test.{ts,tsx}", "test/fuzz/**/*.test.ts"];
const tidy = ["test/tidy.test.ts", "test/tidy/**/*.test.ts"];
const faults = ["test/faults/**/*.test.ts"];
const endToEnd = ["test/e2e/**/*.test.ts"];

/**
 * In continuous integration, tests that wait for processes and browsers are tried twice: the machine may do other
 * things as well. `npm test` names those that needed it. What is random has no second try.
 */
const retry = process.env["CI"] ? 1 : 0;

/** A busy machine takes its time; what is waited for still has to come. */
const expectInTime = { poll: { timeout: 15_000 } };

process.env["NODE_COMPILE_CACHE"] ??= fileURLToPath(
  new URL("node_modules/.cache/blockyard", import.meta.url),
);
const scratch = scratchFolder();
const env = scratch === undefined ? {} : { TMPDIR: scratch };

export default defineConfig({
  test: {
    pool: "forks",
    isolate: false,
    maxWorkers: 2,
    sequence: { sequencer: LongestFirst },
    execArgv: ["--disable-warning=ExperimentalWarning"],
    projects: [
      {
        extends: true,
        test: {
          name: "unit",
          include: ["packages/*/src/**/*.test.{ts,tsx}", "test/**/*.test.ts", "bench/**/*.test.ts"],
          exclude: [...configDefaults.exclude, ...fuzz, ...tidy, ...faults, ...endToEnd],
          testTimeout: 20_000,
          hookTimeout: 30_000,
          retry,
          env,
          expect: expectInTime,
        },
      },
      {
        extends: true,
        test: { name: "fuzz", include: fuzz, testTimeout: 120_000, env },
      },
      {
        extends: true,
        test: { name: "faults", include: faults, testTimeout: 180_000 },
      },
      {
        extends: true,
        test: {
          name: "e2e",
          include: endToEnd,
          globalSetup: "test/e2e/setup.ts",
          testTimeout: 120_000,
          hookTimeout: 60_000,
          retry,
          env,
          expect: expectInTime,
        },
      },
      {
        extends: true,
        test: { name: "tidy", include: tidy, testTimeout: 60_000 },
      },
    ],
  },
});
