/**
 * Trust: before the first turn in a folder, and again when it changes, the owner is asked about its hooks and settings.
 * On the real server, with turns of the loop.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isProblem, type Problem, type WholeBlock } from "@blockyard/kernel";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { actingFiles } from "../../packages/server/src/trust/acting-files.ts";
import { Trust } from "../../packages/server/src/trust/trust.ts";
import { Rig } from "../loop/rig.ts";
import { say } from "../model/script.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await Rig.start();
});
afterAll(() => rig.stop());
beforeEach(() => {
  rig.clear();
  rig.speak("anthropic");
  rmSync(join(rig.home, "trust.json"), { force: true });
});
afterEach(() => {
  vi.unstubAllEnvs();
  expect(rig.faults).toEqual([]);
});

function put(path: string, text = "x\n"): void {
  const file = join(rig.root, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

interface Question {
  readonly ask: string;
  readonly folder: string;
  readonly digest: string;
  readonly files: readonly { readonly path: string; readonly reason: string; readonly state: string }[];
}

/** The question of a turn that could not start; undefined where it could. */
async function begin(more: object = {}): Promise<Question | undefined> {
  rig.model.play([say("Done.")]);
  const answer = await rig.ask("turn.start", { provider: "anthropic", prompt: "Go", ...more });
  if (isProblem(answer)) return (answer as Problem).details as unknown as Question;
  const { conversation, turn } = answer as { conversation: string; turn: string };
  await rig.ended(conversation, turn);
  return undefined;
}

const paths = (question: Question | undefined) =>
  question?.files.map(({ path, state }) => `${path} ${state}`);
const allow = ({ folder, digest }: Question) => rig.ask("trust.allow", { folder, digest });

describe("[AC210] before a turn", () => {
  it("a folder in which nothing acts by itself asks nothing", async () => {
    put("src/a.ts");
    put("package.json", "{}");
    put(".git/hooks/pre-commit.sample");
    put(".git/config", '[core]\n\tbare = false\n[remote "origin"]\n\turl = x\n');
    expect(await begin()).toBeUndefined();
  });

  it("each is asked about once, and again when it is new or has changed, not when it is gone", async () => {
    put("CLAUDE.md");
    put(".mcp.json", "{}");
    const first = await begin();
    expect(first?.ask).toBe("trust");
    expect(paths(first)).toEqual(["CLAUDE.md new", ".mcp.json new"]);
    expect(paths(await begin())).toHaveLength(2);
    expect(await allow(first as Question)).toMatchObject({
      files: [{ state: "trusted" }, { state: "trusted" }],
    });
    expect(await begin()).toBeUndefined();
    put("CLAUDE.md", "changed\n");
    put(".claude/hooks/run.sh");
    const second = await begin();
    expect(paths(second)).toEqual(["CLAUDE.md changed", ".claude/hooks/run.sh new"]);
    await allow(second as Question);
    rmSync(join(rig.root, ".mcp.json"));
    expect(await begin()).toBeUndefined();
    await rig.tool("trust.revoke", { folder: rig.root });
    expect(paths(await begin())).toHaveLength(2);
  });

  it("yes is said to what was shown: a file that changes meanwhile is not trusted", async () => {
    put("AGENTS.md");
    const shown = (await begin()) as Question;
    put("AGENTS.md", "changed\n");
    expect(await allow(shown)).toMatchObject({ problem: "conflict" });
    expect(paths(await begin())).toEqual(["AGENTS.md new"]);
  });

  it("a message that waits is not sent where its folder has changed since", async () => {
    let go = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      go = resolve;
    });
    rig.model.play([say("First.", { hold: { after: 1, until: held } }), say("Second.")]);
    const { conversation, turn } = await rig.start("anthropic", "One");
    const waits = await rig.tool<{ block_id: string; queued: boolean }>("turn.start", {
      ...{ provider: "anthropic", prompt: "Two", conversation },
    });
    expect(waits.queued).toBe(true);
    put("CLAUDE.md");
    go();
    await rig.ended(conversation, turn);
    const shown = await rig.block(conversation, ({ kind }: WholeBlock) => kind === "error");
    expect(shown.text).toMatch(/^Not sent: .*CLAUDE\.md/);
    expect((await rig.blocks(conversation)).some(({ text }) => text === "Second.")).toBe(false);
  });

  it.each(["agent", "viewer"] as const)("only the owner is asked and answers: not a %s", async (role) => {
    put("CLAUDE.md");
    const { folder, digest } = (await begin()) as Question;
    for (const [name, input] of [
      ["trust.show", {}],
      ["trust.allow", { folder, digest }],
      ["trust.revoke", { folder }],
    ] as const)
      expect(await rig.ask(name, input, { agent: "bob", role, by: "token" })).toMatchObject({
        problem: "forbidden",
      });
  });
});

