/** Names of folders that tell them apart. */
import { expect, it } from "vitest";
import { nameAmong } from "./folder-name.ts";

it.each([
  ["/home/dev/shop", ["/home/dev/shop", "/home/dev/cart"], "shop"],
  ["/home/dev/shop", ["/home/dev/shop", "/srv/shop"], "dev/shop"],
  ["/srv/dev/shop", ["/srv/dev/shop", "/home/dev/shop", "/home/shop"], "/srv/dev/shop"],
  ["/shop", ["/shop", "/srv/shop"], "/shop"],
  ["/", ["/", "/shop"], "/"],
])("[V179] %s among %j is called %s", (path, paths, expected) => {
  expect(nameAmong(path, paths)).toBe(expected);
});
