/** The target of an export, and what happens to its previous content. */
import { execFileSync, spawn, spawnSync } from "node:child_process";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, expect, it } from "vitest";
import { CommandError } from "./command.ts";
import { writeWhole } from "./export.ts";

const MAIN = join(import.meta.dirname, "../main.ts");
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "blockyard-export-"));
});

afterEach(() => rmSync(folder, { recursive: true }));

async function* body(...pieces: readonly string[]) {
  yield* pieces;
}

it("[U19] a file is written whole, and nothing beside it changes", async () => {
  writeFileSync(join(folder, "a.html.part"), "mine");
  await writeWhole(join(folder, "a.html"), body("one ", "two"));
  expect(readFileSync(join(folder, "a.html"), "utf8")).toBe("one two");
  expect(readFileSync(join(folder, "a.html.part"), "utf8")).toBe("mine");
  expect(readdirSync(folder).toSorted()).toEqual(["a.html", "a.html.part"]);
});

it("[U19] a link stays a link, and a pipe a pipe", async () => {
  writeFileSync(join(folder, "real.html"), "old");
  symlinkSync("real.html", join(folder, "link.html"));
  await writeWhole(join(folder, "link.html"), body("new"));
  expect(lstatSync(join(folder, "link.html")).isSymbolicLink()).toBe(true);
  expect(readFileSync(join(folder, "real.html"), "utf8")).toBe("new");
  const pipe = join(folder, "pipe");
  execFileSync("mkfifo", [pipe]);
  const reader = spawn("cat", [pipe], { stdio: ["ignore", "pipe", "ignore"] });
  const read = text(reader.stdout);
  await writeWhole(pipe, body("through ", "it"));
  expect(await read).toBe("through it");
  expect(lstatSync(pipe).isFIFO()).toBe(true);
});

it("[U4] what cannot be written is one sentence, whatever the system calls it", async () => {
  mkdirSync(join(folder, "d"));
  writeFileSync(join(folder, "f"), "");
  for (const name of ["d", "d/", "f/x", "none/x", "n".repeat(300)])
    await expect(writeWhole(join(folder, name) + (name.endsWith("/") ? "/" : ""), body("x"))).rejects.toThrow(
      CommandError,
    );
  expect(readdirSync(folder).toSorted()).toEqual(["d", "f"]);
});

it.runIf(existsSync("/dev/full"))("[U4] a full output is one sentence too", () => {
  const { status, stderr } = spawnSync(process.execPath, [MAIN, "--version"], {
    stdio: ["ignore", openSync("/dev/full", "w"), "pipe"],
    encoding: "utf8",
  });
  expect([status, stderr]).toEqual([1, "blockyard: cannot write the output (ENOSPC)\n"]);
});

it("[U4] an invalid data directory is one sentence", () => {
  writeFileSync(join(folder, "file"), "");
  const args = [MAIN, "token", "list", "--home", join(folder, "file")];
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  expect(status).toBe(1);
  expect(stderr).toMatch(/^blockyard: cannot use \S+ \(EEXIST\)\. [^\n]*--home\n$/);
});
