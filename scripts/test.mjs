/**
 * `npm test`: every check, one line per step, all of them even if one fails.
 *
 *   npm test                              everything
 *   npm test -- --only types,tidy         some steps
 *   npm test -- --only unit text/merge    one step, only test files whose path contains the words
 *
 * The last line is always `N passed, N failed`, alone on its line: tests are counted one by one, any other step
 * as one. A step's own output is shown only if the step fails. Steps of one round run beside each other.
 */
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { nodeFlags, root, say, seconds, setup } from "./setup.mjs";
import { steps } from "./steps.mjs";

/** @typedef {{ passed: number, failed: number, skipped: number, output: string, reasons?: string[], again?: string[] }} Outcome */

const { chosen, words } = readArguments(process.argv.slice(2));
const node = await setup();
const reports = mkdtempSync(join(tmpdir(), "blockyard-test-"));
const total = { passed: 0, failed: 0 };
/** @type {Set<import("node:child_process").ChildProcess>} */
const running = new Set();
for (const signal of ["SIGINT", "SIGTERM"])
  process.once(signal, () => {
    for (const child of running) killTree(child);
    process.exit(130);
  });
const inTurn = limiter(2);
/** @type {Map<number, Map<string, ReturnType<typeof timed>>>} */
const rounds = new Map();
for (const step of chosen) {
  const { outcome, elapsed } = await inRound(step);
  total.passed += outcome.passed;
  total.failed += outcome.failed;
  if (outcome.failed > 0) console.log(outcome.output.trimEnd());
  console.log(line(step, outcome, elapsed));
  for (const reason of outcome.reasons ?? []) console.log(`         not run: ${reason}`);
  for (const title of outcome.again ?? []) console.log(`         passed only at the second try: ${title}`);
}
rmSync(reports, { recursive: true, force: true });
console.log(`${total.passed} passed, ${total.failed} failed`);
process.exitCode = total.failed > 0 ? 1 : 0;

/**
 * The first step of a round starts all of them.
 * @param {import("./steps.mjs").Step} step
 */
function inRound({ name, round }) {
  const started =
    rounds.get(round) ??
    new Map(chosen.filter((each) => each.round === round).map((each) => [each.name, timed(each)]));
  rounds.set(round, started);
  const found = started.get(name);
  if (!found) throw new Error(`${name} is not of round ${round}`);
  return found;
}

/** @param {string[]} args */
function readArguments(args) {
  const at = args.indexOf("--only");
  if (at < 0 && args.length > 0) usage();
  const names = at < 0 ? steps.map((step) => step.name) : (args[at + 1] ?? "").split(",");
  if (names.some((name) => !steps.some((step) => step.name === name))) usage();
  return {
    chosen: steps.filter((step) => names.includes(step.name)),
    words: at < 0 ? [] : args.filter((_, index) => index !== at && index !== at + 1),
  };
}

/** @returns {never} */
function usage() {
  say(`Usage: npm test -- [--only ${steps.map((step) => step.name).join(",")}] [words in test paths]`);
  process.exit(2);
}

/**
 * Runs what it is given when one of its places is free, in that order.
 * @param {number} places
 * @returns {<T>(work: () => Promise<T>) => Promise<T>}
 */
function limiter(places) {
  /** @type {(() => void)[]} */
  const waiting = [];
  let free = places;
  return async (work) => {
    if (free > 0) free--;
    else await new Promise((resume) => waiting.push(() => resume(undefined)));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else free++;
    }
  };
}

/** @param {import("./steps.mjs").Step} step */
async function timed(step) {
  const sinceMs = Date.now();
  const outcome = await runStep(step);
  return { outcome, elapsed: seconds(sinceMs) };
}

/**
 * @param {import("./steps.mjs").Step} step
 * @returns {Promise<Outcome>}
 */
