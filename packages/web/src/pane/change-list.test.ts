/**
 * Changes gathered by file.
 */
import { expect, test } from "vitest";
import { type ChangeBlock, changedFiles, pathParts } from "./change-list.ts";

const diff = (removed: string, added: string) => `@@ -1 +1 @@\n-${removed}\n+${added}\n`;
const block = (id: string, born: number, changes: ChangeBlock["changes"]): ChangeBlock => ({
  ...{ id, born, changes },
  turn: "t",
  text: "",
});

test("[V105] the edits of a file stand together, in their order, whichever block came first", () => {
  const files = changedFiles(
    [
      block("c/a/2", 2, [{ path: "a.ts", kind: "modify", diff: diff("one", "two") }]),
      block("c/a/1", 1, [
        { path: "a.ts", kind: "add", diff: "@@ -0,0 +1 @@\n+one\n" },
        { path: "b.ts", kind: "modify", diff: diff("x", "y") },
      ]),
      block("c/a/3", 3, [{ path: "b.ts", kind: "delete", diff: "@@ -1 +0,0 @@\n-y\n" }]),
    ],
    undefined,
  );
  expect(
    files.map(({ path, kind, added, deleted, edits }) => [
      path,
      kind,
      added,
      deleted,
      edits.map((e) => e.block),
    ]),
  ).toEqual([
    ["a.ts", "add", 1, 0, ["c/a/1", "c/a/2"]],
    ["b.ts", "delete", 0, 1, ["c/a/1", "c/a/3"]],
  ]);
});

test("[V105] several edits count as what they come to, or each for itself where that cannot be told", () => {
  const twice = (second: string) =>
    changedFiles(
      [
        block("c/a/1", 1, [{ path: "a.ts", kind: "modify", diff: diff("one", "two") }]),
        block("c/a/2", 2, [{ path: "a.ts", kind: "modify", diff: second }]),
      ],
      undefined,
    ).map(({ added, deleted, net }) => [added, deleted, net?.map(({ text }) => text)]);
  expect(twice(diff("two", "three"))).toEqual([[1, 1, ["one", "three"]]]);
  expect(twice(diff("two", "one"))).toEqual([[0, 0, []]]);
  expect(twice(diff("other", "three"))).toEqual([[2, 2, undefined]]);
});

test("[V105] an edit that changed nothing is left out, and does not stand in the way of what the others come to", () => {
  const edit = (id: number, text: string | undefined, observed?: true) => ({
    ...block(`c/a/${id}`, id, [
      { path: "a.ts", kind: "modify", ...(text === undefined ? {} : { diff: text }) } as const,
    ]),
    observed,
  });
  const seen = (...blocks: ChangeBlock[]) =>
    changedFiles(blocks, undefined).map(({ net, edits }) => [net?.map(({ text }) => text), edits.length]);
  const [first, third] = [edit(1, diff("one", "two")), edit(3, diff("two", "three"))];
  expect(seen(first, edit(2, ""), third)).toEqual([[["one", "three"], 2]]);
  expect(seen(edit(1, ""), edit(2, ""))).toEqual([[undefined, 1]]);
  // What they changed is not known.
  expect(seen(first, edit(2, "", true), third)).toEqual([[undefined, 3]]);
  expect(seen(first, edit(2, undefined), third)).toEqual([[undefined, 3]]);
});

test("[V105] a file that was moved keeps its edits under its new name", () => {
  const files = changedFiles(
    [
      block("c/a/1", 1, [{ path: "a.ts", kind: "modify", diff: diff("one", "two"), movedTo: "b.ts" }]),
      block("c/a/2", 2, [{ path: "b.ts", kind: "modify", diff: diff("two", "three") }]),
    ],
    undefined,
  );
  expect(files.map(({ path, edits }) => [path, edits.length])).toEqual([["b.ts", 2]]);
});

test("[V105] a file that was moved says from where; one that was moved back does not", () => {
  const moves = (...ways: readonly (readonly [string, string])[]) =>
    changedFiles(
      ways.map(([path, movedTo], i) => block(`c/a/${i}`, i, [{ path, kind: "modify", diff: "", movedTo }])),
      "/w",
    ).map(({ path, from }) => [path, from]);
  expect(moves(["a.ts", "src/b.ts"])).toEqual([["src/b.ts", "a.ts"]]);
  expect(moves(["/w/a.ts", "b.ts"], ["b.ts", "c.ts"])).toEqual([["c.ts", "/w/a.ts"]]);
  expect(moves(["a.ts", "b.ts"], ["/w/b.ts", "/w/a.ts"])).toEqual([["/w/a.ts", undefined]]);
});

test("[V105] a file is one file by its whole path and by its path in the folder", () => {
  const edit = (path: string, movedTo?: string) => [
    { path, kind: "modify" as const, diff: diff("one", "two"), ...(movedTo ? { movedTo } : {}) },
  ];
  const blocks = [
    block("c/a/1", 1, edit("/home/me/shop/src/cart.ts")),
    block("c/a/2", 2, edit("src/cart.ts")),
    block("c/a/3", 3, edit("./src/cart.ts", "/home/me/shop/src/basket.ts")),
    block("c/a/4", 4, edit("src/basket.ts")),
    block("c/a/5", 5, edit("/home/me/other/src/basket.ts")),
  ];
  const counted = (folder: string | undefined) =>
    changedFiles(blocks, folder).map(({ path, edits }) => [path, edits.length]);
  expect(counted("/home/me/shop")).toEqual([
    ["src/basket.ts", 4],
    ["/home/me/other/src/basket.ts", 1],
  ]);
  expect(counted(undefined).length).toBe(4);
});

const PATHS: readonly (readonly [string, string | undefined, string, string])[] = [
  ["/home/me/shop/src/cart.ts", "/home/me/shop", "src/", "cart.ts"],
  ["/home/me/shop/cart.ts", "/home/me/shop/", "", "cart.ts"],
  ["/home/me/shopping/cart.ts", "/home/me/shop", "/home/me/shopping/", "cart.ts"],
  ["cart.ts", undefined, "", "cart.ts"],
];
for (const [path, folder, before, name] of PATHS)
  test(`[V105] ${path} in ${folder} is ${before}${name}`, () =>
    expect(pathParts(path, folder)).toEqual({ before, name }));
