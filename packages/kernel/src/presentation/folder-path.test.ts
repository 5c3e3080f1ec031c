/** Paths as they are shown to somebody who knows the folder. */
import { expect, it } from "vitest";
import { folderLabel, inFolder, shortenPaths, withShortPaths } from "./folder-path.ts";

const SHOP = "/work/shop";

it.each([
  ["/work/shop/src/a.ts", SHOP, "src/a.ts"],
  ["/work/shop/src/a.ts", "/work/shop/", "src/a.ts"],
  ["/work/shop", SHOP, "."],
  ["/work/shop/", SHOP, "."],
  ["/work/shop2/a.ts", SHOP, "/work/shop2/a.ts"],
  ["/else/a.ts", SHOP, "/else/a.ts"],
  ["src/a.ts", SHOP, "src/a.ts"],
  ["C:\\shop\\src\\a.ts", "C:\\shop", "src\\a.ts"],
  ["/a.ts", "/", "/a.ts"],
  ["/a.ts", "", "/a.ts"],
  ["/a.ts", undefined, "/a.ts"],
])("[V132] %s in %s is %s", (path, folder, shown) => {
  expect(inFolder(path, folder)).toBe(shown);
});

it.each([
  ["TODO in /work/shop/src", "TODO in src"],
  ["/work/shop/a.ts, /work/shop/b.ts", "a.ts, b.ts"],
  ["'/work/shop/a b.ts' and /work/shop.", "'a b.ts' and /work/shop."],
  ["in /work/shop", "in ."],
  ["/work/shop/[id].ts and '/work/shop/'", "[id].ts and '/work/shop/'"],
  ["in /work/shop: 3", "in .: 3"],
  ["/old/work/shop/a.ts", "/old/work/shop/a.ts"],
  ["file:///work/shop/a.ts", "file:///work/shop/a.ts"],
  ["/work/shop2 and /work/shop-old/x", "/work/shop2 and /work/shop-old/x"],
  ["nothing", "nothing"],
])("[V132] %j reads %j", (text, shown) => {
  expect(shortenPaths(text, SHOP)).toBe(shown);
});

it("[V132] a block's paths are shortened, and nothing else is", () => {
  const changes = [{ path: "/work/shop/a.ts", kind: "modify", movedTo: "/work/shop/b.ts", diff: SHOP }] as const;
  const command = "cat /work/shop/a.ts";
  expect(withShortPaths({ changes: [...changes], command, cwd: "/work/shop", turn: "/work/shop/t" }, SHOP)).toEqual({
    ...{ changes: [{ path: "a.ts", kind: "modify", movedTo: "b.ts", diff: SHOP }], command },
    ...{ cwd: undefined, turn: "/work/shop/t" },
  });
  expect(folderLabel("/work/shop/lib", SHOP)).toBe("lib");
});
