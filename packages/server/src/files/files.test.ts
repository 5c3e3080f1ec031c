/** Opening, saving, and concurrent changes, on a real disk. */
import { chmodSync, chownSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isProblem } from "@blockyard/kernel";
import { afterEach, describe, expect, it } from "vitest";
import { Lab } from "../testing/lab.ts";

let lab: Lab;
afterEach(() => lab.stop());

const TEN = Array.from({ length: 10 }, (_, i) => `line ${i}\n`).join("");

describe("opening", () => {
  it("[F1] returns one block for a path, however it is written and whoever is first", async () => {
    lab = await Lab.start();
    lab.put("src/a.ts", "one\n");
    const ids = await Promise.all(["src/a.ts", "./src//a.ts", "src/./a.ts"].map((path) => lab.open(path)));
    expect(new Set(ids).size).toBe(1);
    expect(await lab.block(ids[0] as string)).toMatchObject({
      kind: "file",
      agent: "disk",
      version: 1,
      metadata: { path: "src/a.ts", language: "typescript", persistedVersion: 1, eol: "lf" },
    });
    await lab.restart();
    expect(await lab.open("src/a.ts")).toBe(ids[0]);
  });

  it("[F2] makes a file with its folders, and never in the place of one that is there", async () => {
    lab = await Lab.start();
    expect(await lab.refusal("new/deep/a.txt")).toMatchObject({ problem: "not_found" });
    const id = await lab.open("new/deep/a.txt", { create: true, content: "hello\n" });
    expect(lab.disk("new/deep/a.txt")).toBe("hello\n");
    expect(await lab.text(id)).toBe("hello\n");
    lab.put("b.txt", "mine\n");
    const there = await lab.open("b.txt", { create: true, content: "other\n" });
    expect(await lab.text(there)).toBe("mine\n");
    expect(lab.disk("b.txt")).toBe("mine\n");
  });

  it("[F3] keeps every byte outside of its edits", async () => {
    lab = await Lab.start();
    const rows: readonly (readonly [string, string, string])[] = [
      ["crlf", "a\r\nX\r\nc\r\n", "a\r\nY\r\nc\r\n"],
      ["mixed", "a\nX\r\nc\rd", "a\nY\r\nc\rd"],
      ["no-end", "a\nX", "a\nY"],
      ["bom", "\ufeffX\n", "\ufeffY\n"],
      ["bom-crlf", "\ufeffa\r\nX", "\ufeffa\r\nY"],
      ["odd", "\u00e9\ud83d\ude00X\u2028\u0001\u007f", "\u00e9\ud83d\ude00Y\u2028\u0001\u007f"],
      ["decomposed", "e\u0301X", "e\u0301Y"],
    ];
    for (const [name, before, after] of rows) {
      lab.put(name, before);
      const id = await lab.open(name);
      await lab.edit(id, "X", "Y");
      expect(await lab.files.flush(id)).toBeUndefined();
      expect([name, lab.disk(name)]).toEqual([name, after]);
    }
    expect(await lab.metadata(await lab.open("bom"))).toMatchObject({ encoding: "utf-8-bom" });
    expect(await lab.text(await lab.open("bom"))).toBe("Y\n");
    expect(await lab.metadata(await lab.open("crlf"))).toMatchObject({ eol: "crlf" });
  });
});

