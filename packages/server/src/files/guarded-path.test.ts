/** Which files are guarded: classes of names, each spelt in every way that some file system takes for the same. */
import { isProblem } from "@blockyard/kernel";
import { describe, expect, it } from "vitest";
import {
  GUARDED_AT_TOP,
  GUARDED_BY_CLASS,
  GUARDED_PATHS,
  GUARDED_SPELLINGS,
  PLAIN_PATHS,
} from "../../../../test/access/guarded-paths.ts";
import { guardOf, veilOf } from "./guarded-path.ts";
import { cleanPath } from "./path.ts";

function reason(path: string): string | undefined {
  const clean = cleanPath(path);
  if (isProblem(clean)) throw new Error(clean.message);
  return guardOf(clean);
}

/** The same file, to a file system that does not tell case, or drops what does not show. */
const spellings: readonly ((path: string) => string)[] = [
  (path) => path,
  (path) => path.toUpperCase(),
  (path) => `packages/shop/${path}`,
  (path) => `${path}.`,
  (path) => `${path}::$DATA`,
  (path) => path.replace(/([a-z])(?=[^/]*$)/i, "$1\u200b"),
];

describe("guarded", () => {
  it.each([...GUARDED_PATHS, ...GUARDED_BY_CLASS])("[F5] %s, however it is spelt, with a reason", (path) => {
    for (const spell of spellings)
      expect([spell(path), typeof reason(spell(path))]).toEqual([spell(path), "string"]);
  });

  it.each(GUARDED_SPELLINGS)("[F5] %s, as one file system or another takes it", (path) =>
    expect(typeof reason(path)).toBe("string"),
  );

  it.each(GUARDED_AT_TOP)("[F5] %s at the top of the workspace, and not below", (path) => {
    expect(typeof reason(path)).toBe("string");
    expect(reason(`docs/${path}`)).toBeUndefined();
  });

  it.each(PLAIN_PATHS)("[F5] not %s", (path) => expect(reason(path)).toBeUndefined());
});

describe("[AC314] a command that nobody was asked for", () => {
  it.each([
    ...[
      "CLAUDE.md",
      ".claude/settings.json",
      ".claude-plugin",
      ".roomodes",
      ".kilocode",
      ".github/hooks/a.json",
    ],
    ...[
      "lefthook.yml",
      ".lefthook.yml",
      ".pre-commit-config.yaml",
      ".lintstagedrc.mjs",
      ".huskyrc",
      ".hg/hgrc",
    ],
    ...[".vscode", "a.code-workspace", ".helix", ".exrc", ".nvimrc", ".nvim.lua", ".vimrc", ".dir-locals.el"],
    ...[".bashrc", ".zprofile", ".tmux.conf", ".mise.toml", "mise.local.toml", ".gdbinit", ".LEFTHOOK.yml"],
  ])("only reads %s", (path) => {
    const inFolder = path.split("/").map((_, at, parts) => parts.slice(0, at + 1).join("/"));
    expect(inFolder.map((each) => veilOf(each, each !== path))).toContain("kept");
  });

  it.each([".env", ".envrc", ".ssh", ".netrc", "server.key", ".env.local"])("does not find %s", (path) =>
    expect(veilOf(path, false)).toBe("hidden"),
  );

  it.each([
    ...[".cache", ".next", ".venv", ".pytest_cache", ".eslintcache", ".coverage", ".gitignore", ".babelrc"],
    ...[
      "package.json",
      "Makefile",
      "src/a.ts",
      ".github/workflows/ci.yml",
      ".yarn/install-state.gz",
      ".terraform",
    ],
  ])("works with %s", (path) => expect(veilOf(path, false)).toBeUndefined());
});
