/** Rules about git's remote: `origin` has to be one, not a folder that is called so. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type Ask, VirtualEnv } from "@blockyard/kernel";
import { afterAll, expect, it } from "vitest";
import { hasRemote } from "../../trust/git-remote.ts";
import { Rules } from "./rules.ts";

const home = mkdtempSync(join(tmpdir(), "blockyard-remote-"));
afterAll(() => rmSync(home, { recursive: true, force: true }));

/** A folder with these files, and what a rule that covers everything about `git push` says to one in `at`. */
function answered(files: Readonly<Record<string, string>>, at = ".", command = "git push origin main") {
  const work = mkdtempSync(join(home, "work-"));
  for (const [name, text] of Object.entries({ ...files, [`${at}/x`]: "" })) {
    mkdirSync(dirname(join(work, name)), { recursive: true });
    writeFileSync(join(work, name), text);
  }
  const rules = new Rules(mkdtempSync(join(home, "rules-")), new VirtualEnv(1), hasRemote);
  const cwd = join(work, at);
  for (const words of [
    ["git", "push"],
    ["git", "fetch"],
    ["git", "pull"],
  ])
    rules.set("root", { effect: "allow", workspace: work, pattern: { type: "command", words } });
  const whole = command.split(" ");
  rules.set("root", {
    effect: "allow",
    workspace: work,
    pattern: { type: "command", words: whole, exact: true },
  });
  const ask: Ask = { id: "1", kind: "permission", state: "asked", subject: { type: "command", command } };
  const offered = rules.suggestions(ask, cwd).filter(({ deny }) => deny !== true).length;
  return [rules.decide(ask, { conversation: "c", cwd })?.allow === true, offered > 0];
}

const REMOTE = '[remote "origin"]\n\turl = https://a.example/x.git\n';
const HEAD = { ".git/HEAD": "ref: refs/heads/main\n" };
const YES = [true, true];
const NO = [false, false];

it.each<[string, Readonly<Record<string, string>>, readonly boolean[]]>([
  ["a remote of that name", { ...HEAD, ".git/config": REMOTE }, YES],
  ["on one line", { ...HEAD, ".git/config": '[ReMOTE "origin"] url=x # of ours' }, YES],
  [
    "of a worktree",
    { ".git": "gitdir: real\n", "real/commondir": "../shared\n", "shared/config": REMOTE },
    YES,
  ],
  ["none", { ...HEAD, ".git/config": "[core]\n\tbare = false\n" }, NO],
  [
    "none, and a folder",
    { ...HEAD, ".git/config": "", "origin/HEAD": "", "origin/hooks/pre-receive": "" },
    NO,
  ],
  ["another", { ...HEAD, ".git/config": REMOTE.replace("origin", "upstream") }, NO],
  ["another case", { ...HEAD, ".git/config": REMOTE.replace("origin", "Origin") }, NO],
  ["one without an address", { ...HEAD, ".git/config": '[remote "origin"]\n\tfetch = +refs/heads/*\n' }, NO],
  ["one with an empty address", { ...HEAD, ".git/config": '[remote "origin"]\n\turl =\n' }, NO],
  ["one in a comment", { ...HEAD, ".git/config": '# [remote "origin"]\n# url = x\n' }, NO],
  [
    "one in another's value",
    { ...HEAD, ".git/config": '[x]\n\ta = "\\\n[remote \\"origin\\"]\\\nurl = x"\n' },
    NO,
  ],
  ["a branch of that name", { ...HEAD, ".git/config": '[branch "origin"]\n\turl = x\n' }, NO],
  ["no repository", {}, NO],
])("[D121] a rule about `git push` answers with %s", (_, files, expected) => {
  for (const command of [
    "git push origin main",
    "git push",
    "git fetch origin",
    "git fetch",
    "git pull",
    "git status && git push",
  ])
    expect(answered(files, ".", command), command).toEqual(
      command.includes("status") ? [false, expected[1]] : expected,
    );
});

it("[D121] below a repository it is the repository's; a folder that is one itself has its own", () => {
  const above = { ...HEAD, ".git/config": REMOTE };
  expect(answered(above, "sub")).toEqual(YES);
  expect(answered({ ...above, "sub/.git/HEAD": "", "sub/.git/config": "" }, "sub")).toEqual(NO);
});
