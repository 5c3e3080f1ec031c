/**
 * Makes a fresh clone runnable: installs the packages if that is needed, and finds a Node that runs our
 * TypeScript sources unbuilt. Plain JavaScript on built-ins, since nothing is installed when it starts and the
 * Node that starts it may be old. Speaks on stderr only: stdout belongs to the program that is started.
 *
 * Invariant: node_modules/.blockyard-lock holds the hash of the lockfile that was installed completely. It is
 * written last, so an install that was cut short is done again.
 */
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("..", import.meta.url));

const nodeMajorMin = 24;
const modules = join(root, "node_modules");
const marker = join(modules, ".blockyard-lock");

/** Flags that every program of ours runs with. */
export const nodeFlags = ["--disable-warning=ExperimentalWarning"];

/** The server's: its short-lived objects get 8 MiB instead of up to 64, three times; it was no slower, and 110 MiB smaller. */
export const serverFlags = [...nodeFlags, "--max-semi-space-size=8"];

/** Installs if needed and answers with the path of a Node >= 24. Ends the process, naming the fix, if it cannot. */
export async function setup() {
  if (!isInstalled()) await withInstallLock(install);
  return findNode();
}

/**
 * Runs a file of this repository with that Node and ends with its exit code.
 * @param {string} file
 * @param {string[]} args
 */
export async function runProgram(file, args, flags = nodeFlags) {
  const node = await setup();
  const child = spawn(node, [...flags, resolve(root, file), ...args], { stdio: "inherit" });
  for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"])) {
    // A terminal sends Ctrl-C to the child too; forwarding it would count twice.
    process.on(signal, () => {
      if (signal !== "SIGINT" || !process.stdin.isTTY) child.kill(signal);
    });
  }
  child.on("error", (error) => stop(`Could not start ${node}: ${error.message}`));
  child.on("exit", (code, signal) => process.exit(code ?? 128 + (signal ? constants.signals[signal] : 0)));
}

/** @param {string} text */
export function say(text) {
  process.stderr.write(`${text}\n`);
}

/** @param {number} sinceMs */
export function seconds(sinceMs) {
  const elapsed = (Date.now() - sinceMs) / 1000;
  return elapsed < 10 ? `${elapsed.toFixed(1)} s` : `${Math.round(elapsed)} s`;
}

/**
 * @param {string} text
 * @returns {never}
 */
function stop(text) {
  say(text);
  process.exit(1);
}

function lockfileHash() {
  return createHash("sha256")
    .update(readFileSync(join(root, "package-lock.json")))
    .digest("hex");
}

function isInstalled() {
  return existsSync(marker) && readFileSync(marker, "utf8").trim() === lockfileHash();
}

async function install() {
  const hash = lockfileHash();
  const sinceMs = Date.now();
  say(
    existsSync(modules)
      ? "The packages have changed: installing them again."
      : "First run: installing packages.",
  );
  const progress = setInterval(() => say(`  still installing, ${seconds(sinceMs)} so far`), 15_000);
  const { code, output } = await runNpm(["ci", "--include=dev", "--include=optional", "--loglevel=error"]);
  clearInterval(progress);
  if (code !== 0) stop(explainInstall(output, process.version));
  writeFileSync(marker, `${hash}\n`);
  say(`Installed in ${seconds(sinceMs)}.`);
}

/**
 * npm is started by the path that it told us, else by name. Its output is kept: it is shown only if it fails.
 * @param {string[]} args
 * @returns {Promise<{ code: number, output: string }>}
 */
