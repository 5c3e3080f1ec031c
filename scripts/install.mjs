/**
 * Installs the packages of a folder of this repository. Plain JavaScript on built-ins, since nothing is installed when it
 * starts and the Node that starts it may be old. Speaks on stderr only.
 *
 * npm works in a stage beside node_modules; a finished stage takes the place of node_modules by a rename. So an install that
 * fails or is cut short leaves what was installed before as it was, and a server that runs meanwhile keeps its packages.
 *
 * There are three sets: what `npm start` needs, the same with a Node for systems whose own is too old, and everything.
 *
 * Invariant: node_modules/.blockyard-lock names the lockfile's hash and the set that were installed completely.
 */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { withLock } from "./install-lock.mjs";

/** Each has what the ones before it have. @typedef {"start" | "start+node" | "all"} PackageSet */
/** @type {readonly PackageSet[]} */
const SETS = ["start", "start+node", "all"];

/** Packages that are a Node. */
const NODE_PACKAGE = /^node-linux-/;
const STAGE = ".install-";
const ARGS = ["ci", "--include=optional", "--loglevel=error", "--prefer-offline"];

/**
 * Installs what is missing of a set; quick if nothing is. Throws an error that names the fix if it cannot.
 * @param {string} folder with a package.json and a lockfile
 * @param {PackageSet} set
 * @param {(text: string) => void} say
 */
export async function ensureInstalled(folder, set, say) {
  if (isInstalled(folder, set)) return;
  await withLock(folder, say, async () => {
    if (!isInstalled(folder, set)) await install(folder, set, say);
  });
}

/** @param {string} folder @param {PackageSet} set */
export function isInstalled(folder, set) {
  const marker = markerOf(join(folder, "node_modules"));
  if (!existsSync(marker)) return false;
  const [hash, installed = "all"] = readFileSync(marker, "utf8").trim().split(" ");
  const rank = SETS.indexOf(/** @type {PackageSet} */ (installed));
  return hash === lockfileHash(folder) && rank >= SETS.indexOf(set);
}

/** @param {number} sinceMs */
export function seconds(sinceMs) {
  const elapsed = (Date.now() - sinceMs) / 1000;
  return elapsed < 10 ? `${elapsed.toFixed(1)} s` : `${Math.round(elapsed)} s`;
}

/** @param {string} folder @param {PackageSet} set @param {(text: string) => void} say */
async function install(folder, set, say) {
  const sinceMs = Date.now();
  say(reasonOf(folder));
  const progress = setInterval(() => say(`  still installing, ${seconds(sinceMs)} so far`), 15_000);
  for (const left of readdirSync(folder)) if (left.startsWith(STAGE)) remove(join(folder, left));
  const stage = mkdtempSync(join(folder, STAGE));
  const stop = () => remove(stage);
  process.once("exit", stop);
  try {
    const hash = lockfileHash(folder);
    await fill(folder, stage, set);
    writeFileSync(markerOf(join(stage, "node_modules")), `${hash} ${set}\n`);
    if (!swap(folder, stage)) await installInPlace(folder, hash);
  } finally {
    clearInterval(progress);
    process.off("exit", stop);
    remove(stage);
  }
  say(`Installed in ${seconds(sinceMs)}.`);
}

/** @param {string} folder */
function reasonOf(folder) {
  const modules = join(folder, "node_modules");
  if (!existsSync(modules)) return "First run: installing packages.";
  const marker = markerOf(modules);
  const isSame =
    existsSync(marker) && readFileSync(marker, "utf8").trim().split(" ")[0] === lockfileHash(folder);
  return isSame
    ? "Installing the packages that this command also needs."
    : "The packages have changed: installing them again.";
}

/**
 * Lets npm install the set into the stage. The lockfile names no addresses, so npm would read the list of all versions of
 * every package to learn where each archive is. Registries keep archives in one place: npm is told that, and, should a
 * registry have them elsewhere, asked again without.
 * @param {string} folder @param {string} stage @param {PackageSet} set
 */
async function fill(folder, stage, set) {
  const args = [...ARGS, set === "all" ? "--include=dev" : "--omit=dev"];
  const { output: registry } = await runNpm(["config", "get", "registry"], folder);
  copyManifests(folder, stage, set, /^https?:\S+$/m.exec(registry)?.[0]);
  let result = await runNpm(args, stage);
  if (result.code !== 0 && /\bE40\d\b/.test(result.output)) {
    copyManifests(folder, stage, set, undefined);
    result = await runNpm(args, stage);
  }
  if (result.code !== 0) throw new Error(explainInstall(result.output, process.version));
}

/**
 * The package.json files, npm's settings and the lockfile, with the packages of the set and where to get them.
 * @param {string} folder @param {string} stage @param {PackageSet} set @param {string | undefined} registry
 */
