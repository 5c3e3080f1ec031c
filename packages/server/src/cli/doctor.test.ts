/** What the doctor finds, and that it leaves everything as it was. */
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { serve } from "../app/serve.ts";
import { makeConfig } from "../config/config.ts";
import { checkDatabase } from "./database-check.ts";
import {
  checkHome,
  checkNode,
  checkPage,
  checkPrices,
  checkSandbox,
  checkSqlite,
  examine,
  versionOf,
} from "./doctor-checks.ts";
import type { Finding } from "./finding.ts";

const folder = mkdtempSync(join(tmpdir(), "blockyard-doctor-"));
const home = join(folder, "home");
const start = () => serve(makeConfig({ env: {}, home, root: folder, port: 0 }), () => undefined);
const named = (findings: readonly Finding[], check: string) =>
  findings.find((finding) => finding.check === check);

beforeAll(async () => {
  const running = await start();
  await running.kernel.createConversation("olive", "here");
  await running.stop();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("[AC54] the doctor", () => {
  it.each([
    [checkNode("24.21.0"), "ok"],
    [checkNode("20.20.2"), "fail"],
    [checkSqlite("3.53.4"), "ok"],
    [checkSqlite("3.51.3"), "ok"],
    [checkSqlite("3.51.2"), "fail"],
    [checkSqlite("3.9.0"), "fail"],
    [checkPage(join(folder, "nowhere")), "warn"],
    [checkDatabase(join(folder, "none.db"), false), "ok"],
    [checkHome(join(folder, "nowhere"))[0], "warn"],
  ] as [Finding, string][])("[AC54] %j", (finding, state) => {
    expect(finding.state).toBe(state);
    expect(finding.fix === undefined).toBe(state === "ok");
  });

  it("[D80] says why a price table prices nothing", () => {
    const prices = mkdtempSync(join(folder, "prices-"));
    expect(checkPrices(prices)).toEqual([]);
    writeFileSync(join(prices, "prices.json"), '{"m":{"input":1,"output":2}}');
    expect(checkPrices(prices)).toMatchObject([{ state: "ok", message: "prices for 1 model" }]);
    writeFileSync(join(prices, "prices.json"), "nonsense!");
    expect(checkPrices(prices)).toMatchObject([{ state: "warn", fix: expect.anything() }]);
  });

  it("[AC54] finds files that others can read, and says how to close them", () => {
    expect(checkHome(home).map(({ state }) => state)).toEqual(["ok", "ok"]);
    chmodSync(join(home, "token"), 0o644);
    expect(named(checkHome(home), "token")).toMatchObject({ state: "fail", fix: `chmod 600 ${home}/token` });
    chmodSync(join(home, "token"), 0o600);
  });

  it("[S46] [AC54] sees a database that is taken away under a server, also when it is looked at before the next write", async () => {
    const running = await start();
    const path = join(home, "blockyard.db");
    renameSync(path, `${path}.away`);
    const findings = await examine(home, {});
    expect(named(findings, "server")).toMatchObject({
      state: "fail",
      message: expect.stringContaining(`${path} was deleted while it was in use`),
    });
    expect(named(findings, "database")).toMatchObject({
      state: "fail",
      message: `${path} is missing, but a process still has it open`,
    });
    renameSync(`${path}.away`, path);
    expect(named(await examine(home, {}), "server")?.state).toBe("ok");
    await running.stop();
    for (const name of readdirSync(home)) if (name.includes(".rescued-")) rmSync(join(home, name));
  });

  it("[U60] says how commands run in the running server, and which folder it serves", async () => {
    const running = await start();
    const findings = await examine(home, process.env);
    expect(named(findings, "sandbox")?.message).toMatch(
      /^commands run (not sandboxed: .+|sandboxed, no network)$/,
    );
    expect(named(findings, "server")?.message).toBe(`answers at ${running.url}, for ${realpathSync(folder)}`);
    await running.stop();
  });

  it.each([
    ["sandboxed, no network", "ok", undefined],
    ["not sandboxed: switched off", "warn", "start the server without BLOCKYARD_SANDBOX=off"],
    [
      "not sandboxed: the system does not allow it (bwrap: no)",
      "warn",
      expect.stringMatching(/^fix the cause above/),
    ],
  ])("[U60] a server that says %j: %s", (words, state, fix) => {
    const found = checkSandbox(words, { PATH: withBubblewrap() });
    expect(found).toEqual([
      { check: "sandbox", state, message: `commands run ${words}`, ...(fix ? { fix } : {}) },
    ]);
  });

  it("[U60] without a server it says what is not installed, and nothing of what it has not tried", () => {
    const missing = checkSandbox(undefined, { PATH: "/nowhere" });
    if (process.platform === "linux")
      expect(missing).toMatchObject([
        { state: "warn", fix: expect.stringContaining("apt install bubblewrap") },
      ]);
    expect(checkSandbox(undefined, { PATH: withBubblewrap() })).toEqual([]);
  });

  it("[U102] names the agents over ACP that are here, and of the others only those that the settings name", async () => {
    const bin = mkdtempSync(join(folder, "bin-"));
    const program = (name: string, script: string) =>
      writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    program("opencode", '[ "$1" = --version ] && echo 1.2.3 && echo news');
    program("qwen", "exit 3");
    const env = {
      PATH: bin,
      BLOCKYARD_ACP_GOOSE: `${join(bin, "opencode")} acp`,
      BLOCKYARD_ACP_NO_ONE: "no-such-agent acp",
    };
    const checks = ["opencode", "gemini", "qwen", "copilot", "kimi", "goose", "no-one"];
    const found = (await examine(home, env)).filter(({ check }) => checks.includes(check));
    expect(found).toEqual([
      { check: "opencode", state: "ok", message: `1.2.3 at ${join(bin, "opencode")}` },
      {
        ...{ check: "qwen", state: "warn", fix: "install it again: npm install -g @qwen-code/qwen-code" },
        message: expect.stringContaining(`${join(bin, "qwen")} --version failed`),
      },
      {
        ...{ check: "goose", state: "ok" },
        message: `started with ${join(bin, "opencode")}, as BLOCKYARD_ACP_GOOSE says`,
      },
      {
        ...{ check: "no-one", state: "warn", message: "no-such-agent was not found" },
        fix: "correct BLOCKYARD_ACP_NO_ONE, or remove it",
      },
    ]);
  });

  it("[U102] an agent that does not say its version in time is not taken for a broken one", async () => {
    const slow = join(mkdtempSync(join(folder, "bin-")), "slow");
    writeFileSync(slow, "#!/bin/sh\nexec sleep 30\n", { mode: 0o755 });
    expect(await versionOf(slow, { PATH: process.env["PATH"] }, 100)).toEqual({
      problem: `${slow} --version has not answered for 0.1 s`,
      isSlow: true,
    });
  });

  it("[S43] [AC54] says that a restore was interrupted, and who finishes it", () => {
    const path = join(home, "blockyard.db");
    renameSync(path, `${path}.restored`);
    expect(checkDatabase(path, false)).toMatchObject({
      state: "warn",
      message: `${path} is being restored, or its restore was interrupted`,
    });
    renameSync(`${path}.restored`, path);
  });

  it("[AC54] gives no advice to close what is no home", () => {
    const file = join(folder, "file");
    writeFileSync(file, "", { mode: 0o644 });
    expect(checkHome(file)).toEqual([
      {
        check: "home",
        state: "fail",
        message: `${file} is not a directory`,
        fix: "choose another directory with --home",
      },
    ]);
  });

  it("[AC54] gives no advice to close a folder that has something else in it", () => {
    const other = mkdtempSync(join(folder, "project-"));
    writeFileSync(join(other, "index.ts"), "");
    chmodSync(other, 0o777);
    expect(checkHome(other)).toEqual([
      {
        ...{
          check: "home",
          state: "fail",
          message: `${other} contains other files and is not a data directory`,
        },
        fix: "choose an empty directory with --home",
      },
    ]);
  });

  it("[AC54] says that a data directory cannot be made where nobody can make one", () => {
    const file = join(folder, "in-the-way");
    writeFileSync(file, "");
    expect(checkHome(join(file, "below", "home"))).toMatchObject([
      {
        state: "fail",
        message: `${file}/below/home cannot be created: ${file} is not a directory`,
        fix: "choose another directory with --home",
      },
    ]);
  });

  it.each<[number, RegExp, RegExp]>([
    [4874, /disk I\/O error/, /^the disk is full: free some space, then/],
    [778, /disk I\/O error/, /^check the disk/],
    [26, /is damaged: /, /^restore a backup/],
  ])("[AC54] SQLite's error %s is no damage unless it says so", (errcode, message, fix) => {
    const error = Object.assign(new Error("disk I/O error"), { code: "ERR_SQLITE_ERROR", errcode });
    const opened = vi.spyOn(DatabaseSync.prototype, "prepare").mockImplementation(() => {
      throw error;
    });
    const found = checkDatabase(join(home, "blockyard.db"), false);
    opened.mockRestore();
    expect(found).toMatchObject({ state: "fail" });
    expect(found.message).toMatch(message);
    expect(found.fix).toMatch(fix);
  });

  it("[AC54] finds tokens with which no server starts", () => {
    const other = mkdtempSync(join(folder, "other-"));
    const tokens = () => named(checkHome(other), "tokens");
    writeFileSync(join(other, "token"), "", { mode: 0o600 });
    expect(named(checkHome(other), "token")).toMatchObject({
      state: "warn",
      message: `${other}/token is empty (0 bytes)`,
    });
    expect(readFileSync(join(other, "token"), "utf8")).toBe("");
    writeFileSync(join(other, "token"), "short", { mode: 0o600 });
    expect(tokens()).toMatchObject({ state: "fail", message: `${other}/token does not contain a token` });
    writeFileSync(join(other, "token"), "a".repeat(43));
    expect(tokens()).toBeUndefined();
    writeFileSync(join(other, "tokens.json"), "{", { mode: 0o600 });
    expect(tokens()).toMatchObject({ state: "fail", fix: expect.stringMatching(/^delete it, then create/) });
  });

  it("[AC54] finds a damaged database and leaves a sound one as it was", () => {
    const path = join(home, "blockyard.db");
    const bytes = readFileSync(path);
    expect(checkDatabase(path, false).state).toBe("ok");
    expect(readFileSync(path).equals(bytes)).toBe(true);
    const copy = join(folder, "damaged.db");
    const damaged = Buffer.from(bytes);
    damaged.fill(0xff, 4_096, 3 * 4_096);
    writeFileSync(copy, damaged);
    expect(checkDatabase(copy, false)).toMatchObject({
      state: "fail",
      fix: expect.stringContaining("restore"),
    });
    writeFileSync(copy, "no database at all, but long enough to look like one".repeat(100));
    expect(checkDatabase(copy, false).state).toBe("fail");
  });

  it("[AC54] finds what is there in the database's place and is none", () => {
    const place = mkdtempSync(join(folder, "place-"));
    const path = join(place, "blockyard.db");
    const found = () => checkDatabase(path, false);
    const fix = expect.stringMatching(
      /^restore a backup: .* --replace\. Without a backup, move the file away/,
    );
    writeFileSync(path, "");
    expect(found()).toMatchObject({ state: "fail", message: `${path} is empty (0 bytes)`, fix });
    rmSync(path);
    mkdirSync(path);
    expect(found()).toMatchObject({ state: "fail", message: `${path} is a directory, not a database`, fix });
    rmdirSync(path);
    symlinkSync(join(place, "nowhere"), path);
    expect(found()).toMatchObject({ state: "fail", message: `${path} is a broken link` });
    expect(readdirSync(place)).toEqual(["blockyard.db"]);
  });

  // To root every file is open.
  it.skipIf(process.getuid?.() === 0)(
    "[AC54] finds a database that may not be read, and says how to open it",
    () => {
      const path = join(folder, "closed.db");
      copyFileSync(join(home, "blockyard.db"), path);
      for (const mode of [0o000, 0o400]) {
        chmodSync(path, mode);
        expect(checkDatabase(path, false)).toMatchObject({ state: "fail", fix: `chmod 600 ${path}` });
      }
      chmodSync(path, 0o600);
      expect(checkDatabase(path, false).state).toBe("ok");
    },
  );

  it("[AC54] finds the server and the agents, and prints no secret", async () => {
    const agent = join(folder, "claude");
    writeFileSync(agent, "#!/bin/sh\necho '9.9.9 (An Agent)'\n");
    chmodSync(agent, 0o755);
    const broken = join(folder, "codex");
    writeFileSync(broken, "#!/bin/sh\nprintf '\\033[2Jno' >&2\nexit 3\n");
    chmodSync(broken, 0o755);
    const env = { PATH: "/nowhere", BLOCKYARD_CLAUDE: agent, BLOCKYARD_CODEX: broken };
    const without = await examine(home, { PATH: "/nowhere" });
    expect(named(without, "server")).toMatchObject({ state: "warn", fix: "start it: blockyard" });
    expect(named(without, "claude")).toMatchObject({
      state: "warn",
      fix: expect.stringContaining("npm install"),
    });
    const running = await start();
    const found = await examine(home, env);
    await running.stop();
    expect(named(found, "server")).toMatchObject({
      state: "ok",
      message: `answers at ${running.url}, for ${realpathSync(folder)}`,
    });
    expect(named(found, "database")).toMatchObject({
      state: "ok",
      message: expect.stringContaining("running server"),
    });
    expect(named(found, "claude")).toMatchObject({ state: "ok", message: `9.9.9 (An Agent) at ${agent}` });
    expect(named(found, "codex")?.state).toBe("warn");
    expect(JSON.stringify(found)).not.toContain(running.auth.ownerToken);
    expect(JSON.stringify(found)).not.toContain("\\u001b");
  });
});

/** A folder of programs in which it is installed. */
function withBubblewrap(): string {
  const programs = mkdtempSync(join(folder, "programs-"));
  writeFileSync(join(programs, "bwrap"), "#!/bin/sh\n", { mode: 0o755 });
  return programs;
}