function runNpm(args) {
  const npmPath = process.env.npm_execpath ?? "";
  const [command, first] = /npm-cli\.c?js$/.test(npmPath) ? [process.execPath, [npmPath]] : ["npm", []];
  return new Promise((done) => {
    let output = "";
    const child = spawn(command, [...first, ...args], { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
    child.stdout.on("data", (chunk) => {
      output += chunk;
    });
    child.stderr.on("data", (chunk) => {
      output += chunk;
    });
    child.on("error", (error) => done({ code: 1, output: `npm-missing ${error.message}` }));
    child.on("close", (code) => done({ code: code ?? 1, output }));
  });
}

const installProblems = [
  {
    sign: /^npm-missing/,
    fix: "npm was not found. Install Node 24 from https://nodejs.org (npm comes with it), then run the command again.",
  },
  {
    sign: /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|network/,
    fix: "The package registry could not be reached. Check the network, or the proxy and registry that `npm config list` shows, then run the command again.",
  },
  { sign: /ENOSPC/, fix: "The disk is full. Free about 1 GB, then run the command again." },
  {
    sign: /EACCES|EPERM|EROFS/,
    fix: "npm may not write here. Make this folder and npm's cache (`npm config get cache`) writable, then run the command again.",
  },
  {
    sign: /EUSAGE|can only install packages when/,
    fix: "package.json and package-lock.json disagree. Run `npm install`, then run the command again.",
  },
  {
    sign: /EINTEGRITY/,
    fix: "A download was damaged. Run `npm cache clean --force`, then run the command again.",
  },
];

/**
 * What to tell about a failed install: the lines of npm that matter, then the fix. A known problem needs only the
 * line that names it; of an unknown one the end is shown.
 * @param {string} output
 * @param {string} version
 */
export function explainInstall(output, version) {
  const lines = output
    .trim()
    .split("\n")
    .filter((line) => !line.startsWith("npm-missing"));
  const known = installProblems.find(({ sign }) => sign.test(output));
  const shown = known ? lines.filter((line) => known.sign.test(line)).slice(0, 1) : lines.slice(-12);
  const fix = known?.fix ?? `Run \`npm ci\` to see all of it (this is Node ${version}).`;
  return `${shown.map((line) => `  ${line}\n`).join("")}The install failed. ${fix}`;
}

/**
 * npm ci empties node_modules first, so two at once would break each other: the second one waits. The lock is
 * outside node_modules for the same reason. A lock whose owner is gone is taken over.
 * @param {() => Promise<void>} work
 */
async function withInstallLock(work) {
  const name = createHash("sha256").update(root).digest("hex").slice(0, 16);
  const lock = join(tmpdir(), `blockyard-install-${name}`);
  let told = false;
  while (!takeLock(lock)) {
    if (!told) say("Another command is installing the packages: waiting for it.");
    told = true;
    await new Promise((done) => setTimeout(done, 500));
  }
  process.on("exit", () => rmSync(lock, { recursive: true, force: true }));
  for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM"]))
    process.once(signal, () => process.exit(130));
  if (!isInstalled()) await work();
  rmSync(lock, { recursive: true, force: true });
  process.removeAllListeners("SIGINT").removeAllListeners("SIGTERM").removeAllListeners("exit");
}

/** @param {string} lock */
function takeLock(lock) {
  const owner = join(lock, "pid");
  try {
    mkdirSync(lock);
    writeFileSync(owner, String(process.pid));
    return true;
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== "EEXIST") throw error;
  }
  if (isStale(lock, owner)) rmSync(lock, { recursive: true, force: true });
  return false;
}

/**
 * @param {string} lock
 * @param {string} owner
 */
function isStale(lock, owner) {
  try {
    process.kill(Number(readFileSync(owner, "utf8")) || -1, 0);
    return false;
  } catch (error) {
    const { code } = /** @type {NodeJS.ErrnoException} */ (error);
    if (code === "EPERM") return false;
    // Between mkdir and the pid file there is a moment without an owner.
    return code === "ESRCH" || (existsSync(lock) && Date.now() - statSync(lock).mtimeMs > 5_000);
  }
}

function findNode() {
  if (major(process.version) >= nodeMajorMin) return process.execPath;
  const packaged = join(modules, `node-${process.platform}-${process.arch}`, "bin", "node");
  if (existsSync(packaged)) {
    const answer = spawnSync(packaged, ["--version"], { encoding: "utf8" });
    if (answer.status === 0 && major(answer.stdout) >= nodeMajorMin) return packaged;
  }
  return stop(
    `Blockyard needs Node ${nodeMajorMin} or newer; this is Node ${process.version}, and there is no packaged one ` +
      `that runs on ${process.platform} ${process.arch}.\n` +
      `Install Node ${nodeMajorMin} from https://nodejs.org, then run the command again.`,
  );
}

/** @param {string} version such as v24.21.0 */
function major(version) {
  return Number(/^v?(\d+)/.exec(version)?.[1] ?? 0);
}
