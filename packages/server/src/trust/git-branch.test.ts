/**
 * Which branch a folder is on: a repository, a linked tree, a commit without a branch, none.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { gitBranch } from "./git-branch.ts";

const HASH = "0123456789abcdef0123456789abcdef01234567";

const CASES: readonly (readonly [string, string | undefined, string | undefined])[] = [
  ["a branch", "ref: refs/heads/main\n", "main"],
  ["a branch with slashes", "ref: refs/heads/team/fix-it\n", "team/fix-it"],
  ["a commit without a branch", `${HASH}\n`, "01234567"],
  ["something else", "hello\n", undefined],
  ["no repository", undefined, undefined],
];

for (const [what, head, expected] of CASES)
  test(`the branch of a folder: ${what}`, () => {
    const folder = mkdtempSync(join(tmpdir(), "blockyard-branch-"));
    if (head !== undefined) {
      mkdirSync(join(folder, ".git"));
      writeFileSync(join(folder, ".git", "HEAD"), head);
    }
    expect(gitBranch(folder)).toBe(expected);
    rmSync(folder, { recursive: true });
  });

test("[AC266] a pipe in the place of HEAD keeps nobody waiting", () => {
  const folder = mkdtempSync(join(tmpdir(), "blockyard-branch-"));
  mkdirSync(join(folder, ".git"));
  execFileSync("mkfifo", [join(folder, ".git", "HEAD")]);
  expect(gitBranch(folder)).toBeUndefined();
  rmSync(folder, { recursive: true });
});

test("the branch of a linked tree is its own", () => {
  const folder = mkdtempSync(join(tmpdir(), "blockyard-branch-"));
  const git = join(folder, "repository", ".git", "worktrees", "tree");
  mkdirSync(git, { recursive: true });
  mkdirSync(join(folder, "tree"));
  writeFileSync(join(git, "HEAD"), "ref: refs/heads/fix\n");
  writeFileSync(join(git, "commondir"), "../..\n");
  writeFileSync(join(folder, "tree", ".git"), `gitdir: ${git}\n`);
  expect(gitBranch(join(folder, "tree"))).toBe("fix");
  rmSync(folder, { recursive: true });
});
