/**
 * The mutation check: takes out, one at a time, the guards that everything rests on, and sees that tests fail. `npm run
 * mutation` runs all of them, `npm run mutation -- fsync CAS` some. Without the
 * change its tests must pass: otherwise a failure would show nothing. Entries with the same tests share that run.
 *
 * Ends with 1 if a guard can be taken out unnoticed.
 */
import { spawn } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ACCESS_MUTATIONS } from "./access-mutations.ts";
import { ASK_MUTATIONS } from "./ask-mutations.ts";
import { copySources } from "./copy.ts";
import { ESCAPE_MUTATIONS } from "./escape-mutations.ts";
import { MUTATIONS, type Mutation } from "./mutations.ts";
import { SAFETY_MUTATIONS } from "./safety-mutations.ts";
import { USE_MUTATIONS } from "./use-mutations.ts";

interface Result {
  readonly passed: number;
  readonly failed: readonly string[];
}

/** A busy machine must not look like a noticed change. */
const LIMIT_MS = 180_000;

const words = process.argv.slice(2);
const chosen = [
  ...MUTATIONS,
  ...ACCESS_MUTATIONS,
  ...SAFETY_MUTATIONS,
  ...ESCAPE_MUTATIONS,
  ...USE_MUTATIONS,
  ...ASK_MUTATIONS,
].filter(({ name }) => words.length === 0 || words.some((word) => name.startsWith(word)));
/** What the tests of an entry say of the unchanged sources, by what is run. */
const unchanged = new Map<string, Result>();
const copy = copySources();
try {
  process.exitCode = await main();
} finally {
  copy.remove();
}

async function main(): Promise<number> {
  let noticed = 0;
  for (const mutation of chosen) if (await isNoticed(mutation)) noticed++;
  console.log(`${noticed} of ${chosen.length} noticed`);
  return noticed === chosen.length ? 0 : 1;
}

async function isNoticed(mutation: Mutation): Promise<boolean> {
  const { name, also } = mutation;
  const changes = [mutation, ...(also ? [also] : [])].map(({ file, find, replace }) => {
    const path = join(copy.folder, file);
    return { file, find, replace, path, source: readFileSync(path, "utf8") };
  });
  const moved = changes.find(({ source, find }) => source.split(find).length !== 2);
  if (moved) {
    console.log(`FAILED     ${name}: ${moved.file} does not hold exactly once what is to be taken out`);
    return false;
  }
  const before = await runUnchanged(mutation);
  for (const { path, find, replace } of changes)
    writeFileSync(
      path,
      readFileSync(path, "utf8").replace(find, () => replace),
    );
  const after = await runTests(mutation, ["--bail=1"]); // one that fails is enough
  for (const { path, source } of changes) writeFileSync(path, source);
  const isClean = before.passed > 0 && before.failed.length === 0;
  const isSeen = isClean && after.failed.length > 0;
  const verdict = isClean ? (isSeen ? "noticed" : "UNNOTICED") : "FAILED";
  console.log(`${verdict.padEnd(10)} ${name}`);
  if (!isClean) console.log(`           ${before.passed} tests pass without the change; these do not:`);
  const told = isClean ? after.failed : before.failed;
  for (const title of told.slice(0, 3)) console.log(`           ${title}`);
  if (told.length > 3) console.log(`           and ${told.length - 3} more`);
  return isSeen;
}

async function runUnchanged(mutation: Mutation): Promise<Result> {
  const key = JSON.stringify([mutation.tests, mutation.projects, mutation.only]);
  const known = unchanged.get(key);
  if (known) return known;
  const result = await runTests(mutation);
  if (result.failed.length === 0) unchanged.set(key, result);
  return result;
}

async function runTests({ tests, projects, only }: Mutation, more: readonly string[] = []): Promise<Result> {
  const report = join(copy.folder, "report.json");
  rmSync(report, { force: true });
  const args = [
    "--disable-warning=ExperimentalWarning",
    join("node_modules", "vitest", "vitest.mjs"),
    "run",
    ...projects.flatMap((project) => ["--project", project]),
    ...(only === undefined ? [] : ["--testNamePattern", only]),
    `--testTimeout=${LIMIT_MS}`,
    "--reporter=json",
    `--outputFile=${report}`,
    ...more,
    ...tests,
  ];
  await new Promise((resolve) => {
    spawn(process.execPath, args, { cwd: copy.folder, stdio: "ignore" }).on("close", resolve);
  });
  // Nothing counts but tests that ran and failed: a change that does not even load shows nothing.
  if (!existsSync(report)) return { passed: 0, failed: [] };
  const { testResults } = JSON.parse(readFileSync(report, "utf8")) as {
    testResults: { assertionResults: { status: string; fullName: string }[] }[];
  };
  const all = testResults.flatMap(({ assertionResults }) => assertionResults);
  const titles = all.filter(({ status }) => status === "failed").map(({ fullName }) => fullName);
  return { passed: all.filter(({ status }) => status === "passed").length, failed: titles };
}