describe("[AC211] what acts by itself", () => {
  it.each([
    ["CLAUDE.md"],
    ["CLAUDE.local.md"],
    ["AGENTS.md"],
    ["AGENTS.override.md"],
    ["GEMINI.md"],
    [".mcp.json"],
    [".claude/settings.json"],
    [".claude/settings.local.json"],
    [".claude/hooks/deep/down/x.sh"],
    [".claude/agents/a.md"],
    [".claude/commands/b.md"],
    [".claude/skills/c/SKILL.md"],
    [".claude/output-styles/d.md"],
    [".claude/plugins/e/plugin.json"],
    [".codex/config.toml"],
    [".gemini/settings.json"],
    [".opencode/plugin/f.ts"],
    ["opencode.json"],
    [".cursor/rules/g.mdc"],
    ["QWEN.md"],
    [".qwen/settings.json"],
    [".kimi/config.toml"],
    [".goosehints"],
    [".github/copilot-instructions.md"],
    [".github/hooks/h.json"],
    [".claude/hooks/x.sample"],
    [".git/hooks/pre-commit"],
    [".husky/pre-push"],
    [".claude/AGENTS.md"],
    [".claude/workflows/i.js"],
    [".claude/scheduled_tasks.json"],
    [".claude/loop.md"],
    [".claude/agent-memory/j/MEMORY.md"],
    [".claude/whatever-comes-next.json"],
    ["CONTEXT.md"],
    ["CRUSH.md"],
    [".kimi-code/mcp.json"],
    [".vscode/mcp.json"],
    [".github/copilot/settings.json"],
    [".github/extensions/k/extension.mjs"],
    [".github/mcp.json"],
    [".github/lsp.json"],
    [".factory/settings.json"],
    [".kiro/steering/l.md"],
    [".clinerules"],
    [".env"],
    [".npmrc"],
    ["bunfig.toml"],
    ["pnpm-workspace.yaml"],
    ["knowledge.md"],
    [".iflow/settings.json"],
    [".env.local"],
    ["agents.md"],
    ["Claude.md"],
    [".Claude/settings.json"],
    [".vscode/MCP.json"],
  ])("%s, with its digest, in the folder and above it", (path) => {
    put(path);
    mkdirSync(join(rig.root, "packages/a"), { recursive: true });
    const [found] = actingFiles(rig.root, join(rig.root, "packages/a"));
    expect(found).toMatchObject({ path, digest: expect.stringMatching(/^[0-9a-f]{64}$/) });
    put(path, "y\n");
    expect(actingFiles(rig.root, rig.root)[0]?.digest).not.toBe(found?.digest);
  });

  it("[AC315] nothing that only the code host reads, and no working tree of an agent", () => {
    for (const name of [
      "workflows/ci.yml",
      "ISSUE_TEMPLATE/bug.md",
      "dependabot.yml",
      "SECURITY.md",
      "CODEOWNERS",
    ])
      put(`.github/${name}`);
    put(".claude/worktrees/a/CLAUDE.md");
    put(".claude/scheduled_tasks.lock");
    put(".vscode/settings.json");
    put(".env.example");
    expect(actingFiles(rig.root, rig.root)).toEqual([]);
  });

  /** As a person who packs a folder would. */
  function git(cwd: string, ...args: string[]): void {
    const set = ["-c", "protocol.file.allow=always", "-c", "user.name=a", "-c", "user.email=a@b.c"];
    execFileSync("git", [...set, ...args], { cwd, stdio: "pipe", env: { ...process.env, HOME: rig.home } });
  }

  it.each(["2", "3", "4", "sha256", "split"])(
    "[AC315] settings and hooks of submodules, which git obeys from above: index %s",
    (kind) => {
      const format = kind === "sha256" ? ["--object-format=sha256"] : [];
      const inner = join(rig.root, "libs/a long name that is not in the list/sub");
      for (const at of [rig.root, inner]) {
        mkdirSync(at, { recursive: true });
        git(at, "init", "-q", ...format);
        writeFileSync(join(at, "a-file"), "x\n");
        git(at, "add", "a-file");
        git(at, "commit", "-qm", "first");
      }
      for (const name of ["libs/a", "libs/b/c", "z"]) put(name === "z" ? name : `${name}/file`);
      if (kind === "split") git(rig.root, "update-index", "--split-index");
      if (Number(kind) > 0) git(rig.root, "update-index", "--index-version", kind);
      git(rig.root, "add", ".");
      if (kind === "3") git(rig.root, "update-index", "--skip-worktree", "z", "libs/a/file");
      expect(actingFiles(rig.root, rig.root)).toEqual([]);
      git(inner, "config", "core.fsmonitor", "./steal.sh");
      const hooks = join(inner, ".git/hooks");
      writeFileSync(join(hooks, "post-checkout"), "#!/bin/sh\n");
      const found = actingFiles(rig.root, rig.root).map(
        ({ path, reason }) => `${path.split("/sub/")[1]} ${reason}`,
      );
      expect(found).toEqual([
        ".git/hooks/post-checkout git runs it automatically",
        ".git/config git follows it (core.fsmonitor = ./steal.sh)",
      ]);
    },
  );

  it("[AC315] an ordinary submodule asks nothing, and hooks that are kept in the folder ask as they change", () => {
    const other = join(rig.home, "other");
    mkdirSync(other, { recursive: true });
    for (const at of [other, rig.root]) {
      git(at, "init", "-q");
      git(at, "commit", "-q", "--allow-empty", "-m", "first");
    }
    git(rig.root, "submodule", "add", "-q", other, "libs/sub");
    expect(actingFiles(rig.root, rig.root).filter(({ path }) => path.includes("modules"))).toEqual([]);
    put("tools/hooks/pre-commit", "#!/bin/sh\n");
    git(rig.root, "config", "core.hooksPath", "tools/hooks");
    const digest = () =>
      actingFiles(rig.root, rig.root).find(({ path }) => path === "tools/hooks/pre-commit")?.digest;
    const before = digest();
    put("tools/hooks/pre-commit", "#!/bin/sh\nsteal\n");
    expect([typeof before, digest() === before]).toEqual(["string", false]);
  });

  it("[AC315] a damaged index keeps nobody waiting", () => {
    for (const bytes of [
      "DIRC",
      "DIRC\0\0\0\x04\xff\xff\xff\xff",
      `DIRC\0\0\0\x02\0\x10\0\0${"\xe0".repeat(5_000)}`,
    ]) {
      mkdirSync(join(rig.root, ".git"), { recursive: true });
      writeFileSync(join(rig.root, ".git/index"), bytes, "latin1");
      expect(actingFiles(rig.root, rig.root)).toEqual([]);
    }
  });

  const RUNS = "[core]\n\tfsmonitor = ./steal.sh\n";
  /** Ways in which a folder that somebody has packed makes git run something. */
  it.each<[string, Readonly<Record<string, string>>]>([
    ["a key behind its section, in one line", { ".git/config": "[core] fsmonitor = ./steal.sh\n" }],
    ["a key without blanks", { ".git/config": "[core]fsmonitor=./steal.sh" }],
    ["a value that goes on in the next line", { ".git/config": "[core]\n\tfsmonitor = \\\n./steal.sh\n" }],
    ["a subsection with brackets in its name", { ".git/config": '[filter "a]b"] clean = ./steal.sh\n' }],
    ["upper case", { ".git/config": "[CORE]\n\tFSMONITOR = ./steal.sh\n" }],
    ["a setting that nobody here knows", { ".git/config": "[core]\n\tnewThing = ./steal.sh\n" }],
    ["a key command", { ".git/config": '[gpg "ssh"]\n\tdefaultKeyCommand = ./steal.sh\n' }],
    ["a command for refs", { ".git/config": "[core]\n\talternateRefsCommand = ./steal.sh\n" }],
    ["a submodule's update", { ".git/config": '[submodule "a"]\n\tupdate = !./steal.sh\n' }],
    ["a second section in the line", { ".git/config": "[user] [core] fsmonitor = ./steal.sh\n" }],
    [
      "a line behind a comment that seems to go on",
      { ".git/config": "[core]\n# x \\\nfsmonitor = ./steal.sh\n" },
    ],
    [
      "a line behind a value with such a comment",
      { ".git/config": "[core]\n\tbare = false ; x \\\n\tfsmonitor = ./steal.sh\n" },
    ],
    ["a mark in front", { ".git/config": "\ufeff[core]\n\tfsmonitor = ./steal.sh\n" }],
    ["more than is read", { ".git/config": `${"# x\n".repeat(300_000)}[core]\n\tfsmonitor = ./steal.sh\n` }],
    ["a folder that .git shares", { ".git/commondir": "../.s\n", ".git/HEAD": "x", ".s/config": RUNS }],
    ["hooks of a folder that .git shares", { ".git/commondir": "../.s\n", ".s/hooks/post-checkout": "x" }],
    ["an included file", { ".git/config": "[include]\n\tpath = ../harmless.cfg\n", "harmless.cfg": RUNS }],
    [
      "a configuration of the worktree",
      { ".git/config": "[core]\n\tbare = false\n", ".git/config.worktree": RUNS },
    ],
    ["a .git that is a file", { ".git": "gitdir: .stuff\n", ".stuff/config": RUNS }],
    ["a .git that is a file, with hooks", { ".git": "gitdir: .stuff\n", ".stuff/hooks/post-checkout": "x" }],
    [
      "a .git that is a file, for a worktree",
      { ".git": "gitdir: .s/w\n", ".s/w/commondir": "..\n", ".s/config": RUNS },
    ],
    ["a bare repository that lies open", { HEAD: "ref: x\n", "objects/x": "", "refs/x": "", config: RUNS }],
  ])("[AC266] git's configuration: %s", (_, files) => {
    for (const [path, text] of Object.entries(files)) put(path, text);
    const before = actingFiles(rig.root, rig.root);
    expect(before.length).toBeGreaterThan(0);
    const last =
      Object.keys(files).find((path) => files[path]?.includes("steal") || path.includes("hooks")) ?? "";
    put(last, `${files[last]?.replace("steal", "other")}${path(last)}`);
    expect(JSON.stringify(actingFiles(rig.root, rig.root))).not.toBe(JSON.stringify(before));
  });
  const path = (name: string) => (name.includes("hooks") ? "y" : "");

  it("[AC266] more files than can be shown, deeper ones, and a link to everything: none is left out, none takes long", () => {
    for (let i = 0; i < 600; i++) put(`.claude/commands/c${i}.md`, "x");
    put(".husky/pre-push", "x");
    put(".claude/skills/1/2/3/4/5/6/7/8/SKILL.md", "x");
    const before = actingFiles(rig.root, rig.root);
    expect(before.length).toBe(501);
    for (const [name, text] of [
      [".husky/pre-push", "y"],
      [".claude/commands/c599.md", "y"],
      [".claude/skills/1/2/3/4/5/6/more/SKILL.md", "new"],
    ] as const) {
      const seen = JSON.stringify(actingFiles(rig.root, rig.root));
      put(name, text);
      expect([name, JSON.stringify(actingFiles(rig.root, rig.root)) === seen]).toEqual([name, false]);
    }
    symlinkSync("/", join(rig.root, ".codex"));
    const start = performance.now();
    actingFiles(rig.root, rig.root);
    expect(performance.now() - start).toBeLessThan(10_000);
  });

  it("[AC266] a folder inside of a repository: what is above it, up to its top", () => {
    put(".git/HEAD");
    put("CLAUDE.md");
    put(".git/hooks/pre-commit");
    mkdirSync(join(rig.root, "a/b"), { recursive: true });
    const served = join(rig.root, "a");
    const found = actingFiles(served, join(served, "b")).map(({ path }) => path);
    expect(found).toEqual(["../CLAUDE.md", "../.git/hooks/pre-commit"]);
    const outside = actingFiles(served, rig.root).map(({ path }) => path);
    expect(outside).toEqual(["../CLAUDE.md", "../.git/hooks/pre-commit"]);
  });

  it("[AC266] a folder whose name begins with two dots is inside", () => {
    put("CLAUDE.md");
    mkdirSync(join(rig.root, "..a"), { recursive: true });
    expect(actingFiles(rig.root, join(rig.root, "..a"))).toHaveLength(1);
  });

  it("[AC266] pipes and links in a circle keep nobody waiting, and a pipe is asked for", () => {
    mkdirSync(join(rig.root, ".git"), { recursive: true });
    execFileSync(
      "mkfifo",
      ["config", "commondir"].map((name) => join(rig.root, ".git", name)),
    );
    symlinkSync(".claude", join(rig.root, ".claude"));
    symlinkSync("CLAUDE.md", join(rig.root, "CLAUDE.md"));
    expect(actingFiles(rig.root, rig.root).map(({ path }) => path)).toEqual([".git/config"]);
  });

  it("git's configuration, as far as it runs programs", () => {
    put(".git/config", "[core]\n\tbare = false\n");
    expect(actingFiles(rig.root, rig.root)).toEqual([]);
    put(".git/config", "[core]\n\tbare = false\n\tfsmonitor = ./steal.sh\n");
    const [found] = actingFiles(rig.root, rig.root);
    expect(found?.reason).toContain("fsmonitor = ./steal.sh");
    put(".git/config", '[core]\n\tfsmonitor = ./steal.sh\n[branch "a"]\n\tremote = origin\n');
    expect(actingFiles(rig.root, rig.root)[0]?.digest).toBe(found?.digest); // nothing else in it counts
    put(".git/config", "[alias]\n\tst = !./steal.sh\n");
    expect(actingFiles(rig.root, rig.root)).toHaveLength(1);
  });
});

