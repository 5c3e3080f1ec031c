/**
 * `npm run fresh`: what a newcomer does, from nothing, timed. A clone of what is committed, the README's two commands in
 * it, then the package: packed, installed into an empty folder, started. Outside `npm test`, because it installs.
 *
 *   npm run fresh                          all of it, a few minutes
 *   npm run fresh -- --quick               without the clone's own `npm test`
 *   npm run fresh -- --against v0.1.0 [3]  only the first start, of that commit and of this one in turn, so many times each
 *
 * Plain JavaScript on built-ins. Ends with exit code 1 at the first step that fails, and shows what it printed.
 */
import { spawn, spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root, say, seconds } from "./setup.mjs";

const isQuick = process.argv.includes("--quick");
const against = process.argv.indexOf("--against");
const folder = mkdtempSync(join(tmpdir(), "blockyard-fresh-"));
const clone = join(folder, "clone");
const home = join(folder, "home");
mkdirSync(home);

/**
 * Nothing of this machine's user, except where packages come from.
 * @type {NodeJS.ProcessEnv}
 */
const env = {
  ...process.env,
  HOME: home,
  BLOCKYARD_HOME: join(home, "yard"),
  npm_config_userconfig: process.env["npm_config_userconfig"] ?? join(process.env["HOME"] ?? "", ".npmrc"),
  npm_config_cache: join(folder, "npm-cache"),
};
for (const name of Object.keys(env))
  if (/^npm_(lifecycle|package|command|execpath|node)/.test(name)) delete env[name];

try {
  if (against < 0) await everything();
  else await compareFirstStarts(process.argv[against + 1] ?? "HEAD", Number(process.argv[against + 2] ?? 3));
} finally {
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
}

async function everything() {
  run("git", ["clone", "--quiet", "--no-hardlinks", root, clone], folder);
  await step("npm start, from a clone to an open page", () =>
    opens("npm", ["start", "--", "--port", "0"], clone),
  );
  await step("npm start, the second time", () => opens("npm", ["start", "--", "--port", "0"], clone));
  if (!isQuick) await step("npm test", () => run("npm", ["test"], clone));
  const packed = join(folder, "packed");
  const empty = join(folder, "empty");
  for (const each of [packed, empty]) mkdirSync(each);
  writeFileSync(join(empty, "package.json"), "{}\n");
  await step("npm run pack", () => run("npm", ["run", "-s", "pack", "--", packed], clone));
  const [tarball = ""] = readdirSync(packed);
  await step("npm install of the package into an empty folder", () =>
    run("npm", ["install", join(packed, tarball)], empty),
  );
  const bin = join(clone, "node_modules", ".bin");
  await step("npx blockyard, from the package to an open page", () =>
    opens("npx", ["blockyard", "--port", "0"], empty, { PATH: `${bin}:${env["PATH"]}` }),
  );
  say("Everything a newcomer does works.");
}

/**
 * First starts of two commits, in turn, each from a clone of its own with an empty cache.
 * @param {string} before @param {number} rounds
 */
async function compareFirstStarts(before, rounds) {
  /** @type {Record<string, { seconds: number, cpuSeconds: number, packages: number, installedMb: number, fetchedMb: number }[]>} */
  const seen = { [before]: [], HEAD: [] };
  for (let round = 0; round < rounds; round++)
    for (const commit of round % 2 === 0 ? [before, "HEAD"] : ["HEAD", before]) {
      rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
      mkdirSync(home, { recursive: true });
      run("git", ["clone", "--quiet", "--no-hardlinks", root, clone], folder);
      const { stdout } = spawnSync("git", ["rev-parse", commit], { cwd: root, encoding: "utf8" });
      run("git", ["checkout", "--quiet", "--detach", stdout.trim()], clone);
      const sinceMs = Date.now();
      let opened = sinceMs;
      // The shell adds up the processor time of npm and of all that it starts.
      const line = "trap : INT; npm start -- --port 0; times";
      const output = await opens("sh", ["-c", line], clone, {}, () => {
        opened = Date.now();
      });
      const figures = {
        seconds: (opened - sinceMs) / 1000,
        cpuSeconds: lastTimes(output),
        packages: packagesIn(join(clone, "node_modules")),
        installedMb: sizeMb(join(clone, "node_modules")),
        fetchedMb: sizeMb(join(folder, "npm-cache")),
      };
      seen[commit]?.push(figures);
      console.log(`${commit}: ${JSON.stringify(figures)}`);
    }
  for (const figure of /** @type {const} */ ([
    "seconds",
    "cpuSeconds",
    "packages",
    "installedMb",
    "fetchedMb",
  ])) {
    const [old = 0, now = 0] = [before, "HEAD"].map((commit) =>
      middle((seen[commit] ?? []).map((each) => each[figure])),
    );
    console.log(`${figure.padEnd(12)} ${old} → ${now}, ${(now / old).toFixed(2)} times`);
  }
}

