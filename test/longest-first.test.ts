import { existsSync } from "node:fs";
import { expect, it } from "vitest";
import { LONG, longFirst } from "./longest-first.ts";

const ROOT = new URL("../", import.meta.url);

it.each(LONG)("%s is there", (path) => {
  expect(existsSync(new URL(path, ROOT))).toBe(true);
});

it("begins with slow files, in each project, and keeps the order of the rest", () => {
  const [longest = "", next = ""] = LONG;
  const files = ["e2e /r/b.ts", "e2e /r/a.ts", `e2e /r/${next}`, `e2e /r/${longest}`, "unit /r/c.ts"];
  expect(longFirst(files, (file) => file.split(" ") as [string, string])).toEqual([
    `e2e /r/${longest}`,
    `e2e /r/${next}`,
    "e2e /r/b.ts",
    "e2e /r/a.ts",
    "unit /r/c.ts",
  ]);
});
