/**
 * The built-in tools on a real folder: what they show, what they refuse, and that nothing outside the workspace is
 * touched.
 */
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inlineMatcher, isProblem, type JsonObject, type Kind } from "@blockyard/kernel";
import type { Outcome } from "@blockyard/providers";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { ProcessTracker } from "../../../processes/process-tracker.ts";
import { workspaceTools } from "./index.ts";
import type { ToolRun } from "./tool.ts";
import { Workspace } from "./workspace.ts";

let base: string;
let root: string;
let home: string;
let outside: string;
let tracker: ProcessTracker;

beforeAll(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "blockyard-tools-")));
  tracker = new ProcessTracker(join(base, "marks"));
});
afterAll(async () => {
  await tracker.close();
  rmSync(base, { recursive: true });
});
beforeEach(() => {
  const world = mkdtempSync(join(base, "world-"));
  root = join(world, "root");
  home = join(root, "server-home");
  outside = join(world, "outside");
  for (const folder of [root, home, outside, join(root, ".git"), join(root, "src")]) mkdirSync(folder);
  writeFileSync(join(outside, "secret"), "secret\n");
  writeFileSync(join(home, "token"), "token\n");
  writeFileSync(join(root, ".git/config"), "git\n");
  writeFileSync(join(root, "src/a.ts"), "one\ntwo\nthree\n");
});

interface Used extends Outcome {
  readonly opened: readonly [Kind, JsonObject][];
  readonly grown: string;
}

async function use(name: string, input: object, signal = new AbortController().signal): Promise<Used> {
  const tool = workspaceTools.find((each) => each.name === name);
  const parsed = tool?.parse(input);
  if (!tool || !parsed || "wrong" in parsed) throw new Error(`${name}: ${JSON.stringify(parsed)}`);
  const opened: [Kind, JsonObject][] = [];
  let grown = "";
  const run: ToolRun = {
    workspace: new Workspace({ root, closed: [home] }),
    signal,
    env: {
      PATH: process.env["PATH"],
      ANTHROPIC_API_KEY: "key",
      OPENAI_API_KEY: "key",
      MINE: "no",
      EDITOR: "yes",
      BASH_ENV: join(root, "trap"),
      "BASH_FUNC_echo%%": "() { printf trapped; }",
    },
    matcher: inlineMatcher(() => performance.now()),
    tracker,
    permitted: [],
    isSeen: false,
    open: (kind, metadata) => opened.push([kind, metadata]),
    grow: (text) => {
      grown += text;
    },
  };
  return { ...(await tool.run(parsed.input, run)), opened, grown };
}

describe("[L31] paths", () => {
  const paths: [string, () => void][] = [
    ["../outside/secret", () => undefined],
    ["src/../../outside/secret", () => undefined],
    ["/etc/hostname", () => undefined],
    [".git/config", () => undefined],
    [".GIT/config", () => undefined],
    ["src/.git/config", () => undefined],
    ["server-home/token", () => undefined],
    ["link", () => symlinkSync(join(outside, "secret"), join(root, "link"))],
    ["folder/secret", () => symlinkSync(outside, join(root, "folder"))],
    [
      "chain/secret",
      () => {
        symlinkSync(outside, join(root, "second"));
        symlinkSync(join(root, "second"), join(root, "chain"));
      },
    ],
    ["to-git/config", () => symlinkSync(join(root, ".git"), join(root, "to-git"))],
    ["dangling", () => symlinkSync(join(outside, "new"), join(root, "dangling"))],
    ["dangling-folder/new", () => symlinkSync(join(outside, "none"), join(root, "dangling-folder"))],
    ["nul\0", () => undefined],
  ];

  it.each(paths)("%j is invalid", async (path, prepare) => {
    prepare();
    const before = snapshot();
    for (const [name, input] of [
      ["read", { path }],
      ["write", { path, content: "mine" }],
      ["edit", { path, old_text: "e", new_text: "mine" }],
    ] as const) {
      const { failed, result } = await use(name, input);
      expect(failed, name).toBe(true);
      expect(result?.text).not.toMatch(/^(secret|token|git)/);
    }
    expect(snapshot()).toEqual(before);
  });

  function snapshot(): readonly string[] {
    return execFileSync("find", [join(root, ".."), "-printf", "%p %s %l\\n"])
      .toString()
      .split("\n")
      .filter((line) => !/ \d+ $/.test(line) || !line.includes("/root "))
      .sort();
  }

  it("inside, through a link that stays inside, are fine", async () => {
    symlinkSync(join(root, "src"), join(root, "inner"));
    expect(await use("read", { path: "inner/a.ts" })).toMatchObject({
      failed: false,
      result: { metadata: { filename: "src/a.ts" } },
    });
    expect(await use("read", { path: join(root, "src/a.ts") })).toMatchObject({ failed: false });
  });

  it("glob and grep follow no link, and see neither .git nor the server's folder", async () => {
    symlinkSync(outside, join(root, "folder"));
    symlinkSync(join(outside, "secret"), join(root, "link"));
    const all = (await use("glob", { pattern: "**" })).result?.text;
    expect(all).toBe("src/a.ts");
    expect((await use("grep", { pattern: "secret|token|git" })).result?.text).toBe("No matching lines.");
  });

  it("a pipe in the place of a file holds nobody up", async () => {
    execFileSync("mkfifo", [join(root, "pipe")]);
    expect(await use("read", { path: "pipe" })).toMatchObject({ failed: true, error: "pipe is not a file" });
  });
});

