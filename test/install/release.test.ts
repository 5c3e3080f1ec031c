/** What `npm run release` changes and refuses, in a repository of its own. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { notesOf, prepare, problemsOf, tag } from "../../scripts/release.mjs";

let folder = "";
const git = (...args: string[]) => execFileSync("git", args, { cwd: folder, encoding: "utf8" }).trim();
const read = (path: string) => readFileSync(join(folder, path), "utf8");
const json = (path: string) => JSON.parse(read(path)) as Record<string, unknown>;
const write = (path: string, value: unknown) =>
  writeFileSync(
    join(folder, path),
    typeof value === "string" ? value : `${JSON.stringify(value, null, 2)}\n`,
  );
const commit = () => {
  git("add", "-A");
  git("commit", "-qm", "change");
};

const CHANGELOG = `# Changelog

Newest first.

## Unreleased

### Page

- **Quicker.** It is.

### Storage

- **Smaller.** It is too.

## 0.1.0

**There.** It was.
`;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "blockyard-release-"));
  git("init", "-q", "-b", "main");
  git("config", "user.name", "t");
  git("config", "user.email", "t@example.com");
  for (const each of ["packages/one", "bench"]) mkdirSync(join(folder, each), { recursive: true });
  const dependencies = { "@blockyard/two": "0.1.0", zod: "0.1.0" };
  const one = { name: "@blockyard/one", version: "0.1.0", dependencies };
  write("package.json", { name: "blockyard", version: "0.1.0", workspaces: ["packages/one"] });
  write("packages/one/package.json", one);
  write("bench/package.json", { name: "@blockyard/bench", version: "0.1.0" });
  write("bench/package-lock.json", { version: "0.1.0", packages: { "": { version: "0.1.0" } } });
  write("package-lock.json", {
    version: "0.1.0",
    packages: {
      "": { version: "0.1.0" },
      "packages/one": one,
      "node_modules/zod": { version: "0.1.0" },
    },
  });
  write("CHANGELOG.md", CHANGELOG);
  commit();
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

it("[U84] a version is written everywhere, and to nothing of others", () => {
  expect(prepare(folder, "0.2.0", "2026-11-17")).toEqual([]);
  const all = [
    "package.json",
    "packages/one/package.json",
    "bench/package.json",
    "package-lock.json",
    "bench/package-lock.json",
  ];
  expect(all.map((path) => json(path)["version"])).toEqual(all.map(() => "0.2.0"));
  expect(json("packages/one/package.json")["dependencies"]).toEqual({
    "@blockyard/two": "0.2.0",
    zod: "0.1.0",
  });
  expect(json("package-lock.json")["packages"]).toMatchObject({
    "": { version: "0.2.0" },
    "packages/one": { version: "0.2.0" },
    "node_modules/zod": { version: "0.1.0" },
  });
  expect(read("CHANGELOG.md")).toBe(CHANGELOG.replace("## Unreleased", "## 0.2.0, 2026-11-17"));
});

it("[U84] a release has a tag and notes with the changelog's words on it, once", () => {
  prepare(folder, "0.2.0", "2026-11-17");
  expect(problemsOf(folder)).toEqual(["There are uncommitted changes"]);
  commit();
  expect(problemsOf(folder)).toEqual([]);
  const notes = notesOf(folder);
  expect(notes).toBe(
    "# Blockyard 0.2.0, 2026-11-17\n\n### Page\n\n- **Quicker.** It is.\n\n### Storage\n\n- **Smaller.** It is too.\n",
  );
  const file = join(folder, ".git", "notes.md");
  writeFileSync(file, notes);
  expect(tag(folder, file)).toBe("v0.2.0");
  expect(git("for-each-ref", "--format=%(contents)", "refs/tags/v0.2.0")).toBe(notes.trim());
  expect(problemsOf(folder)).toEqual(["The tag v0.2.0 already exists"]);
});

it.each<[string, () => void, string]>([
  ["no version", () => undefined, "is not a version"],
  [
    "nothing to say",
    () => write("CHANGELOG.md", "# Changelog\n\n## Unreleased\n\n## 0.1.0\n"),
    "that has entries",
  ],
  ["a version that was", () => undefined, "already has a section 0.1.0"],
])("[U84] prepares nothing with %s", (what, change, complaint) => {
  change();
  const before = read("package-lock.json");
  const version = what === "no version" ? "two" : what === "a version that was" ? "0.1.0" : "0.2.0";
  expect(prepare(folder, version, "2026-11-17").join()).toContain(complaint);
  expect(read("package-lock.json")).toBe(before);
});

it("[U84] refuses a version that is not the same everywhere, or that the changelog does not begin with", () => {
  expect(problemsOf(folder)).toEqual(['The changelog starts with "Unreleased", not with a section 0.1.0']);
  prepare(folder, "0.2.0", "2026-11-17");
  write("bench/package.json", { name: "@blockyard/bench", version: "0.1.0" });
  commit();
  expect(problemsOf(folder)).toEqual([
    "The version in bench/package.json differs from package.json, which has 0.2.0",
  ]);
});
