/** Small files of the data directory: whole or not at all. */
import fs, {
  chmodSync,
  fstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { Auth } from "../access/auth.ts";
import { readAddress, removeAddress, writeAddress } from "./address-file.ts";
import { createPrivate, writePrivate } from "./private-file.ts";

const folder = mkdtempSync(join(tmpdir(), "blockyard-private-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it("[AC10] are their owner's alone, replaced atomically, and created by one process only", () => {
  const path = join(folder, "a");
  expect(createPrivate(path, "first")).toBe(true);
  expect(createPrivate(path, "second")).toBe(false);
  expect(readFileSync(path, "utf8")).toBe("first");
  writePrivate(path, "third");
  expect(readFileSync(path, "utf8")).toBe("third");
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readdirSync(folder)).toEqual(["a"]);
});

it("[AC10] a failed write leaves the previous content, nothing beside it, and names the file", () => {
  const path = join(folder, "taken");
  mkdirSync(join(path, "inside"), { recursive: true });
  expect(() => writePrivate(path, "x")).toThrow(expect.objectContaining({ path, syscall: "rename" }));
  expect(readdirSync(folder)).toEqual(["a", "taken"]);
});

it("[AC10] a token file that a failed write left empty gets a new token; anything else stops the start", () => {
  const home = join(folder, "home");
  mkdirSync(home);
  writeFileSync(join(home, "token"), "", { mode: 0o600 });
  const { ownerToken } = new Auth(home, "ann", () => 0);
  expect(ownerToken).toMatch(/^[\w-]{43}$/);
  expect(new Auth(home, "ann", () => 0).ownerToken).toBe(ownerToken);
  writeFileSync(join(home, "token"), "x");
  expect(() => new Auth(home, "ann", () => 0)).toThrow("does not contain a token");
  chmodSync(join(home, "token"), 0o644);
  expect(() => new Auth(home, "ann", () => 0)).toThrow("is readable by others");
});

it("[AC53] the address of a server is read whole or not at all, and removed once", () => {
  const address = { url: "http://127.0.0.1:1", pid: 1, root: "/shop" };
  writeAddress(folder, address);
  expect(readAddress(folder)).toEqual(address);
  writeFileSync(join(folder, "server.json"), "{}");
  expect(readAddress(folder)).toBeUndefined();
  removeAddress(folder);
  removeAddress(folder);
  expect(readAddress(folder)).toBeUndefined();
});

/** What reaches the disk while something is done, in order. */
function synced(work: () => void): readonly string[] {
  const seen: string[] = [];
  const real = { fsyncSync: fs.fsyncSync, renameSync: fs.renameSync, unlinkSync: fs.unlinkSync };
  Object.assign(fs, {
    fsyncSync(file: number) {
      seen.push(fstatSync(file).isDirectory() ? "sync folder" : "sync file");
      real.fsyncSync(file);
    },
    renameSync(...given: Parameters<typeof fs.renameSync>) {
      real.renameSync(...given);
      seen.push("move");
    },
    unlinkSync(...given: Parameters<typeof fs.unlinkSync>) {
      real.unlinkSync(...given);
      seen.push("remove");
    },
  });
  syncBuiltinESMExports();
  try {
    work();
  } finally {
    Object.assign(fs, real);
    syncBuiltinESMExports();
  }
  return seen;
}

it("[AC263] tokens, links and sessions are on disk when they are created or bound, and gone from it when they are revoked", () => {
  const home = join(folder, "durable");
  mkdirSync(home);
  const auth = new Auth(home, "ann", () => 0);
  const written = ["sync file", "move", "sync folder"];
  const removed = ["remove", "sync folder"];
  let code = "";
  let id = "";
  expect(synced(() => void auth.create("codex-mcp", "agent"))).toEqual(written);
  expect(synced(() => void auth.revoke("codex-mcp"))).toEqual(written);
  expect(
    synced(() => {
      code = auth.makeLink();
    }),
  ).toEqual(written);
  expect(
    synced(() => {
      id = auth.trade(code, "x")?.session.id ?? "";
    }),
  ).toEqual([...removed, ...written]);
  expect(synced(() => void auth.sessions.revoke(id))).toEqual(removed);
  expect(auth.sessions.list()).toEqual([]);
});