describe("[L32] read", () => {
  it.each<[object, string, object]>([
    [{ path: "src/a.ts" }, "one\ntwo\nthree\n", { startLine: 1, totalLines: 3, language: "typescript" }],
    [{ path: "src/a.ts", offset: 2, limit: 1 }, "two\n", { startLine: 2, totalLines: 3 }],
  ])("%j", async (input, text, metadata) => {
    expect(await use("read", input)).toMatchObject({
      failed: false,
      result: { kind: "code", text, metadata },
    });
  });

  it.each<[string, string | Buffer, object, string]>([
    ["none", "", { path: "no" }, "no does not exist"],
    ["past the end", "a\n", { path: "f", offset: 9 }, "there is no line 9"],
    ["bytes", Buffer.from([1, 0, 2]), { path: "f" }, "not a text file"],
    ["not UTF-8", Buffer.from([0xff, 0xfe, 0x41]), { path: "f" }, "not UTF-8"],
    ["a folder", "", { path: "src" }, "is not a file"],
  ])("%s", async (_, content, input, why) => {
    writeFileSync(join(root, "f"), content);
    const { failed, error, result } = await use("read", input);
    expect([failed, result?.kind]).toEqual([true, "tool_result"]);
    expect(error).toContain(why);
  });
});

describe("[L32] write and edit", () => {
  it("show a diff of the previous content, keep the mode, and leave no other file", async () => {
    chmodSync(join(root, "src/a.ts"), 0o754);
    const edited = await use("edit", { path: "src/a.ts", old_text: "two", new_text: "2" });
    expect(edited).toMatchObject({
      failed: false,
      shortResult: "+1 −1",
      result: {
        kind: "file_change",
        text: "--- src/a.ts\n+++ src/a.ts\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n",
        metadata: { changes: [{ path: "src/a.ts", kind: "modify" }] },
      },
    });
    expect(readFileSync(join(root, "src/a.ts"), "utf8")).toBe("one\n2\nthree\n");
    expect(statSync(join(root, "src/a.ts")).mode & 0o777).toBe(0o754);
    expect(readdirSync(join(root, "src"))).toEqual(["a.ts"]);
  });

  it("write creates folders, and reports that a file is new", async () => {
    expect(await use("write", { path: "x/y/z.md", content: "# Z\n" })).toMatchObject({
      shortResult: "new, 1 line",
      result: { metadata: { changes: [{ kind: "add" }] } },
    });
    expect(readFileSync(join(root, "x/y/z.md"), "utf8")).toBe("# Z\n");
  });

  it("keeps untouched text, byte for byte", async () => {
    const before = "\ufeffa\r\nb\r\nc";
    writeFileSync(join(root, "f"), before);
    await use("edit", { path: "f", old_text: "b", new_text: "$&ä" });
    expect(readFileSync(join(root, "f"), "utf8")).toBe("\ufeffa\r\n$&ä\r\nc");
  });

  it.each<[object, string]>([
    [{ path: "f", old_text: "zz", new_text: "" }, "old_text is not in f"],
    [{ path: "f", old_text: "a", new_text: "b" }, "occurs 2 times in f"],
    [{ path: "f", old_text: "  a b", new_text: "b" }, "line 1 looks like its beginning"],
    [{ path: "none", old_text: "a", new_text: "b" }, "create it with write"],
    [{ path: "f", old_text: "b", new_text: "b" }, "nothing was written"],
  ])("%j is refused", async (input, why) => {
    writeFileSync(join(root, "f"), "a b\na\n");
    expect((await use("edit", input)).error).toContain(why);
    expect(readFileSync(join(root, "f"), "utf8")).toBe("a b\na\n");
  });

  it("replace_all replaces all", async () => {
    writeFileSync(join(root, "f"), "a a a");
    await use("edit", { path: "f", old_text: "a", new_text: "b", replace_all: true });
    expect(readFileSync(join(root, "f"), "utf8")).toBe("b b b");
  });

  it("a file that would become too large is not even made", async () => {
    writeFileSync(join(root, "f"), "a".repeat(2_000_000));
    const bomb = { path: "f", old_text: "a", new_text: "b".repeat(100_000), replace_all: true };
    const { failed: isRefused, error } = await use("edit", bomb);
    expect([isRefused, error]).toEqual([true, expect.stringContaining("the limit is 10485760")]);
    expect(readFileSync(join(root, "f"), "utf8")).toHaveLength(2_000_000);
    await use("edit", { ...bomb, new_text: "$&$1" });
    expect(readFileSync(join(root, "f"), "utf8").slice(0, 8)).toBe("$&$1$&$1");
  });

  it("a file changed meanwhile is not overwritten", async () => {
    const workspace = new Workspace({ root, closed: [] });
    const place = await workspace.place("src/a.ts");
    if (isProblem(place)) throw new Error(place.message);
    writeFileSync(join(root, "src/a.ts"), "somebody else's");
    expect(await workspace.write(place, "mine", "one\ntwo\nthree\n")).toMatchObject({ problem: "conflict" });
    expect(readFileSync(join(root, "src/a.ts"), "utf8")).toBe("somebody else's");
    expect(readdirSync(join(root, "src"))).toEqual(["a.ts"]);
  });

  it("[AC201] a folder that is replaced by a link after the check is not read through", async () => {
    writeFileSync(join(outside, "a.ts"), "a secret");
    const workspace = new Workspace({ root, closed: [] });
    const place = await workspace.place("src/a.ts");
    if (isProblem(place)) throw new Error(place.message);
    renameSync(join(root, "src"), join(root, "moved"));
    symlinkSync(outside, join(root, "src"));
    expect(await workspace.read(place)).toMatchObject({ problem: "conflict" });
  });

  it.each([".git", ".GIT", ".g\u200cit", ".git.", "git~1", ".git::$INDEX_ALLOCATION", "\uff0egit"])(
    "[AC201] %j is git's own folder to some system: no tool touches it",
    async (name) => {
      mkdirSync(join(root, name), { recursive: true });
      writeFileSync(join(root, name, "config"), "secret");
      const workspace = new Workspace({ root, closed: [] });
      expect(await workspace.place(`${name}/config`)).toMatchObject({ problem: "forbidden" });
      expect(await use("grep", { pattern: "secret" })).toMatchObject({
        result: { text: "No matching lines." },
      });
    },
  );
});

