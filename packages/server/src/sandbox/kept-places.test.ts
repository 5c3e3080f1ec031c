// What a program has replaced is put back, whatever became of the rest of the folder meanwhile.

import { mkdirSync, mkdtempSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { type KeptPath, putBack } from "./kept-places.ts";

function replacedLink(): { readonly root: string; readonly kept: KeptPath } {
  const root = mkdtempSync(join(tmpdir(), "blockyard-kept-"));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const kept = { path: join(root, "hook"), isFolder: false, link: "script" };
  writeFileSync(kept.path, "mine");
  return { root, kept };
}

it("[AC340] puts a link back, and keeps what stood there", () => {
  const { kept } = replacedLink();
  putBack([kept]);
  expect(readlinkSync(kept.path)).toBe("script");
});

it("[AC340] puts a link back though a folder and another link's folder are gone", () => {
  const { root, kept } = replacedLink();
  const gone = { path: join(root, "gone/held"), isFolder: true, isHeld: true } as const;
  putBack([gone, { path: join(root, "away/link"), isFolder: false, link: "x" }, kept]);
  expect(readlinkSync(kept.path)).toBe("script");
});

it("[AC340] puts a link back though another one cannot be, and says so", () => {
  const { root, kept } = replacedLink();
  mkdirSync(join(root, "loops"));
  symlinkSync("around", join(root, "loops/around"));
  const stuck = { path: join(root, "loops/around/below"), isFolder: false, link: "x" };
  expect(() => putBack([stuck, kept])).toThrow("ELOOP");
  expect(readlinkSync(kept.path)).toBe("script");
});
