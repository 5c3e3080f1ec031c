/** Where files may be: links, races, non-files, and repositories that try to run something. */
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { Lab } from "../testing/lab.ts";

let lab: Lab;
afterEach(() => lab.stop());

describe("[F4] what is no text that can be opened", () => {
  it("is refused with what to do about it, and stays unchanged", async () => {
    lab = await Lab.start();
    const rows: readonly (readonly [string, Uint8Array, string, string])[] = [
      ["utf16le", Buffer.from("\ufeffhello", "utf16le"), "invalid", "iconv -f UTF-16"],
      ["utf16be", Buffer.from([0xfe, 0xff, 0, 104]), "invalid", "iconv -f UTF-16"],
      ["utf16-bare", Buffer.from("hello", "utf16le"), "invalid", "binary"],
      ["binary", Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 0, 1]), "invalid", "binary"],
      ["late-zero", Buffer.concat([Buffer.alloc(100_000, "a"), Buffer.from([0])]), "invalid", "binary"],
      ["latin1", Buffer.from([0x66, 0xfc, 0x72]), "invalid", "iconv -f LATIN1"],
      ["cut", Buffer.from([0x61, 0xe2, 0x82]), "invalid", "not UTF-8"],
      ["surrogate", Buffer.from([0xed, 0xa0, 0x80]), "invalid", "not UTF-8"],
    ];
    for (const [name, bytes, code, words] of rows) {
      lab.put(name, bytes);
      const refused = await lab.refusal(name, { create: true });
      expect([name, refused.problem]).toEqual([name, code]);
      expect(refused.message).toContain(words);
      expect(readFileSync(join(lab.root, name)).equals(bytes)).toBe(true);
    }
  });

  it("over the bound, with the numbers", async () => {
    lab = await Lab.start();
    lab.put("huge", "");
    truncateSync(join(lab.root, "huge"), 10 * 1024 * 1024 + 1);
    expect(await lab.refusal("huge")).toMatchObject({
      problem: "too_large",
      details: { bytes: 10_485_761, max_bytes: 10_485_760 },
    });
    lab.put("large", "a".repeat(10 * 1024 * 1024));
    expect((await lab.block(await lab.open("large"))).chars).toBe(10_485_760);
  });

  it("pipes, devices, sockets and folders block nobody", async () => {
    lab = await Lab.start();
    spawnSync("mkfifo", [join(lab.root, "pipe")]);
    mkdirSync(join(lab.root, "folder"));
    for (const name of ["pipe", "folder"])
      expect(await lab.refusal(name)).toMatchObject({ problem: "invalid" });
    lab.put("a.txt", "a\n");
    const id = await lab.open("a.txt");
    rmSync(join(lab.root, "a.txt"));
    spawnSync("mkfifo", [join(lab.root, "a.txt")]);
    await lab.edit(id, "a", "b");
    await lab.until(id, (block) => block.metadata["conflict"] !== undefined);
    expect(statSync(join(lab.root, "a.txt")).isFIFO()).toBe(true);
  });
});

describe("[F24] links", () => {
  it("that lead inside are followed, and the file has its real path", async () => {
    lab = await Lab.start();
    lab.put("real/a.txt", "a\n");
    symlinkSync("real", join(lab.root, "folder-link"));
    symlinkSync("real/a.txt", join(lab.root, "file-link"));
    const ids = await Promise.all(
      ["real/a.txt", "folder-link/a.txt", "file-link"].map((path) => lab.open(path)),
    );
    expect(new Set(ids).size).toBe(1);
    await lab.edit(ids[0] as string, "a", "b");
    await lab.saved(ids[0] as string);
    expect(lab.disk("file-link")).toBe("b\n");
    expect(readFileSync(join(lab.root, "real/a.txt"), "utf8")).toBe("b\n");
  });

  it("that lead to the root itself are not files, and none is created for them", async () => {
    lab = await Lab.start();
    lab.put("folder/a.txt", "a\n");
    symlinkSync(".", join(lab.root, "root-link"));
    symlinkSync("..", join(lab.root, "folder/up"));
    const before = readdirSync(lab.root);
    for (const path of ["root-link", "folder/up"])
      expect(await lab.refusal(path, { create: true })).toMatchObject({ problem: "invalid" });
    expect(readdirSync(lab.root)).toEqual(before);
    expect((await lab.block(await lab.open("root-link/folder/a.txt"))).metadata["path"]).toBe("folder/a.txt");
  });

  it("[F23] that lead out, into .git, to the server's folder or to nothing are refused", async () => {
    lab = await Lab.start();
    lab.put(".git/config", "[core]\n");
    lab.put("home/token", "secret\n");
    writeFileSync(join(lab.outside, "secret"), "secret\n");
    const links: readonly (readonly [string, string])[] = [
      ["out-file", join(lab.outside, "secret")],
      ["out-folder", lab.outside],
      ["out-relative", "../outside/secret"],
      ["git", ".git"],
      ["git-config", ".git/config"],
      ["server", "home"],
      ["nowhere", "not-there"],
      ["out-nowhere", join(lab.outside, "new")],
      ["loop", "loop"],
    ];
    for (const [name, target] of links) symlinkSync(target, join(lab.root, name));
    for (const path of [
      "out-file",
      "out-folder/secret",
      "out-folder/new",
      "out-relative",
      "git/config",
      "git/hooks/pre-commit",
      "git-config",
      "server/token",
      "home/token",
      "nowhere",
      "out-nowhere",
      "loop",
      "loop/a",
    ]) {
      const refused = await lab.refusal(path, { create: true });
      expect([path, refused.problem]).toEqual([path, "forbidden"]);
    }
    expect(existsSync(join(lab.outside, "new"))).toBe(false);
    expect(existsSync(join(lab.root, "not-there"))).toBe(false);
    expect(lab.disk(".git/config")).toBe("[core]\n");
  });
});