async function runStep(step) {
  let output = "";
  let passed = true;
  const report = join(reports, `${step.name}.json`);
  const extra =
    step.counts === "tests"
      ? ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`, ...words]
      : [];
  const results = step.commands.map((command) =>
    inTurn(() => run([...command, ...extra], step.limitMinutes)),
  );
  for (const result of await Promise.all(results)) {
    output += result.output;
    passed &&= result.passed;
  }
  if (step.counts === "step") return { passed: passed ? 1 : 0, failed: passed ? 0 : 1, skipped: 0, output };
  return { ...countTests(report, passed), output };
}

/**
 * Counts from vitest's report. A run that failed without a failed test (a file that does not load, an error
 * outside of tests, no report, no tests at all) counts as one failure.
 * @param {string} report
 * @param {boolean} passed
 */
function countTests(report, passed) {
  if (!existsSync(report)) return { passed: 0, failed: 1, skipped: 0 };
  const { numPassedTests, numFailedTests, numPendingTests, numTodoTests, testResults } = JSON.parse(
    readFileSync(report, "utf8"),
  );
  const isSilentFailure = numFailedTests === 0 && (!passed || numPassedTests === 0);
  return {
    passed: numPassedTests,
    failed: isSilentFailure ? 1 : numFailedTests,
    skipped: numPendingTests + numTodoTests,
    reasons: reasonsOf(testResults),
    again: triedAgain(testResults),
  };
}

/**
 * Why tests were left out: a test that cannot run here says so in its title, as "(not run: …)".
 * @param {{ assertionResults: { status: string, fullName: string }[] }[]} files
 */
function reasonsOf(files) {
  const titles = files
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(({ status }) => status !== "passed" && status !== "failed")
    .map(({ fullName }) => /\(not run(?: here)?: (.*?)\)(?: |$)/.exec(fullName)?.[1]);
  return [...new Set(titles.filter((title) => title !== undefined))];
}

/**
 * Tests that passed, but have a failure to tell of.
 * @param {{ assertionResults: { status: string, fullName: string, failureMessages: string[] }[] }[]} files
 */
function triedAgain(files) {
  return files
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(({ status, failureMessages }) => status === "passed" && failureMessages.length > 0)
    .map(({ fullName, failureMessages }) => `${fullName} (${failureMessages[0]?.split("\n")[0]})`);
}

/**
 * @param {string[]} command
 * @param {number} limitMinutes
 * @returns {Promise<{ passed: boolean, output: string }>}
 */
function run(command, limitMinutes) {
  return new Promise((done) => {
    let output = "";
    const child = spawn(node, [...nodeFlags, ...command], {
      cwd: root,
      stdio: ["ignore", "pipe", "pipe"],
      detached: process.platform !== "win32",
      env: { ...process.env, ...(process.stdout.isTTY ? { FORCE_COLOR: "1" } : { NO_COLOR: "1" }) },
    });
    running.add(child);
    const limit = setTimeout(() => {
      output += `\nStopped after ${limitMinutes} minutes: ${command.join(" ")}\n`;
      killTree(child);
    }, limitMinutes * 60_000);
    child.stdout.on("data", (chunk) => {
      output += chunk;
    });
    child.stderr.on("data", (chunk) => {
      output += chunk;
    });
    child.on("error", (error) => {
      output += error.message;
    });
    child.on("close", (code) => {
      clearTimeout(limit);
      running.delete(child);
      done({ passed: code === 0, output });
    });
  });
}

/**
 * A step is its own process group, so that nothing it started outlives it.
 * @param {import("node:child_process").ChildProcess} child
 */
function killTree(child) {
  if (child.pid === undefined) return;
  try {
    if (process.platform === "win32") child.kill("SIGKILL");
    else process.kill(-child.pid, "SIGKILL");
  } catch {
    // It has ended by itself in the meantime.
  }
}

/**
 * @param {import("./steps.mjs").Step} step
 * @param {Outcome} outcome
 * @param {string} elapsed
 */
function line(step, outcome, elapsed) {
  const counts = step.counts === "tests" ? `${outcome.passed} of ${outcome.passed + outcome.failed}` : "";
  const skipped = outcome.skipped > 0 ? `${outcome.skipped} skipped` : "";
  const verdict = outcome.failed > 0 ? "FAILED" : "ok";
  return [verdict.padEnd(7), step.what.padEnd(18), elapsed.padStart(7), counts, skipped].join("  ").trimEnd();
}
