/** The parts of the PostgreSQL store that need no server; everything else is in test/postgres. */
import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Commit } from "@blockyard/kernel";
import { StoreScript } from "@blockyard/kernel/store-contract";
import { describe, expect, it } from "vitest";
import { backup, restore } from "../../cli/backup.ts";
import { mergeRuns } from "../encoding/runs.ts";
import { refusal } from "./connections.ts";
import { byConversation, decide } from "./decide.ts";
import { asFault, isDropped, isOfValues, isTransient } from "./fault.ts";
import { keyOf, pack, packOps, pathRange, unpack, unpackOps } from "./rows.ts";
import { Versions } from "./versions.ts";

function commitOf(script: StoreScript, text: string): Commit {
  script.create({ text });
  return script.take();
}

const none = () => 0;

describe("[S28] what becomes of a group", () => {
  it("commits that follow each other are all accepted", () => {
    const script = new StoreScript("c");
    const commits = [commitOf(script, "1"), commitOf(script, "2"), commitOf(script, "3")];
    expect(decide(commits, 0, none)).toEqual({ accepted: commits, refused: new Map() });
  });

  it("of two on one number the first is accepted, and the second has moved", () => {
    const [first, second] = [new StoreScript("c"), new StoreScript("c", "bob")];
    const won = commitOf(first, "won");
    const lost = commitOf(second, "lost");
    const { accepted, refused } = decide([won, lost], 0, none);
    expect(accepted).toEqual([won]);
    expect(refused).toEqual(new Map([[lost, { type: "moved", seq: 1 }]]));
    expect(decide([won], 4, none).refused).toEqual(new Map([[won, { type: "moved", seq: 4 }]]));
  });

  it("a commit that no kernel makes is refused by itself", () => {
    const script = new StoreScript("c");
    const good = commitOf(script, "good");
    const broken = { ...good, blocks: [] };
    const { accepted, refused } = decide([broken, good], 0, none);
    expect(accepted).toEqual([good]);
    expect(refused.get(broken)).toMatchObject({ error: { name: "AssertionError" } });
  });

  it("conversations are decided one by one, in the order of their commits", () => {
    const scripts = [new StoreScript("a"), new StoreScript("b")];
    const commits = [0, 1, 0, 1].map((at) => commitOf(scripts[at] as StoreScript, "x"));
    const groups = byConversation(commits);
    expect([...groups.keys()]).toEqual(["a", "b"]);
    expect(groups.get("b")).toEqual([commits[1], commits[3]]);
  });
});

it("[S28] versions are cached only as long as the conversation's seq is unchanged", () => {
  const versions = new Versions();
  const script = new StoreScript("c");
  const block = script.create({ text: "1" });
  versions.committed(script.take());
  expect(versions.at("c", 1)?.get(block)).toBe(1);
  expect(versions.at("c", 2)).toBeUndefined();
  script.append(block, "2");
  versions.committed(script.take());
  expect(versions.at("c", 2)?.get(block)).toBe(2);
  script.append(block, "3");
  script.take(); // another node's
  script.append(block, "4");
  versions.committed({ ...script.take(), blocks: [] });
  expect(versions.at("c", 4)?.size).toBe(0);
  for (let i = 0; i < 2_000; i++) {
    const other = new StoreScript(`c${i}`);
    other.create();
    versions.committed(other.take());
  }
  expect(versions.at("c", 4)).toBeUndefined();
  expect(versions.at("c1999", 1)?.size).toBe(1);
});

describe("[S30] which failures are which", () => {
  const failure = (code: string | undefined, message = "no") => Object.assign(new Error(message), { code });

  it.each([
    ["57P01", true],
    ["08006", true],
    ["53300", true],
    ["25P03", true],
    ["ECONNRESET", true],
    ["ECONNREFUSED", true],
    ["28P01", false],
    ["3D000", false],
    ["40P01", false],
    ["23505", false],
    ["ERR_INVALID_ARG_TYPE", false],
  ])("a connection is lost with %s: %s", (code, isGone) => {
    expect(isDropped(failure(code))).toBe(isGone);
  });

  it("also where the driver has only words for it", () => {
    expect(isDropped(failure(undefined, "Connection terminated unexpectedly"))).toBe(true);
    expect(isDropped(failure(undefined, "Query read timeout"))).toBe(true);
    expect(isDropped(failure(undefined, "undefined is not a function"))).toBe(false);
  });

  it("what is in the way may go, what is wrong with a value stays with it", () => {
    expect(["40001", "40P01", "55P03"].every((code) => isTransient(failure(code)))).toBe(true);
    expect(isTransient(failure("57P01"))).toBe(false);
    expect(isOfValues(failure("22021"))).toBe(true);
    expect(isOfValues(failure("53100"))).toBe(false);
  });

  it.each([
    ["53100", "full"],
    ["XX001", "corrupt"],
    ["42P01", "corrupt"],
    ["57P01", "io"],
    ["ECONNREFUSED", "io"],
  ])("[S21] %s is reported as %s", (code, told) => {
    expect(asFault(failure(code), "commit")).toMatchObject({ name: "StoreError", code: told });
  });

  it("a bug stays one", () => {
    const bug = new TypeError("undefined is not a function");
    expect(asFault(bug, "commit")).toBe(bug);
  });
});

