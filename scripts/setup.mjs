/**
 * Makes a fresh clone runnable: installs the packages if that is needed, and finds a Node that runs our
 * TypeScript sources unbuilt. Plain JavaScript on built-ins, since nothing is installed when it starts and the
 * Node that starts it may be old. Speaks on stderr only: stdout belongs to the program that is started.
 */
import { spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { constants } from "node:os";
import { basename, delimiter, dirname, join, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { ensureInstalled } from "./install.mjs";

export { seconds } from "./install.mjs";

export const root = fileURLToPath(new URL("..", import.meta.url));

const nodeMajorMin = 24;

/** Flags that every program of ours runs with. */
export const nodeFlags = ["--disable-warning=ExperimentalWarning"];

/** The server's: its short-lived objects get 8 MiB instead of up to 64, three times; it was no slower, and 110 MiB smaller. */
export const serverFlags = [...nodeFlags, "--max-semi-space-size=8"];

/** What a command needs: `start` is enough to build the page, run the server and pack it; `all` has the tools too. @typedef {"start" | "all"} Needs */

/**
 * Installs if needed and answers with the path of a Node >= 24. Ends the process, naming the fix, if it cannot.
 * @param {Needs} needs
 */
export async function setup(needs = "all") {
  try {
    await ensureInstalled(root, needs === "all" ? "all" : startSet(root, process), say);
  } catch (error) {
    stop(/** @type {Error} */ (error).message);
  }
  return findNode();
}

/**
 * Runs a file of this repository with that Node and ends with its exit code.
 * @param {string} file
 * @param {string[]} args
 * @param {{ flags?: string[], needs?: Needs, env?: NodeJS.ProcessEnv }} options
 */
export async function runProgram(file, args, { flags = nodeFlags, needs = "all", env = process.env } = {}) {
  const node = await setup(needs);
  const child = spawn(node, [...flags, resolve(root, file), ...args], { stdio: "inherit", env });
  for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"])) {
    // A terminal sends Ctrl-C to the child too; forwarding it would count twice.
    process.on(signal, () => {
      if (signal !== "SIGINT" || !process.stdin.isTTY) child.kill(signal);
    });
  }
  child.on("error", (error) => stop(`Could not start ${node}: ${error.message}`));
  child.on("exit", (code, signal) => process.exit(code ?? 128 + (signal ? constants.signals[signal] : 0)));
}

/**
 * The environment as it was before npm: it puts the programs of our packages in front of the user's own, and agents would work with
 * our Node and our compilers.
 * @param {NodeJS.ProcessEnv} env @param {string} folder
 * @returns {NodeJS.ProcessEnv}
 */
export function withoutNpm(env, folder) {
  const name = Object.keys(env).find((key) => key.toUpperCase() === "PATH");
  if (name === undefined || env["npm_lifecycle_event"] === undefined) return env;
  const folders = (env[name] ?? "").split(delimiter);
  const first = folders.findIndex((each) => {
    const place = dirname(dirname(each));
    const isOurs = each === join(place, "node_modules", ".bin") && !relative(place, folder).startsWith("..");
    return !isOurs && basename(each) !== "node-gyp-bin";
  });
  return { ...env, [name]: folders.slice(first === -1 ? folders.length : first).join(delimiter) };
}

/** @param {string} text */
export function say(text) {
  process.stderr.write(`${text}\n`);
}

/**
 * @param {string} text
 * @returns {never}
 */
function stop(text) {
  say(text);
  process.exit(1);
}

/**
 * What `npm start` needs. npm puts node_modules/.bin in front of the system's programs: where a packaged Node runs this already,
 * nothing is known of the system's own, and an install without it would remove the Node that it runs on.
 * @param {string} folder @param {{ version: string, execPath: string }} node
 * @returns {import("./install.mjs").PackageSet}
 */
export function startSet(folder, { version, execPath }) {
  const isOurs = execPath.startsWith(join(folder, "node_modules") + sep);
  return isOurs || major(version) < nodeMajorMin ? "start+node" : "start";
}

function findNode() {
  if (major(process.version) >= nodeMajorMin) return process.execPath;
  const packaged = join(root, "node_modules", `node-${process.platform}-${process.arch}`, "bin", "node");
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
