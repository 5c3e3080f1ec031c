/** Listings: what they leave out, and their limits. */
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { isProblem } from "@blockyard/kernel";
import { afterEach, describe, expect, it } from "vitest";
import { Lab } from "../testing/lab.ts";
import { IgnoreStack } from "./ignore-rules.ts";
import { type ListingOptions, listFolder } from "./listing.ts";

let lab: Lab;
afterEach(() => lab.stop());

async function list(path: string, options: Partial<ListingOptions> = {}) {
  const place = await lab.files.locate(path, true);
  if (isProblem(place)) return place.problem;
  const all = { depth: 1, limit: 500, ignored: false, ...options };
  const listing = await listFolder(lab.files.root, place, all, lab.files.bounds);
  return isProblem(listing) ? listing.problem : listing;
}

async function paths(path: string, options: Partial<ListingOptions> = {}): Promise<readonly string[]> {
  const listing = await list(path, options);
  if (typeof listing === "string") throw new Error(listing);
  return listing.entries.map((entry) => entry.path);
}

describe("[F6] a listing", () => {
  it("has names, types and sizes, in order, and leaves out what nobody opens", async () => {
    lab = await Lab.start();
    lab.put("b.txt", "12345");
    lab.put("a/c.txt", "");
    lab.put(".git/config", "");
    lab.put("a/.git", "gitdir: elsewhere");
    lab.put("a/.blockyard-1-0123456789ab.tmp", "");
    symlinkSync("b.txt", join(lab.root, "link"));
    expect(await list(".", { depth: 3 })).toEqual({
      entries: [
        { path: "a", type: "folder" },
        { path: "b.txt", type: "file", bytes: 5 },
        { path: "link", type: "link" },
        { path: "a/c.txt", type: "file", bytes: 0 },
      ],
      more: false,
    });
    expect(await paths("a")).toEqual(["a/c.txt"]);
    expect([await list(".git"), await list("home"), await list("not-there"), await list("b.txt")]).toEqual([
      "forbidden",
      "forbidden",
      "not_found",
      "invalid",
    ]);
  });

  it("keeps to .gitignore files, those further down last", async () => {
    lab = await Lab.start();
    lab.put(".gitignore", "*.log\n/dist/\nnode_modules/\n!keep.log\nlogs/\n");
    lab.put("src/.gitignore", "!debug.log\ntmp\n");
    for (const path of [
      "a.log",
      "keep.log",
      "dist/x",
      "src/dist/x",
      "src/debug.log",
      "src/a.log",
      "src/tmp",
      "tmp",
    ])
      lab.put(path, "");
    for (const path of ["node_modules/p/i.js", "src/node_modules/p.js", "logs/a.txt"]) lab.put(path, "");
    const shown = [".gitignore", "keep.log", "src", "tmp"];
    const below = ["src/.gitignore", "src/debug.log", "src/dist", "src/dist/x"];
    expect(await paths(".", { depth: 5 })).toEqual([...shown, ...below]);
    expect(await paths("src", { depth: 5 })).toEqual(below);
    expect(await paths(".", { depth: 5, ignored: true })).toHaveLength(20);
  });

  it("is bounded in entries and depth, and says so", async () => {
    lab = await Lab.start();
    for (let i = 0; i < 60; i++) lab.put(`d/f${String(i).padStart(2, "0")}`, "");
    mkdirSync(join(lab.root, "e/e/e/e/e"), { recursive: true });
    const cut = await list(".", { depth: 9, limit: 10 });
    expect(cut).toMatchObject({ more: true });
    expect(typeof cut === "string" ? [] : cut.entries).toHaveLength(10);
    expect(await list("d", { limit: 60 })).toMatchObject({ more: false });
    expect(await paths("e", { depth: 2 })).toEqual(["e/e", "e/e/e"]);
  });

  it("of patterns that would take for ever takes no time", async () => {
    lab = await Lab.start();
    const hostile = [
      "*a*a*a*a*a*a*a*a*a*a*b",
      "a?a?a?a?a?a?a?a?a?a?a?b",
      "[a-z][a-z][a-z][a-z][a-z]*b",
      "**/a/**/a/**/a/**/a/**/b",
    ];
    lab.put(".gitignore", [...hostile, "x".repeat(100_000), "ignored"].join("\n"));
    lab.put("ignored", "");
    for (let i = 0; i < 50; i++) lab.put(`${"a".repeat(200 + i)}`, "");
    const began = performance.now();
    expect(await paths(".")).not.toContain("ignored");
    expect(performance.now() - began).toBeLessThan(2_000);
  });

  it("with the longest pattern, on the longest names, ends", () => {
    const rules = new IgnoreStack().with("", "*a*a*a*b\n**/*a*a/b\n");
    const began = performance.now();
    for (let i = 0; i < 20; i++) expect(rules.ignores(`${"a".repeat(250)}/${"a".repeat(250)}c`)).toBe(false);
    expect(performance.now() - began).toBeLessThan(5_000);
  });
});