function copyManifests(folder, stage, set, registry) {
  const manifest = readJson(join(folder, "package.json"));
  const lock = readJson(join(folder, "package-lock.json"));
  const copied = [
    ".npmrc",
    ...(manifest.workspaces ?? []).map((/** @type {string} */ each) => `${each}/package.json`),
  ];
  for (const path of copied.filter((each) => existsSync(join(folder, each)))) {
    mkdirSync(dirname(join(stage, path)), { recursive: true });
    copyFileSync(join(folder, path), join(stage, path));
  }
  if (set === "start") withoutNode(manifest, lock);
  if (registry !== undefined) withAddresses(lock, registry);
  writeFileSync(join(stage, "package.json"), JSON.stringify(manifest));
  writeFileSync(join(stage, "package-lock.json"), JSON.stringify(lock));
}

/** @typedef {{ version?: string, name?: string, link?: boolean, resolved?: string, optionalDependencies?: Record<string, string> }} LockEntry */

/**
 * @param {{ optionalDependencies?: Record<string, string> }} manifest
 * @param {{ packages: Record<string, LockEntry> }} lock
 */
function withoutNode(manifest, lock) {
  for (const { optionalDependencies = {} } of [manifest, lock.packages[""] ?? {}])
    for (const name of Object.keys(optionalDependencies).filter((each) => NODE_PACKAGE.test(each))) {
      delete optionalDependencies[name];
      delete lock.packages[`node_modules/${name}`];
    }
}

/** @param {{ packages: Record<string, LockEntry> }} lock @param {string} registry */
function withAddresses(lock, registry) {
  const base = registry.replace(/\/+$/, "");
  for (const [path, entry] of Object.entries(lock.packages)) {
    const at = path.lastIndexOf("node_modules/");
    if (at < 0 || entry.link || entry.resolved) continue;
    const name = entry.name ?? path.slice(at + "node_modules/".length);
    entry.resolved = `${base}/${name}/-/${name.split("/").pop()}-${entry.version}.tgz`;
  }
}

/**
 * Puts the stage's packages in place, with what programs keep in node_modules/.cache. Returns false, and changes
 * nothing, if node_modules cannot be renamed, as when it is a mount.
 * @param {string} folder @param {string} stage
 */
function swap(folder, stage) {
  const modules = join(folder, "node_modules");
  const old = join(stage, "old");
  if (existsSync(modules)) {
    try {
      renameSync(modules, old);
    } catch (error) {
      if (/EBUSY|EXDEV|EPERM/.test(String(error))) return false;
      throw error;
    }
  }
  renameSync(join(stage, "node_modules"), modules);
  const cache = join(old, ".cache");
  if (existsSync(cache)) renameSync(cache, join(modules, ".cache"));
  return true;
}

/** @param {string} folder @param {string} hash */
async function installInPlace(folder, hash) {
  const { code, output } = await runNpm([...ARGS, "--include=dev"], folder);
  if (code !== 0) throw new Error(explainInstall(output, process.version));
  writeFileSync(markerOf(join(folder, "node_modules")), `${hash} all\n`);
}

/**
 * npm is started by the path that it told us, else by name. It ends with us.
 * @param {string[]} args
 * @param {string} cwd
 * @returns {Promise<{ code: number, output: string }>}
 */
function runNpm(args, cwd) {
  const npmPath = process.env.npm_execpath ?? "";
  const [command, first] = /npm-cli\.c?js$/.test(npmPath) ? [process.execPath, [npmPath]] : ["npm", []];
  return new Promise((done) => {
    let output = "";
    const child = spawn(command, [...first, ...args], { cwd, stdio: ["ignore", "pipe", "pipe"] });
    const stop = () => child.kill("SIGKILL");
    process.prependOnceListener("exit", stop); // before the stage is removed
    child.stdout.on("data", (chunk) => {
      output += chunk;
    });
    child.stderr.on("data", (chunk) => {
      output += chunk;
    });
    child.on("error", (error) => done({ code: 1, output: `npm-missing ${error.message}` }));
    child.on("close", (code) => {
      process.off("exit", stop);
      done({ code: code ?? 1, output });
    });
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

/** @param {string} folder */
function lockfileHash(folder) {
  return createHash("sha256")
    .update(readFileSync(join(folder, "package-lock.json")))
    .digest("hex");
}

/** @param {string} modules */
function markerOf(modules) {
  return join(modules, ".blockyard-lock");
}

/** @param {string} path */
function readJson(path) {
  return JSON.parse(readFileSync(path, "utf8"));
}

/** @param {string} path */
function remove(path) {
  rmSync(path, { recursive: true, force: true, maxRetries: 3 });
}