describe("[AC295] a rule that the owner allows, and the agent keeps in its settings", () => {
  const FILE = ".claude/settings.local.json";
  const rule = "Bash(npm test *)";
  const granted = (allow: readonly string[], more: object = {}) =>
    put(FILE, JSON.stringify({ ...more, permissions: { allow } }, null, 2));
  let trust: Trust;
  beforeEach(() => {
    rmSync(join(rig.root, ".claude"), { recursive: true, force: true });
    trust = new Trust(rig.home, rig.root, () => 1);
  });
  afterEach(() => rmSync(join(rig.root, ".claude"), { recursive: true, force: true }));
  const open = () => (trust.question(rig.root) ? "asks" : "trusted");

  it("is not asked about, in a file that was not there", () => {
    trust.keeps("owner", rig.root, { file: FILE, rules: [rule] });
    granted([rule]);
    expect(open()).toBe("trusted");
    trust.keeps("owner", rig.root, { file: FILE, rules: ["Bash(ls)"] });
    granted([rule, "Bash(ls)"]);
    expect(open()).toBe("trusted");
    expect(new Trust(rig.home, rig.root, () => 2).question(rig.root)).toBeUndefined();
  });

  it("is not asked about, in a file that was trusted", () => {
    granted(["Read"], { model: "opus" });
    const { folder, digest } = trust.show(rig.root);
    trust.allow("owner", folder, digest);
    trust.keeps("owner", rig.root, { file: FILE, rules: [rule] });
    granted(["Read", rule], { model: "opus" });
    expect(open()).toBe("trusted");
  });

  it.each([
    ["another rule", () => granted([rule, "Bash(*)"])],
    ["a hook", () => granted([rule], { hooks: { Stop: [] } })],
    ["what is no list of rules", () => put(FILE, JSON.stringify({ permissions: { allow: { [rule]: 1 } } }))],
    ["what cannot be read as settings", () => put(FILE, "{")],
  ])("%s beside it asks", (_name, write) => {
    trust.keeps("owner", rig.root, { file: FILE, rules: [rule] });
    write();
    expect(open()).toBe("asks");
  });

  it("trusts nothing that was not trusted before", () => {
    granted(["Bash(*)"]);
    trust.keeps("owner", rig.root, { file: FILE, rules: [rule] });
    granted(["Bash(*)", rule]);
    expect(open()).toBe("asks");
  });
});
