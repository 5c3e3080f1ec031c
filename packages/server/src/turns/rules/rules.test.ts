/** Rules: what they are made from, what they cover, and what no rule allows. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Ask, type AskSubject, isProblem, VirtualEnv } from "@blockyard/kernel";
import { afterAll, expect, it } from "vitest";
import { commandWords } from "./command-words.ts";
import type { Pattern } from "./contract.ts";
import { allows, denies, patternsOf, patternWords } from "./pattern.ts";
import { Rules } from "./rules.ts";

const home = mkdtempSync(join(tmpdir(), "blockyard-rules-"));
afterAll(() => rmSync(home, { recursive: true, force: true }));

it.each<[string, readonly (readonly string[])[] | undefined]>([
  ["npm run test --silent", [["npm", "run", "test", "--silent"]]],
  ["git add 'a b' && git status | cat", [["git", "add", "a b"], ["git", "status"], ["cat"]]],
  ['echo "plain"', [["echo", "plain"]]],
  ["ls; ls\nls", [["ls"], ["ls"], ["ls"]]],
  ['echo "$HOME"', undefined],
  ["echo $(rm -rf .)", undefined],
  ["echo `id`", undefined],
  ["cat < a", undefined],
  ["echo x > a", undefined],
  ["rm *", undefined],
  ["a\\ b", undefined],
  ["A=1 npm test", undefined],
  ["if true; then rm x; fi", undefined],
  ["sudo npm test", undefined],
  ["env npm test", undefined],
  ["npm test # fine", undefined],
  ["npm 'test", undefined],
  ["npm\u00a0test", undefined],
  ["npm te\u200bst", undefined],
  ["", undefined],
])("[D60] %j is read as %j", (text, words) => expect(commandWords(text)).toEqual(words));

const command = (text: string): AskSubject => ({ type: "command", command: text });

it.each<[string, string, boolean]>([
  ["npm run test", "npm run test --watch", true],
  ["npm run test", "npm run build", false],
  ["npm test", "npm test && npm test", true],
  ["npm test", "npm test && rm x", false],
  ["npm test", "npm test $(rm x)", false],
  ["npm test", "npm 'test'", true],
  ["npm test", "npm  test", true],
  ["npm test", "npmtest", false],
  ["rm build", "rm build", true],
  ["rm build", "rm build -rf /", false],
  ["git -C /x push", "git -C /x push --force", false],
  ["git fetch", "git fetch --all", true],
  ["git fetch", "git fetch --upload-pack=./evil.sh origin", false],
  ["git fetch", "git fetch '--upload-pack' ./evil.sh origin", false],
  ["git push", "git push -u origin main", true],
  ["git push", "git push --receive-pack=./evil.sh origin", false],
  ["git diff", "git diff --stat", true],
  ["git diff", "git diff --output=.git/hooks/pre-commit", false],
  ["git grep x", "git grep -O./evil.sh x", false],
  ["git rebase main", "git rebase -x ./evil.sh main", false],
  ["git config user.name", "git config core.fsmonitor ./evil.sh", false],
  ["git bisect start", "git bisect run ./evil.sh", false],
  ["git submodule status", "git submodule foreach ./evil.sh", false],
  ["make test", "make test VERBOSE=1", false],
  ["make test", "make test -f evil.mk", false],
  ["make test", "make test all", true],
  ["go build ./a", "go build -toolexec=./evil.sh ./a", false],
  ["cargo build", "cargo build --release", true],
  ["cargo build", "cargo build --config build.rustc-wrapper=./evil.sh", false],
  ["npm run test", "npm run test --script-shell=./evil.sh", false],
  ["docker run image", "docker run -v /:/host image", false],
  ["docker build a", "docker build --network=host a", false],
  ["git fetch --upload-pack=./known.sh origin", "git fetch --upload-pack=./known.sh origin", true],
])("[D60] a rule from `%s` for `%s`: %s", (from, later, isAllowed) => {
  expect(allows(patternsOf(command(from), "/w", false), command(later), "/w")).toBe(isAllowed);
});

it("[D60] a deny holds for every part, also where nobody can tell the parts", () => {
  const [rule] = patternsOf(command("git push"), "/w", true) as [Pattern];
  for (const text of [
    "git push",
    "ls && git push -f",
    "x=$(git push)",
    "`git push`",
    "if true; then git push; fi",
  ])
    expect(denies(rule, command(text), "/w"), text).toBe(true);
  expect(denies(rule, command("git status"), "/w")).toBe(false);
});

it("[D60] edits are allowed in a folder, never of guarded files, never outside", () => {
  const work = join(home, "work");
  mkdirSync(join(work, "src"), { recursive: true });
  writeFileSync(join(work, "src", "a.ts"), "");
  symlinkSync(home, join(work, "src", "out"));
  const rules = new Rules(home, new VirtualEnv(1));
  const asked = (path: string): Ask => ({
    ...{ id: "1", kind: "permission", state: "asked" },
    subject: { type: "diff", diff: "", paths: [path] },
  });
  const place = { conversation: "c1", cwd: work };
  const [inConversation] = rules.suggestions(asked(join(work, "src", "a.ts")), work);
  expect(inConversation?.label).toBe("Allow edits in src/ in this conversation");
  const ask = { ...asked(join(work, "src", "a.ts")), suggestions: inConversation ? [inConversation] : [] };
  const [made] = rules.keep("root", ask, inConversation?.id, place) as readonly { readonly id: string }[];
  const decided = (path: string, conversation = "c1") =>
    rules.decide(asked(path), { conversation, cwd: work })?.allow;
  expect(decided("src/b.ts")).toBe(true);
  expect(decided(join(work, "src/deep/b.ts"))).toBe(true);
  expect(decided("src/b.ts", "c2")).toBeUndefined();
  for (const path of ["b.ts", "src/.env", "src/package.json", "src/../b.ts", "src/out/b.ts", "/etc/passwd"])
    expect(decided(path), path).toBeUndefined();
  expect(rules.suggestions(asked("src/.env"), work).map(({ id }) => id)).toEqual([]);
  expect(rules.remove(made?.id ?? "")).toBeUndefined();
  expect(decided("src/b.ts")).toBeUndefined();
});

it("[D61] a deny wins; rules are of their workspace, changed and taken back, and outlive the server", () => {
  const env = new VirtualEnv(2);
  const rules = new Rules(home, env);
  const pattern: Pattern = { type: "command", words: ["npm", "test"] };
  const allow = rules.set("root", { effect: "allow", workspace: home, pattern });
  if (isProblem(allow)) throw new Error(allow.message);
  const ask = { kind: "permission", subject: command("npm test") } as const;
  const decide = (cwd: string) => new Rules(home, env).decide(ask, { conversation: "c", cwd });
  expect(decide(home)).toEqual({ allow: true, by: "root", words: "`npm test …` in this workspace" });
  expect(decide(join(home, "work"))?.allow).toBe(true);
  expect(decide(tmpdir())).toBeUndefined();
  const deny = rules.set("root", { effect: "deny", conversation: "c", pattern });
  if (isProblem(deny)) throw new Error(deny.message);
  expect(decide(home)).toMatchObject({ allow: false, words: "`npm test …` in this conversation" });
  const other: Pattern = { type: "command", words: ["npm", "publish"] };
  rules.set("root", { id: deny.id, effect: "deny", conversation: "c", pattern: other });
  expect(decide(home)?.allow).toBe(true);
  rules.remove(allow.id);
  expect(decide(home)).toBeUndefined();
  expect(rules.set("root", { effect: "allow", pattern })).toMatchObject({ problem: "invalid" });
  expect(rules.remove("rule-none")).toMatchObject({ problem: "not_found" });
  writeFileSync(join(home, "rules.json"), "[{");
  expect(rules.list()).toEqual([]);
});

it("[D61] what the agent itself offers is not offered twice; a question is answered by no rule", () => {
  const rules = new Rules(home, new VirtualEnv(3));
  const base: Ask = { id: "1", kind: "permission", state: "asked", subject: command("npm test") };
  const own = { id: "0", label: "Bash(npm test *)", scope: "workspace" } as const;
  expect(
    rules.suggestions({ ...base, suggestions: [own] }, home).map(({ scope, deny }) => [scope, deny]),
  ).toEqual([
    ["conversation", undefined],
    ["workspace", true],
  ]);
  const tool: AskSubject = { type: "tool", tool: "Read" };
  expect(rules.suggestions({ ...base, subject: tool }, home).map(({ deny }) => deny)).toEqual([true]);
  expect(patternsOf({ ...tool, server: "lab" }, home, false).map((each) => patternWords(each, home))).toEqual(
    ["Read of lab"],
  );
  expect(rules.suggestions({ ...base, kind: "question" }, home)).toEqual([]);
});
