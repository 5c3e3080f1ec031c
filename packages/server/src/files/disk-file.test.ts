/** Reading and replacing one file, without blocks. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isProblem } from "@blockyard/kernel";
import { afterEach, beforeEach, expect, it } from "vitest";
import { hashOf, hasStamp, readDisk, writeDisk } from "./disk-file.ts";
import { type Folder, Root } from "./root.ts";

let path: string;
let root: Root;
let folder: Folder;

beforeEach(async () => {
  path = mkdtempSync(join(tmpdir(), "blockyard-disk-"));
  root = new Root(path, []);
  const opened = await root.folder([]);
  if (isProblem(opened)) throw new Error(opened.message);
  folder = opened;
});

afterEach(async () => {
  await folder.close();
  root.close();
  rmSync(path, { recursive: true });
});

const put = (text: string) => writeFileSync(join(path, "a"), text);
const get = () => readFileSync(join(path, "a"), "utf8");
const write = (text: string, expected: string | null) =>
  writeDisk(folder, "a", "a", Buffer.from(text), expected);
const hash = (text: string) => hashOf(Buffer.from(text));

it("[F18] replaces the expected content, and nothing else", async () => {
  put("old");
  expect(await write("new", hash("other"))).toEqual({ type: "moved" });
  expect(await write("new", hash("ol"))).toEqual({ type: "moved" });
  expect(get()).toBe("old");
  expect(await write("new", hash("old"))).toEqual({ type: "written" });
  expect(get()).toBe("new");
  rmSync(join(path, "a"));
  expect(await write("newer", hash("new"))).toEqual({ type: "moved" });
  expect(readdirSync(path)).toEqual([]);
});

it("[F2] creates a file that was expected not to exist, and replaces nothing by it", async () => {
  expect(await write("new", null)).toEqual({ type: "written" });
  expect(await write("other", null)).toEqual({ type: "moved" });
  expect(get()).toBe("new");
  expect(readdirSync(path)).toEqual(["a"]);
});

it("[F9] a replaced file is another one: a reader of the old one reads it to its end", async () => {
  put("old");
  const before = statSync(join(path, "a")).ino;
  await write("new", hash("old"));
  expect(statSync(join(path, "a")).ino).not.toBe(before);
});

it("a file that was just written has no stamp that could be trusted", async () => {
  put("one");
  const recent = await readDisk(folder, "a", "a");
  expect(recent).toMatchObject({ type: "text", text: "one", stamp: "" });
  expect(await hasStamp(folder, "a", "")).toBe(false);
  while (Date.now() - statSync(join(path, "a")).ctimeMs < 150)
    await new Promise((soon) => setImmediate(soon));
  const old = await readDisk(folder, "a", "a");
  if (old.type !== "text") throw new Error(old.type);
  expect(await hasStamp(folder, "a", old.stamp)).toBe(true);
  put("two");
  expect(await hasStamp(folder, "a", old.stamp)).toBe(false);
});