describe("[S31] what a server must have", () => {
  const good = { version: 15, durable: "on", fsync: "on", encoding: "UTF8", is_standby: false };

  it.each([
    [{}, undefined],
    [{ durable: "remote_apply" }, undefined],
    [{ version: 12 }, "13 or newer"],
    [{ durable: "off" }, "SET synchronous_commit = on"],
    [{ durable: "local" }, "SET synchronous_commit = on"],
    [{ fsync: "off" }, "SET fsync = on"],
    [{ encoding: "LATIN1" }, "ENCODING 'UTF8'"],
    [{ is_standby: true }, "primary"],
  ])("%j", (settings, fix) => {
    const found = refusal({ ...good, ...settings });
    if (fix === undefined) expect(found).toBeUndefined();
    else expect(found?.fix).toContain(fix);
  });
});

describe("[S33] names", () => {
  it("long ones are distinguished, and look like no short one", () => {
    const long = "x".repeat(5_000);
    const keys = [long, `${long}y`, "x".repeat(512), "x".repeat(513), "", "a\u0000b"].map((name) =>
      keyOf(name).toString("hex"),
    );
    expect(new Set(keys).size).toBe(keys.length);
    expect(Math.max(...keys.map((key) => key.length / 2))).toBe(513);
    expect(keyOf("é").toString()).toBe("é");
  });

  it.each(["src/", "src/é", "a\u0000", "😀", "x".repeat(600)])(
    "paths that begin with %j are in its range",
    (prefix) => {
      const { from, to } = pathRange(prefix) as { from: Buffer; to: Buffer };
      const indexed = (path: string) => Buffer.from(path).subarray(0, 512);
      const isIn = (path: string) =>
        Buffer.compare(indexed(path), from) >= 0 && Buffer.compare(indexed(path), to) < 0;
      expect(isIn(prefix)).toBe(true);
      expect(isIn(`${prefix}\u{10ffff}z`)).toBe(true);
      expect(isIn("")).toBe(false);
      expect(isIn(`z${prefix}`)).toBe(false);
      expect(pathRange("")).toBeUndefined();
    },
  );
});

it("[S5] ops are packed and unpacked, short ones unchanged and long ones smaller", () => {
  const script = new StoreScript("c");
  const block = script.create({ text: "a" });
  for (let i = 0; i < 500; i++) script.append(block, `piece ${i} `, 2);
  const { ops } = script.take();
  const chunk = packOps(mergeRuns(ops));
  expect(chunk).toMatchObject({ first: 1, last: 501, seq: 501 });
  expect(chunk.body.length).toBeLessThan(chunk.plain);
  expect(unpackOps(chunk, "c", block)).toEqual(mergeRuns(ops));
  for (const bytes of [
    Buffer.alloc(0),
    Buffer.from("short"),
    Buffer.alloc(9_000, "long "),
    Buffer.alloc(300, "x"),
  ])
    expect(unpack(pack(bytes)).equals(bytes)).toBe(true);
});

describe("[S31] [U8] if it is not requested", () => {
  const root = fileURLToPath(new URL("../..", import.meta.url));
  const sources = globSync("**/*.ts", { cwd: root }).filter((path) => !path.endsWith(".test.ts"));

  it("nothing of it is loaded: the others know its entry, which opens late", () => {
    const known = sources
      .filter((path) => !path.startsWith("stores/postgres/"))
      .flatMap(
        (path) =>
          readFileSync(`${root}${path}`, "utf8").match(/from "[./]*(?:stores)?\/postgres\/[\w.-]+"/g) ?? [],
      )
      .map((line) => line.replace(/^.*\//, "").replace('"', ""));
    expect(new Set(known)).toEqual(new Set(["named.ts"]));
    const source = readFileSync(`${root}stores/postgres/named.ts`, "utf8");
    expect(source.match(/^import (?!type).*from "(\.\/[^"]+|pg)"/gm) ?? []).toEqual([]);
  });

  it.each([
    [backup, /pg_dump .* postgres:\/\/yard@db.example\/blocks$/],
    [restore, /pg_restore .*postgres:\/\/yard@db.example\/blocks blockyard\.dump$/],
  ])("$name names the command of PostgreSQL that does it", async (command, told) => {
    const before = process.env["BLOCKYARD_DATABASE"];
    process.env["BLOCKYARD_DATABASE"] = "postgres://yard:s3cret@db.example/blocks";
    try {
      const args = command === backup ? [] : [fileURLToPath(import.meta.url)];
      await expect(command.run(args)).rejects.toThrow(told);
      await expect(command.run(args)).rejects.not.toThrow(/s3cret/);
    } finally {
      if (before === undefined) delete process.env["BLOCKYARD_DATABASE"];
      else process.env["BLOCKYARD_DATABASE"] = before;
    }
  });
});
