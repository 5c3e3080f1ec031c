/** Folders are created with their parents, or the error comes at once. */
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { makeFolder } from "./folder.ts";

const base = mkdtempSync(join(tmpdir(), "blockyard-folder-"));
afterAll(() => rmSync(base, { recursive: true, force: true }));

describe("[AC54] a folder of our own", () => {
  it("is created with its parents, private, also twice", () => {
    const path = join(base, "a", "b", "c");
    makeFolder(path);
    makeFolder(path);
    expect(statSync(path).mode & 0o777).toBe(0o700);
  });

  it("is refused below a file", () => {
    writeFileSync(join(base, "file"), "");
    expect(() => makeFolder(join(base, "file", "below"))).toThrow("ENOTDIR");
    expect(() => makeFolder(join(base, "file"))).toThrow("EEXIST");
  });

  it.runIf(process.platform === "linux").each(["/proc/blockyard", "/proc/blockyard/below"])(
    "is refused at once: %s",
    (path) => {
      expect(() => makeFolder(path)).toThrow("ENOENT");
    },
  );
});