describe("saving", () => {
  it("[F8] an edit makes it dirty, a save that nothing overtakes makes it clean", async () => {
    lab = await Lab.start();
    lab.put("a.txt", TEN);
    const id = await lab.open("a.txt");
    await lab.edit(id, "line 3", "LINE 3");
    const { version } = await lab.block(id);
    expect((await lab.metadata(id)).persistedVersion).toBeLessThan(version);
    await lab.saved(id);
    expect(lab.disk("a.txt")).toBe(TEN.replace("line 3", "LINE 3"));
    const after = await lab.block(id);
    expect(after.metadata["persistedVersion"]).toBe(after.version);
  });

  it("[F7] endless edits are saved anyway", async () => {
    lab = await Lab.start({ bounds: { flushMs: 60_000, flushMostMs: 50 } });
    lab.put("a.txt", "0\n");
    const id = await lab.open("a.txt");
    let edits = 0;
    const saved = lab.until(id, (block) => (block.metadata["persistedVersion"] as number) > 1);
    let isSaved = false;
    void saved.then(() => {
      isSaved = true;
    });
    while (!isSaved) {
      await lab.edit(id, `${edits}`, `${edits + 1}`);
      edits++;
    }
    expect(edits).toBeGreaterThan(5);
  });

  it("[F10] keeps the mode", async () => {
    lab = await Lab.start();
    for (const mode of [0o644, 0o755, 0o600, 0o664]) {
      lab.put("run.sh", "a\n");
      chmodSync(join(lab.root, "run.sh"), mode);
      const id = await lab.open("run.sh");
      await lab.files.touch(id);
      await lab.edit(id, "a", "b");
      expect(await lab.files.flush(id)).toBeUndefined();
      expect(lab.disk("run.sh")).toBe("b\n");
      expect(statSync(join(lab.root, "run.sh")).mode & 0o7777).toBe(mode);
      lab.put("run.sh", "a\n");
      await lab.until(id, (_, text) => text === "a\n");
    }
  });

  it.skipIf(process.getuid?.() !== 0)("[F10] keeps the owner, where that is allowed", async () => {
    lab = await Lab.start();
    lab.put("a.txt", "a\n");
    const place = join(lab.root, "a.txt");
    chownSync(place, 1_234, 2_345);
    chmodSync(place, 0o2755);
    const id = await lab.open("a.txt");
    await lab.edit(id, "a", "b");
    await lab.saved(id);
    const { uid, gid, mode } = statSync(place);
    expect([lab.disk("a.txt"), uid, gid, mode & 0o7777]).toEqual(["b\n", 1_234, 2_345, 0o2755]);
  });

  it.skipIf(process.getuid?.() === 0)("[F10] leaves a file without write permission alone", async () => {
    lab = await Lab.start();
    lab.put("a.txt", "a\n");
    chmodSync(join(lab.root, "a.txt"), 0o444);
    const id = await lab.open("a.txt");
    await lab.edit(id, "a", "b");
    expect(await lab.files.flush(id)).toMatchObject({ problem: "forbidden" });
    expect(lab.disk("a.txt")).toBe("a\n");
  });

  it("[F12] edits unsaved when the process died are saved at the next start", async () => {
    lab = await Lab.start({ bounds: { flushMs: 600_000, flushMostMs: 600_000 } });
    lab.put("a.txt", TEN);
    const id = await lab.open("a.txt");
    await lab.edit(id, "line 9", "last");
    await lab.restart({ isKilled: true });
    await lab.saved(id);
    expect(lab.disk("a.txt")).toBe(TEN.replace("line 9", "last"));
  });

  it("[F12] a graceful stop saves everything", async () => {
    lab = await Lab.start({ bounds: { flushMs: 600_000, flushMostMs: 600_000 } });
    const ids = await Promise.all(
      Array.from({ length: 20 }, (_, i) => lab.open(`f${i}.txt`, { create: true, content: `${i}\n` })),
    );
    for (const id of ids) await lab.edit(id, "\n", " edited\n");
    await lab.files.close();
    for (let i = 0; i < 20; i++) expect(lab.disk(`f${i}.txt`)).toBe(`${i} edited\n`);
  });

  it("[F11] removes a killed process's temporary files, and nothing else", async () => {
    lab = await Lab.start();
    lab.put("src/a.txt", "a\n");
    await lab.open("src/a.txt");
    const left = ".blockyard-4194304-0123456789ab.tmp"; // over the largest process number there is
    const others = [
      ".blockyard-1-0123456789ab.tmp",
      ".blockyard-x.tmp",
      ".blockyard-4194304-0123456789ab.tmp.txt",
    ];
    for (const name of [left, ...others]) lab.put(`src/${name}`, "half");
    await lab.restart();
    await lab.files.close();
    expect(readdirSync(join(lab.root, "src")).sort()).toEqual([...others, "a.txt"].sort());
    expect(lab.logged.filter(({ event }) => event.startsWith("removed temporary"))).toHaveLength(1);
  });

  it("a disk that fails while a file is saved ends nothing else, and is said until it is over", async () => {
    lab = await Lab.start({ bounds: { retryMs: 20 } });
    lab.put("a.txt", "a\n");
    const id = await lab.open("a.txt");
    const { root } = lab.files;
    const open = root.folder.bind(root);
    root.folder = async () => {
      throw Object.assign(new Error("EIO: i/o error"), { code: "EIO" });
    };
    await lab.edit(id, "a", "b");
    expect(await lab.files.flush(id)).toMatchObject({ problem: "unavailable", details: { error: "EIO" } });
    expect(lab.files.failureOf(id)).toMatchObject({ problem: "unavailable" });
    root.folder = open;
    await lab.saved(id);
    expect(lab.disk("a.txt")).toBe("b\n");
    expect(lab.logged.filter(({ event }) => event === "a file could not be saved")).toHaveLength(1);
  });

  it("a failed save is reported, retried, and succeeds when it can", async () => {
    lab = await Lab.start({ bounds: { retryMs: 20 } });
    lab.put("d/a.txt", "a\n");
    const id = await lab.open("d/a.txt");
    rmSync(join(lab.root, "d"), { recursive: true });
    writeFileSync(join(lab.root, "d"), "a file in the place of the folder");
    await lab.edit(id, "a", "b");
    await lab.until(id, (block) => block.metadata["conflict"] !== undefined);
    rmSync(join(lab.root, "d"));
    lab.put("d/a.txt", "a\n");
    await lab.saved(id);
    expect(lab.disk("d/a.txt")).toBe("b\n");
  });
});

