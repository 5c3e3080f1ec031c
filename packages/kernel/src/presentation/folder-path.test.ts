/** Paths as shown to somebody who knows the folder. */
import { expect, it } from "vitest";
import { folderLabel, inFolder, shortenPaths, withShortPaths } from "./folder-path.ts";

const SHOP = "/repo/shop";

it.each([
  ["/repo/shop/src/a.ts", SHOP, "src/a.ts"],
  ["/repo/shop/src/a.ts", "/repo/shop/", "src/a.ts"],
  ["/repo/shop", SHOP, "."],
  ["/repo/shop/", SHOP, "."],
  ["/repo/shop2/a.ts", SHOP, "/repo/shop2/a.ts"],
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
  ["TODO in /repo/shop/src", "TODO in src"],
  ["/repo/shop/a.ts, /repo/shop/b.ts", "a.ts, b.ts"],
  ["'/repo/shop/a b.ts' and /repo/shop.", "'a b.ts' and /repo/shop."],
  ["in /repo/shop", "in ."],
  ["/repo/shop/[id].ts and '/repo/shop/'", "[id].ts and '/repo/shop/'"],
  ["in /repo/shop: 3", "in .: 3"],
  ["/old/repo/shop/a.ts", "/old/repo/shop/a.ts"],
  ["file:///repo/shop/a.ts", "file:///repo/shop/a.ts"],
  ["/repo/shop2 and /repo/shop-old/x", "/repo/shop2 and /repo/shop-old/x"],
  ["nothing", "nothing"],
])("[V132] %j reads %j", (text, shown) => {
  expect(shortenPaths(text, SHOP)).toBe(shown);
});

it("[V132] a block's paths are shortened, and nothing else is", () => {
  const changes = [
    { path: "/repo/shop/a.ts", kind: "modify", movedTo: "/repo/shop/b.ts", diff: SHOP },
  ] as const;
  const command = "cat /repo/shop/a.ts";
  expect(
    withShortPaths({ changes: [...changes], command, cwd: "/repo/shop", turn: "/repo/shop/t" }, SHOP),
  ).toEqual({
    ...{ changes: [{ path: "a.ts", kind: "modify", movedTo: "b.ts", diff: SHOP }], command },
    ...{ cwd: undefined, turn: "/repo/shop/t" },
  });
  expect(folderLabel("/repo/shop/lib", SHOP)).toBe("lib");
});