/** What `times` of a shell says of its children, as seconds. @param {string} output */
function lastTimes(output) {
  const [, ...all] = /(\d+)m([\d.]+)s (\d+)m([\d.]+)s\s*$/.exec(output) ?? [];
  const [userM = 0, user = 0, systemM = 0, system = 0] = all.map(Number);
  return Math.round(((userM + systemM) * 60 + user + system) * 10) / 10;
}

/** @param {string} modules */
function packagesIn(modules) {
  const lock = join(modules, ".package-lock.json");
  return existsSync(lock) ? Object.keys(JSON.parse(readFileSync(lock, "utf8")).packages).length : 0;
}

/** @param {string} path */
function sizeMb(path) {
  return Number.parseInt(spawnSync("du", ["-sm", path], { encoding: "utf8" }).stdout, 10);
}

/** @param {number[]} values */
function middle(values) {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

/**
 * @param {string} what
 * @param {() => unknown} work
 */
async function step(what, work) {
  const sinceMs = Date.now();
  await work();
  console.log(`${seconds(sinceMs).padStart(8)}  ${what}`);
}

/**
 * @param {string} command
 * @param {string[]} args
 * @param {string} cwd
 */
function run(command, args, cwd) {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd,
    env,
    encoding: "utf8",
    maxBuffer: 2 ** 28,
  });
  if (status !== 0) fail(`${command} ${args.join(" ")}`, `${stdout ?? ""}${stderr ?? ""}${error ?? ""}`);
}

/**
 * Starts a server, waits for its link, opens the page behind it, stops it.
 * @param {string} command
 * @param {string[]} args
 * @param {string} cwd
 * @param {Record<string, string>} more
 * @param {() => void} onOpen
 */
async function opens(command, args, cwd, more = {}, onOpen = () => undefined) {
  const child = spawn(command, args, { cwd, env: { ...env, ...more }, detached: true });
  let output = "";
  const link = await new Promise((resolve) => {
    const read = (/** @type {Buffer} */ chunk) => {
      output += chunk;
      const found = /Open\s+(http\S+)/.exec(output);
      if (found) resolve(found[1]);
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    child.on("close", () => resolve(undefined));
  });
  if (link === undefined) fail(`${command} ${args.join(" ")}`, output);
  const { origin } = new URL(link);
  const traded = await fetch(link, { redirect: "manual" });
  const cookie = (traded.headers.get("set-cookie") ?? "").split(";", 1)[0] ?? "";
  const page = await fetch(origin, { headers: { cookie } });
  const text = await page.text();
  onOpen();
  const ended = new Promise((resolve) => child.on("close", resolve));
  process.kill(-(child.pid ?? 0), "SIGINT");
  await ended;
  if (!text.includes("/assets/"))
    fail(`${command} ${args.join(" ")}`, `${output}\nThe page is not there:\n${text.slice(0, 500)}`);
  return output;
}

/**
 * @param {string} what
 * @param {string} output
 * @returns {never}
 */
function fail(what, output) {
  say(`${output.trim().split("\n").slice(-60).join("\n")}\n\nFAILED: ${what}`);
  rmSync(folder, { recursive: true, force: true });
  process.exit(1);
}