describe("[L34] bash", () => {
  it("prints both outputs in order into a command block, and runs the given command", async () => {
    const command = "echo one; echo 'two \"$x\" \\' >&2; echo three; exit 3";
    const { opened, grown, ...outcome } = await use("bash", { command });
    expect(opened).toEqual([["command", { command, cwd: root }]]);
    expect(grown).toBe('one\ntwo "$x" \\\nthree\n');
    expect(outcome).toMatchObject({
      failed: true,
      error: "exit code 3",
      result: { kind: "command", text: grown, metadata: { command, exitCode: 3, isError: true } },
    });
  });

  it("is no login shell, and has none of the server's secrets", async () => {
    const { grown } = await use("bash", {
      command: "shopt -q login_shell && echo login; echo $ANTHROPIC_API_KEY$OPENAI_API_KEY$MINE$EDITOR; pwd",
    });
    expect(grown).toBe(`yes\n${root}\n`);
  });

  it.each([
    ["-x", /-x: command not found/],
    ["cat; echo read", /^read\n$/],
    ["printf '%s' \"$0\"", /^\/bin\/bash$/],
    ["echo a\necho b", /^a\nb\n$/],
  ])("%j is taken literally", async (command, expected) => {
    writeFileSync(join(root, "trap"), "echo trapped\n");
    expect((await use("bash", { command })).grown).toMatch(expected);
  });

  it("is ended at its time limit, with its children", async () => {
    const { grown, result, failed } = await use("bash", {
      command: "sleep 600 & echo $!; sleep 600",
      timeout_ms: 1_000,
    });
    expect(failed).toBe(true);
    expect(result).toMatchObject({ metadata: { interrupted: true } });
    expect(result?.text).toContain("timed out after");
    expect(isAlive(grown.trim())).toBe(false);
  });

  it("keeps limited output, and counts the rest", async () => {
    const { grown, result } = await use("bash", { command: "head -c 1500000 /dev/zero | tr '\\0' x" });
    expect(grown).toHaveLength(1024 * 1024);
    expect(result?.metadata["truncatedChars"]).toBe(1_500_000 - 1024 * 1024);
  });

  it("shows characters that arrive in two pieces whole", async () => {
    const { grown } = await use("bash", { command: "printf '\\xc3'; sleep 0.05; printf '\\xa4'" });
    expect(grown).toBe("ä");
  });

  it("does not run where the turn was stopped before", async () => {
    const controller = new AbortController();
    controller.abort();
    const { result } = await use("bash", { command: "sleep 1; touch there" }, controller.signal);
    expect(result).toMatchObject({ metadata: { interrupted: true } });
    expect(existsSync(join(root, "there"))).toBe(false);
  });
});

