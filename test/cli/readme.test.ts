/** The README's lines run as they stand: what a newcomer types works. Nothing is installed beside the test's own folder. */
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, it } from "vitest";
import { fixtures, jsonLines, MAIN, newPlace, placeSessions, removePlace, run } from "./command.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const readme = readFileSync(join(root, "README.md"), "utf8");
const folder = mkdtempSync(join(tmpdir(), "blockyard-readme-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it("[U16] the package is made and installed as the README says: npm takes the line for a file", () => {
  const lines = /## Install it as a command\n\n```\n([\s\S]*?)```/.exec(readme)?.[1]?.split("\n") ?? [];
  const [pack = "", install = ""] = lines.map((line) => line.replace(/\s+#.*$/, ""));
  expect(pack).toBe("npm run -s pack");
  expect(install).toBe("npm install -g ./dist/blockyard-*.tgz");
  mkdirSync(join(folder, "dist"));
  execFileSync(process.execPath, ["scripts/pack.mjs", join(folder, "dist")], { cwd: root, stdio: "ignore" });
  const env = {
    ...{ PATH: process.env["PATH"] ?? "", HOME: folder },
    ...{ npm_config_prefix: join(folder, "global"), npm_config_offline: "true", npm_config_audit: "false" },
    ...{ npm_config_cache: npmCache(), npm_config_update_notifier: "false" },
  };
  const { status, stderr } = spawnSync("bash", ["-c", install], { cwd: folder, env, encoding: "utf8" });
  // Offline its dependencies come from npm's cache, where they may not be; the file itself must have been read.
  expect(stderr).not.toMatch(/git|github|ENOENT/i);
  if (status !== 0) return expect(stderr).toMatch(/ENOTCACHED/);
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };
  const said = execFileSync(join(folder, "global/bin/blockyard"), ["--version"], { env }).toString();
  expect(said.trim()).toBe(version);
}, 120_000);

function npmCache(): string {
  return execFileSync("npm", ["config", "get", "cache"]).toString().trim();
}

it("[U5] the commands of the first five minutes run as they are written", async () => {
  const place = newPlace();
  placeSessions(place, ["subagent"], ["text"]);
  const bin = join(place.folder, "bin");
  mkdirSync(bin);
  const program = (name: string, text: string) => {
    writeFileSync(join(bin, name), `#!/bin/sh\n${text}\n`);
    chmodSync(join(bin, name), 0o755);
  };
  program("blockyard", `exec "${process.execPath}" "${MAIN}" "$@"`);
  // The agent: as a stream where one is asked for; otherwise it notes what it was told.
  const added = join(place.folder, "added");
  program(
    "claude",
    `case "$1" in mcp) echo "$@" > ${added};; *) cat "${join(fixtures, "claude/bash.jsonl")}";; esac`,
  );
  const section = /## The first five minutes\n([\s\S]*?)\n## /.exec(readme)?.[1] ?? "";
  const lines = [...section.matchAll(/`([^`]*blockyard [^`]*)`/g)]
    .map(([, code = ""]) => code.replace(/\s+/g, " "))
    .filter((code) => !/^blockyard demo|^npm /.test(code)); // the demo has a test of its own
  expect(lines.length).toBeGreaterThan(7);
  const env = { ...place.env, PATH: `${bin}:${place.env["PATH"]}` };
  const latest = async () => {
    const [first] = jsonLines((await run(place, ["ls", "--json"])).stdout || "{}");
    return String(first?.["conversation"]);
  };
  for (const line of lines) {
    const command = line.includes("<id>") ? line.replace("<id>", await latest()) : line;
    const { status, stderr } = spawnSync("bash", ["-o", "pipefail", "-c", command], {
      cwd: join(place.folder, "work"),
      env: { ...env, BLOCKYARD_CLAUDE: join(bin, "claude") },
      encoding: "utf8",
      input: "",
    });
    // Nothing may be found, and something may be missing here; but every line is understood.
    const allowed = /^blockyard (search|doctor)/.test(command) ? [0, 1, 3] : [0];
    expect([command, allowed.includes(status ?? -1), stderr]).toEqual([command, true, stderr]);
    expect(stderr).not.toMatch(/\n\s+at |Unknown option|no command/);
  }
  expect(existsSync(added)).toBe(true);
  expect(readFileSync(added, "utf8")).toMatch(
    /^mcp add blockyard --env BLOCKYARD_TOKEN=[\w-]{43} -- blockyard mcp\n$/,
  );
  removePlace(place);
}, 120_000);