describe("[F25] obstacles in the path", () => {
  it("a folder that becomes a link out after the file was opened redirects no write", async () => {
    lab = await Lab.start({ bounds: { flushMs: 600_000, flushMostMs: 600_000 } });
    lab.put("d/a.txt", "a\n");
    writeFileSync(join(lab.outside, "a.txt"), "a\n");
    const id = await lab.open("d/a.txt");
    await lab.edit(id, "a", "b");
    renameSync(join(lab.root, "d"), join(lab.root, "old"));
    symlinkSync(lab.outside, join(lab.root, "d"));
    await lab.files.flush(id);
    expect(readFileSync(join(lab.outside, "a.txt"), "utf8")).toBe("a\n");
    expect(lab.disk("old/a.txt")).toBe("a\n");
    expect((await lab.metadata(id)).conflict).toBeDefined();
  });

  it("a file that becomes a link is not written through", async () => {
    lab = await Lab.start({ bounds: { flushMs: 600_000, flushMostMs: 600_000 } });
    lab.put("a.txt", "a\n");
    writeFileSync(join(lab.outside, "target"), "a\n");
    const id = await lab.open("a.txt");
    await lab.edit(id, "a", "b");
    rmSync(join(lab.root, "a.txt"));
    symlinkSync(join(lab.outside, "target"), join(lab.root, "a.txt"));
    await lab.files.flush(id);
    expect(readFileSync(join(lab.outside, "target"), "utf8")).toBe("a\n");
  });

  it("of two names of one file, the saved one becomes a file of its own", async () => {
    lab = await Lab.start();
    writeFileSync(join(lab.outside, "a.txt"), "a\n");
    linkSync(join(lab.outside, "a.txt"), join(lab.root, "a.txt"));
    const id = await lab.open("a.txt");
    await lab.edit(id, "a", "b");
    await lab.saved(id);
    expect(lab.disk("a.txt")).toBe("b\n");
    expect(readFileSync(join(lab.outside, "a.txt"), "utf8")).toBe("a\n");
  });
});

const hasGit = spawnSync("git", ["--version"]).status === 0;

it.skipIf(!hasGit)("[F26] a repository's hooks, filters, monitors and editors are never run", async () => {
  lab = await Lab.start();
  const marker = join(lab.outside, "marker");
  const trap = join(lab.outside, "trap");
  writeFileSync(trap, `#!/bin/sh\ntouch ${marker}\ncat\n`);
  chmodSync(trap, 0o755);
  const git = (...args: string[]) => spawnSync("git", ["-C", lab.root, ...args], { encoding: "utf8" });
  expect(git("init", "-q").status).toBe(0);
  const settings = [
    "core.fsmonitor",
    "core.editor",
    "core.pager",
    "core.sshCommand",
    "core.askPass",
    "diff.external",
    "sequence.editor",
    "filter.trap.clean",
    "filter.trap.smudge",
    "filter.trap.process",
    "merge.trap.driver",
    "credential.helper",
    "gpg.program",
    "uploadpack.packObjectsHook",
  ];
  for (const name of settings) git("config", name, trap);
  for (const hook of [
    "pre-commit",
    "post-checkout",
    "post-index-change",
    "reference-transaction",
    "fsmonitor-watchman",
  ]) {
    lab.put(`.git/hooks/${hook}`, readFileSync(trap));
    chmodSync(join(lab.root, ".git/hooks", hook), 0o755);
  }
  lab.put(".gitattributes", "* filter=trap diff=trap merge=trap\n");
  lab.put("src/a.txt", "a\nb\nc\n");
  const id = await lab.open("src/a.txt");
  await lab.edit(id, "a", "A");
  lab.put("src/a.txt", "a\nb\nC\n");
  await lab.files.flush(id);
  await lab.open("src/new.txt", { create: true, content: "new\n" });
  await lab.open(".gitattributes");
  await lab.files.close();
  expect(lab.disk("src/a.txt")).toBe("A\nb\nC\n");
  expect(existsSync(marker)).toBe(false);
  git("status"); // the trap itself works
  expect(existsSync(marker)).toBe(true);
});