describe("the other side", () => {
  it("[F13] a change on the disk is a write of disk, of the lines that have changed", async () => {
    lab = await Lab.start();
    lab.put("a.txt", TEN);
    const id = await lab.open("a.txt");
    await lab.edit(id, "line 2", "two");
    await lab.files.flush(id);
    const before = (await lab.block(id)).version;
    lab.put("a.txt", (lab.disk("a.txt") as string).replace("line 7", "seven"));
    await lab.until(id, (_, text) => text.includes("seven"));
    const log = await lab.kernel.log(id, { version: before });
    if (isProblem(log)) throw new Error(log.message);
    const splices = log.ops.flatMap(({ agent, body }) =>
      body.type === "splice" ? [{ agent, ...body.splices[0] }] : [],
    );
    expect(splices).toEqual([{ agent: "disk", at: expect.any(Number), del: "line 7", ins: "seven" }]);
    const undone = await lab.kernel.writeBlock(id, { agent: "ann", plan: (draft) => draft.undo(id, "undo") });
    expect(isProblem(undone)).toBe(false);
    await lab.saved(id);
    expect(lab.disk("a.txt")).toBe(TEN.replace("line 7", "seven"));
  });

  it("[F14] changes of both sides that do not overlap are joined, on both sides", async () => {
    lab = await Lab.start({ bounds: { flushMs: 600_000, flushMostMs: 600_000 } });
    lab.put("a.txt", TEN);
    const id = await lab.open("a.txt");
    await lab.edit(id, "line 1", "ONE");
    lab.put("a.txt", TEN.replace("line 8", "EIGHT"));
    expect(await lab.files.flush(id)).toBeUndefined();
    const both = TEN.replace("line 1", "ONE").replace("line 8", "EIGHT");
    expect(await lab.text(id)).toBe(both);
    expect(lab.disk("a.txt")).toBe(both);
  });

  it("[F15] changes that overlap are a conflict, and nothing is written to either side", async () => {
    lab = await Lab.start();
    const id = await conflicted();
    expect(await lab.text(id)).toBe(TEN.replace("line 4", "mine"));
    expect(lab.disk("a.txt")).toBe(TEN.replace("line 4", "theirs"));
    expect(await lab.metadata(id)).toMatchObject({
      conflict: { kind: "overlap", regions: [{ line: 4, lines: 1, diskLine: 4, diskLines: 1 }] },
    });
    await lab.edit(id, "line 9", "nine");
    expect(await lab.files.flush(id)).toBeUndefined();
    expect(lab.disk("a.txt")).toBe(TEN.replace("line 4", "theirs"));
  });

  it("[F16] a conflict survives a restart and ends with either text, or with another", async () => {
    lab = await Lab.start();
    const mine = TEN.replace("line 4", "mine");
    const theirs = TEN.replace("line 4", "theirs");
    const rows = [
      { take: "mine", content: undefined, text: mine },
      { take: "disk", content: undefined, text: theirs },
      { take: "text", content: `${theirs}and mine\n`, text: `${theirs}and mine\n` },
    ] as const;
    for (const { take, content, text } of rows) {
      const id = await conflicted();
      await lab.restart({ isKilled: true });
      expect((await lab.metadata(id)).conflict).toBeDefined();
      expect(await lab.files.resolve(id, { agent: "bob", take, content })).toBeUndefined();
      expect((await lab.metadata(id)).conflict).toBeUndefined();
      await lab.saved(id);
      expect([await lab.text(id), lab.disk("a.txt")]).toEqual([text, text]);
    }
  });

  it("[F16] text lost by taking the disk's version can be restored with undo by the same caller", async () => {
    lab = await Lab.start();
    const id = await conflicted();
    await lab.files.resolve(id, { agent: "bob", take: "disk" });
    await lab.kernel.writeBlock(id, { agent: "bob", plan: (draft) => draft.undo(id, "undo") });
    await lab.saved(id);
    expect(lab.disk("a.txt")).toBe(TEN.replace("line 4", "mine"));
  });

  it("[F16] overwritten disk content is stored as a blob of its hash", async () => {
    lab = await Lab.start();
    const id = await conflicted();
    const { diskHash } = (await lab.metadata(id)).conflict as unknown as { diskHash: string };
    expect(await lab.files.resolve(id, { agent: "bob", take: "mine", diskHash })).toBeUndefined();
    expect(lab.disk("a.txt")).toContain("mine");
    const kept = await lab.store.blob(diskHash);
    expect(Buffer.from(kept?.bytes ?? []).toString()).toBe(TEN.replace("line 4", "theirs"));
  });

  it("[F16] binary content is overwritten by nobody", async () => {
    lab = await Lab.start();
    const id = await conflicted();
    lab.put("a.txt", Buffer.from([0, 1, 2]));
    for (const take of ["mine", "disk", "text"] as const)
      expect(await lab.files.resolve(id, { agent: "bob", take, content: "x" })).toMatchObject({
        problem: "conflict",
      });
    expect(lab.disk("a.txt")).toBe("\0\u0001\u0002");
  });

  it("[F16] an outdated hash is refused; without a conflict there is nothing to end", async () => {
    lab = await Lab.start();
    const id = await conflicted();
    const { conflict } = await lab.metadata(id);
    const { diskHash } = conflict as unknown as { diskHash: string };
    lab.put("a.txt", TEN.replace("line 4", "theirs again"));
    const ending = { agent: "bob", take: "mine", diskHash } as const;
    expect(await lab.files.resolve(id, ending)).toMatchObject({ problem: "stale" });
    expect(lab.disk("a.txt")).toContain("theirs again");
    expect(await lab.files.resolve(id, { agent: "bob", take: "mine" })).toBeUndefined();
    expect(await lab.files.resolve(id, { agent: "bob", take: "mine" })).toMatchObject({ problem: "nothing" });
  });

  it("[F16] a conflict ends by itself when the two sides no longer overlap", async () => {
    lab = await Lab.start();
    const id = await conflicted();
    lab.put("a.txt", TEN.replace("line 9", "nine"));
    await lab.saved(id);
    expect((await lab.metadata(id)).conflict).toBeUndefined();
    expect(lab.disk("a.txt")).toBe(TEN.replace("line 4", "mine").replace("line 9", "nine"));
  });

  it("[F17] a deleted file stays as a block and is not recreated; one that comes back is loaded", async () => {
    lab = await Lab.start();
    lab.put("a.txt", TEN);
    const id = await lab.open("a.txt");
    rmSync(join(lab.root, "a.txt"));
    await lab.until(id, (block) => block.metadata["missing"] === true);
    expect(await lab.files.flush(id)).toBeUndefined();
    expect(lab.disk("a.txt")).toBeUndefined();
    expect(await lab.text(id)).toBe(TEN);
    lab.put("a.txt", TEN.replace("line 0", "back"));
    await lab.until(id, (block, text) => text.startsWith("back") && block.metadata["missing"] === undefined);
  });

  it("[F17] one that is edited here and deleted on disk is a conflict, which either side can win", async () => {
    lab = await Lab.start();
    for (const take of ["mine", "disk"] as const) {
      lab.put("a.txt", TEN);
      const id = await lab.open("a.txt");
      await lab.until(id, (block) => block.metadata["missing"] === undefined);
      rmSync(join(lab.root, "a.txt"));
      await lab.edit(id, "line 5", "five");
      await lab.until(id, (block) => block.metadata["conflict"] !== undefined);
      expect((await lab.metadata(id)).conflict).toMatchObject({ kind: "deleted", diskHash: null });
      expect(await lab.files.resolve(id, { agent: "ann", take })).toBeUndefined();
      await lab.saved(id);
      expect(lab.disk("a.txt")).toBe(take === "mine" ? TEN.replace("line 5", "five") : undefined);
      rmSync(join(lab.root, "a.txt"), { force: true });
      await lab.files.touch(id);
    }
  });

  it("[F17] a deleted file is recreated on request", async () => {
    lab = await Lab.start();
    lab.put("a.txt", TEN);
    const id = await lab.open("a.txt");
    rmSync(join(lab.root, "a.txt"));
    expect(await lab.open("a.txt")).toBe(id);
    expect(lab.disk("a.txt")).toBeUndefined();
    expect(await lab.open("a.txt", { create: true })).toBe(id);
    expect(lab.disk("a.txt")).toBe(TEN);
    expect((await lab.metadata(id)).missing).toBeUndefined();
  });

  it("[F4] a file that turns into something else is a conflict until it is text again", async () => {
    lab = await Lab.start();
    lab.put("a.txt", TEN);
    const id = await lab.open("a.txt");
    lab.put("a.txt", Buffer.from([1, 0, 2]));
    await lab.until(id, (block) => block.metadata["conflict"] !== undefined);
    expect((await lab.metadata(id)).conflict).toMatchObject({ kind: "unreadable" });
    expect(await lab.text(id)).toBe(TEN);
    lab.put("a.txt", "text again\n");
    await lab.until(id, (block, text) => text === "text again\n" && block.metadata["conflict"] === undefined);
  });

  it("[F18] [R27] a write between load and save is never overwritten", async () => {
    lab = await Lab.start({ bounds: { flushMs: 600_000, flushMostMs: 600_000 } });
    lab.put("a.txt", TEN);
    const id = await lab.open("a.txt");
    for (let round = 0; round < 50; round++) {
      await lab.edit(id, "line 5", "mine");
      const theirs = `${round}\n${(lab.disk("a.txt") as string).split("\n").slice(1).join("\n")}`;
      lab.put("a.txt", theirs); // usually the same size, the same time as the last save
      expect(await lab.files.flush(id)).toBeUndefined();
      const disk = lab.disk("a.txt") as string;
      expect([disk.split("\n")[0], await lab.text(id)]).toEqual([`${round}`, disk]);
      await lab.edit(id, "mine", "line 5");
      expect(await lab.files.flush(id)).toBeUndefined();
    }
  });

  it("[F18] files that others move into place are noticed like those that they write into", async () => {
    lab = await Lab.start();
    lab.put("a.txt", TEN);
    const id = await lab.open("a.txt");
    for (let round = 0; round < 5; round++) {
      lab.put("a.txt.new", TEN.replace("line 6", `six ${round}`));
      renameSync(join(lab.root, "a.txt.new"), join(lab.root, "a.txt"));
      await lab.until(id, (_, text) => text.includes(`six ${round}\n`));
    }
  });
});

async function conflicted(): Promise<string> {
  lab.put("a.txt", TEN);
  const id = await lab.open("a.txt");
  await lab.until(id, (_, text) => text === TEN);
  await lab.saved(id);
  await lab.edit(id, "line 4", "mine");
  lab.put("a.txt", TEN.replace("line 4", "theirs"));
  await lab.until(id, (block) => block.metadata["conflict"] !== undefined);
  return id;
}
