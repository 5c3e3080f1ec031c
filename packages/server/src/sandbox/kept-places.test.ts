// A program's replacements are reverted, whatever happened to the rest of the folder.

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

it("[AC340] restores a link, and keeps what replaced it", () => {
  const { kept } = replacedLink();
  putBack([kept]);
  expect(readlinkSync(kept.path)).toBe("script");
});

it("[AC340] restores a link though a folder and another link's folder are gone", () => {
  const { root, kept } = replacedLink();
  const gone = { path: join(root, "gone/held"), isFolder: true, isHeld: true } as const;
  putBack([gone, { path: join(root, "away/link"), isFolder: false, link: "x" }, kept]);
  expect(readlinkSync(kept.path)).toBe("script");
});

it("[AC340] restores a link though another one cannot be restored, and reports that", () => {
  const { root, kept } = replacedLink();
  mkdirSync(join(root, "loops"));
  symlinkSync("around", join(root, "loops/around"));
  const stuck = { path: join(root, "loops/around/below"), isFolder: false, link: "x" };
  expect(() => putBack([stuck, kept])).toThrow("ELOOP");
  expect(readlinkSync(kept.path)).toBe("script");
});