/** Dead and not yet reaped counts as dead. */
function isAlive(pid: string): boolean {
  if (!existsSync(`/proc/${pid}`)) return false;
  return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
}

describe("[L35] glob and grep", () => {
  beforeEach(() => {
    mkdirSync(join(root, "node_modules"));
    writeFileSync(join(root, "node_modules/x.ts"), "two");
    writeFileSync(join(root, "b.md"), "Two\nfour\n");
    writeFileSync(join(root, "bytes"), Buffer.from([0, 116, 119, 111]));
  });

  it.each<[object, readonly string[]]>([
    [{ pattern: "*.ts" }, ["src/a.ts"]],
    [{ pattern: "src/**" }, ["src/a.ts"]],
    [{ pattern: "*.ts", path: "src" }, ["src/a.ts"]],
    [{ pattern: "*.md" }, ["b.md"]],
    [{ pattern: "*.rs" }, ["No matching files."]],
  ])("glob %j", async (input, expected) => {
    expect((await use("glob", input)).result?.text.split("\n")).toEqual(expected);
  });

  it.each<[object, readonly string[]]>([
    [{ pattern: "tw." }, ["src/a.ts:2:two"]],
    [{ pattern: "two", ignore_case: true }, ["b.md:1:Two", "src/a.ts:2:two"]],
    [{ pattern: "tw.", literal: true }, ["No matching lines."]],
    [{ pattern: "o", glob: "*.md" }, ["b.md:1:Two", "b.md:2:four"]],
    [{ pattern: "two", context_lines: 1 }, ["src/a.ts:1:one", "src/a.ts:2:two", "src/a.ts:3:three", "--"]],
    [
      { pattern: "o", max_matches: 1 },
      ["b.md:1:Two", "[… more matches: narrow the pattern or raise max_matches …]"],
    ],
  ])("grep %j", async (input, expected) => {
    expect((await use("grep", input)).result?.text.split("\n")).toEqual(expected);
  });

  it.each([
    "{a,b}".repeat(30),
    `${"*a".repeat(20)}*b`,
    "{1..100000000}",
    `${"+(a|aa)".repeat(9)}b`,
    "**/*/".repeat(30),
  ])("a name like %j is refused before it stops the server", async (pattern) => {
    writeFileSync(join(root, `${"a".repeat(200)}c`), "two");
    expect(await use("glob", { pattern })).toMatchObject({ failed: true });
    expect(await use("grep", { pattern: "two", glob: pattern })).toMatchObject({ failed: true });
  });

  it.each(["**/*.{ts,tsx,md}", "{src,b}*/**/*.@(ts|js)", "**/src/**/*a*.*"])(
    "%j is quick",
    async (pattern) => {
      expect((await use("glob", { pattern })).result?.text).toContain("src/a.ts");
    },
  );

  it.each(["(a", "(?=a)"])("grep %j is refused, not taken literally", async (pattern) => {
    expect(await use("grep", { pattern })).toMatchObject({ failed: true });
  });
});

it("[L36] todo is a checklist", async () => {
  const items = [
    { content: "Look", status: "completed" },
    { content: "Change", status: "in_progress", activeForm: "Changing" },
    { content: "Test", status: "pending" },
  ];
  expect(await use("todo", { items })).toMatchObject({
    shortResult: "1 of 3 done",
    result: { kind: "todo", text: "- [x] Look\n- [~] Change\n- [ ] Test", metadata: { items } },
  });
});

it("[AC201] a guarded file without approval is neither read nor written by any of them", async () => {
  writeFileSync(join(root, ".env"), "two: a secret\n");
  for (const [name, input] of [
    ["read", { path: ".env" }],
    ["edit", { path: ".env", old_text: "two", new_text: "2" }],
    ["write", { path: ".env", content: "2" }],
  ] as const)
    expect(await use(name, input)).toMatchObject({
      failed: true,
      error: expect.stringMatching(/^\.env is guarded: /),
    });
  expect((await use("grep", { pattern: "two" })).result?.text).not.toContain("secret");
  expect(readFileSync(join(root, ".env"), "utf8")).toBe("two: a secret\n");
});
