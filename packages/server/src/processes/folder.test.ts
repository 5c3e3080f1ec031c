/** The folder in which something works: its own, the caller's, or a named one; never silently another one. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isProblem } from "@blockyard/kernel";
import { afterAll, beforeAll, expect, it } from "vitest";
import { folderFor, isInside } from "./folder.ts";

const base = realpathSync(mkdtempSync(join(tmpdir(), "blockyard-folder-")));
const root = join(base, "shop");
const inside = join(root, "src");
const beside = join(base, "shop-2");

beforeAll(() => {
  for (const each of [inside, beside]) mkdirSync(each, { recursive: true });
  symlinkSync(beside, join(root, "out"));
  writeFileSync(join(root, "file"), "");
});
afterAll(() => rmSync(base, { recursive: true, force: true }));

it.each([
  ["nothing is known", {}, root],
  ["the conversation has one", { own: inside }, inside],
  ["the conversation's is relative", { own: "src" }, inside],
  ["the conversation has one and the caller another", { own: inside, callers: root }, inside],
  ["only the caller has one", { callers: inside }, inside],
  ["one is named", { chosen: beside, own: inside, callers: root }, beside],
])("[D14] where %s", (_, wish, expected) => {
  expect(folderFor(root, { whose: "conversation", ...wish })).toBe(expected);
});

it.each([
  ["the conversation's is elsewhere", { own: beside }, "conflict", false],
  ["a link leads elsewhere", { own: join(root, "out") }, "conflict", false],
  ["the caller's is elsewhere", { callers: beside }, "conflict", false],
  ["the conversation's is gone", { own: join(root, "gone"), callers: root }, "not_found", true],
  ["it is a file", { own: join(root, "file") }, "not_found", true],
])("[D14] is asked for if %s", (_, wish, code, missing) => {
  const asked = folderFor(root, { whose: "conversation", ...wish });
  expect(asked).toMatchObject({ problem: code, details: { ask: "cwd", root, missing } });
});

it("[D14] a named folder is an absolute path of an existing one", () => {
  for (const chosen of ["src", join(base, "gone"), join(root, "file")])
    expect(isProblem(folderFor(root, { whose: "command", chosen }))).toBe(true);
});

it.each([
  ["/a", "/a", true],
  ["/a", "/a/b", true],
  ["/a", "/a/..b", true],
  ["/a", "/ab", false],
  ["/a", "/", false],
  ["/", "/a", true],
])("[D14] from %s, %s is inside: %s", (from, path, expected) => expect(isInside(from, path)).toBe(expected));
