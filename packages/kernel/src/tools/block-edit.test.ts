/** block.edit, block.splice and block.apply_patch through the kernel: versions, units, older bases, large texts. */

import { describe, expect, it } from "vitest";
import { ann, bob, TestHarness } from "../testing/harness.ts";

const insert = (line: number, content: string) => ({ op: "insert", line, content });
const remove = (start_line: number, end_line: number, expected_text?: string) => ({
  op: "delete",
  start_line,
  end_line,
  ...(expected_text === undefined ? {} : { expected_text }),
});
const replace = (start_line: number, end_line: number, content: string, expected_text?: string) => ({
  ...remove(start_line, end_line, expected_text),
  op: "replace",
  content,
});

describe("block.edit", () => {
  it("[T23] a batch is one op and one undo step, whatever it holds", async () => {
    const harness = new TestHarness();
    const id = await harness.block(await harness.conversation(), "a\nb\nc\n");
    const operations = [replace(1, 2, "B", "b"), insert(0, "x"), remove(2, 3), insert(3, "end")];
    // The first edit also promotes the block, which is an op of its own.
    expect(await harness.ok("block.edit", { block_id: id, operations })).toEqual({
      version: 3,
      line_count: 4,
    });
    expect(await harness.text(id)).toBe("x\na\nB\nend\n");
    expect(await harness.ok("block.edit", { block_id: id, operations: [remove(0, 1)] })).toMatchObject({
      version: 4,
    });
    await harness.ok("block.undo", { block_id: id, count: 2 });
    expect(await harness.text(id)).toBe("a\nb\nc\n");
  });

  it("[T23] an edit that changes nothing writes nothing", async () => {
    const harness = new TestHarness();
    const id = await harness.block(await harness.conversation(), "a\nb\n");
    const before = await harness.everything();
    expect(await harness.ok("block.edit", { block_id: id, operations: [replace(0, 2, "a\nb")] })).toEqual({
      version: 1,
      line_count: 2,
    });
    expect(await harness.everything()).toBe(before);
  });

  it("[T23] the caller's streamed text comes first; ended blocks can be edited", async () => {
    const harness = new TestHarness();
    const id = await harness.block(await harness.conversation(), "");
    await harness.ok("block.append", { block_id: id, text: "str" });
    await harness.ok("block.append", { block_id: id, text: "eam" });
    await harness.ok("block.edit", { block_id: id, operations: [replace(0, 1, "STREAM", "stream")] });
    await harness.ok("block.status", { block_id: id, status: "done" });
    await harness.ok("block.edit", { block_id: id, operations: [insert(1, "more")] }, bob);
    expect(await harness.text(id)).toBe("STREAM\nmore");
  });

  it("[T20] lines of an older version are carried over edits, appends, undo and status changes", async () => {
    const harness = new TestHarness();
    const id = await harness.block(await harness.conversation(), "a\nb\nc\nd\n");
    const base_version = 1;
    await harness.ok("block.edit", { block_id: id, operations: [insert(0, "0")] }, bob);
    await harness.ok("block.append", { block_id: id, text: "e\n", wait: true });
    await harness.ok("block.edit", { block_id: id, operations: [replace(1, 2, "A")] }, bob);
    await harness.ok("block.undo", { block_id: id }, bob);
    await harness.ok("block.status", { block_id: id, status: "done" });
    expect(await harness.text(id)).toBe("0\na\nb\nc\nd\ne\n");
    await harness.ok("block.edit", {
      block_id: id,
      base_version,
      operations: [replace(2, 3, "C", "c"), insert(4, "end")],
    });
    expect(await harness.text(id)).toBe("0\na\nb\nC\nd\nend\ne\n");
    const stale = await harness.problem("block.edit", {
      block_id: id,
      base_version,
      operations: [remove(2, 3)],
    });
    expect(stale).toMatchObject({
      problem: "stale",
      details: { operation: 0, fresh: "C", fresh_start: 3, fresh_end: 4 },
    });
    const { version, fresh_start, fresh_end } = stale.details as Record<string, number>;
    // The problem carries enough to try again.
    const again = {
      block_id: id,
      base_version: version,
      operations: [remove(fresh_start!, fresh_end!, "C")],
    };
    await harness.ok("block.edit", again);
    expect(await harness.text(id)).toBe("0\na\nb\nd\nend\ne\n");
  });

  it("[T20] edits that meet in one batch, or while the log is read, are carried too", async () => {
    const harness = new TestHarness();
    const id = await harness.block(await harness.conversation(), "a\nb\nc\n");
    const edits = ["x", "y", "z"].map((content) =>
      harness.ok(
        "block.edit",
        { block_id: id, base_version: 1, operations: [insert(1, content), insert(3, content)] },
        bob,
      ),
    );
    const streams = ["1\n", "2\n", "3\n"].map((text) =>
      harness.ok("block.append", { block_id: id, text, wait: true }),
    );
    const late = harness.ok("block.edit", {
      block_id: id,
      base_version: 1,
      operations: [replace(1, 2, "B", "b")],
    });
    await Promise.all([...edits, ...streams, late]);
    const lines = (await harness.text(id)).split("\n");
    expect(lines.filter((line) => "aBc123".includes(line)).join("")).toBe("aBc123");
    for (const each of ["x", "y", "z"]) expect(lines.filter((line) => line === each)).toHaveLength(2);
    expect(lines.indexOf("B") - lines.indexOf("a")).toBe(4);
  });

  it("[T21] a base version inside a merged run knows the lines before the run", async () => {
    const harness = new TestHarness({ merging: true });
    const id = await harness.block(await harness.conversation(), "a\nb\n");
    for (const text of ["c\n", "d\n", "e\n"])
      await harness.ok("block.append", { block_id: id, text, wait: true });
    expect((await harness.store.log(id, { version: 2 })).ops).toMatchObject([{ versionFrom: 2, version: 4 }]);
    await harness.ok("block.edit", { block_id: id, base_version: 3, operations: [replace(1, 2, "B", "b")] });
    for (const operation of [replace(2, 3, "C"), insert(4, "x")]) {
      expect(
        await harness.problem("block.edit", { block_id: id, base_version: 3, operations: [operation] }),
      ).toMatchObject({
        problem: "stale",
      });
    }
    await harness.ok("block.edit", { block_id: id, base_version: 4, operations: [replace(2, 3, "C", "c")] });
    expect(await harness.text(id)).toBe("a\nB\nC\nd\ne\n");
  });

  it("[T23] a base version before the compaction is gone", async () => {
    const harness = new TestHarness();
    const id = await harness.block(await harness.conversation(), "a\nb\n");
    await harness.ok("block.edit", { block_id: id, operations: [insert(0, "x")] });
    await harness.kernel.compact(id);
    const answer = await harness.problem("block.edit", {
      block_id: id,
      base_version: 1,
      operations: [insert(0, "y")],
    });
    expect(answer).toMatchObject({ problem: "gone", details: { version: 1, oldest_version: 3 } });
    await harness.ok("block.edit", { block_id: id, base_version: 3, operations: [insert(0, "y")] });
    expect(await harness.text(id)).toBe("y\nx\na\nb\n");
  });

  it("[T17] reaches the last line of 10 MB", async () => {
    const harness = new TestHarness();
    const line = "0123456789".repeat(5);
    const id = await harness.block(await harness.conversation(), `${line}\n`.repeat(200_000));
    await harness.ok("block.edit", { block_id: id, operations: [replace(199_999, 200_000, "last", line)] });
    expect(await harness.ok("block.read", { block_id: id, range: { start: 199_998 } })).toMatchObject({
      content: `199998\t${line}\n199999\tlast\n`,
      line_count: 200_000,
    });
  });
});

describe("block.splice", () => {
  it("[T24] counts UTF-8 bytes", async () => {
    const rows: [string, number, number, string, string][] = [
      ["héllo", 1, 2, "e", "hello"],
      ["héllo", 3, 0, "X", "héXllo"],
      ["a😀b", 1, 4, "", "ab"],
      ["a😀b", 5, 1, "c", "a😀c"],
      ["日本語", 3, 3, "x", "日x語"],
      ["", 0, 0, "x", "x"],
      ["ab", 2, 0, "c", "abc"],
      ["a\r\nb", 1, 1, "", "a\nb"],
      ["e\u0301", 1, 0, "x", "ex\u0301"],
      ["a\n", 2, 0, "b", "a\nb"],
    ];
    for (const [text, offset, delete_count, insertion, expected] of rows) {
      const harness = new TestHarness();
      const id = await harness.block(await harness.conversation(), text);
      const answer = await harness.ok("block.splice", {
        block_id: id,
        offset,
        delete_count,
        insert: insertion,
      });
      expect(await harness.text(id)).toBe(expected);
      expect(answer["byte_length"]).toBe(new TextEncoder().encode(expected).length);
    }
  });

  it("[T24] agrees with a Buffer on random texts", async () => {
    const harness = new TestHarness();
    const id = await harness.block(await harness.conversation(), "aé日😀\n\r\n");
    let bytes = Buffer.from("aé日😀\n\r\n");
    for (let round = 0; round < 200; round++) {
      const offset = harness.env.random() % (bytes.length + 1);
      const delete_count = harness.env.random() % 6;
      const insertion = ["", "x", "é", "😀", "日\n"][harness.env.random() % 5] as string;
      const isBoundary = (at: number) => at === bytes.length || (bytes[at]! & 0xc0) !== 0x80;
      const end = offset + delete_count;
      const answer = await harness.ask("block.splice", {
        block_id: id,
        offset,
        delete_count,
        insert: insertion,
      });
      if (end > bytes.length || !isBoundary(offset) || !isBoundary(end)) {
        expect(answer).toMatchObject({ problem: expect.stringMatching(/boundary|out_of_range/) });
      } else {
        bytes = Buffer.concat([bytes.subarray(0, offset), Buffer.from(insertion), bytes.subarray(end)]);
        expect(answer).toMatchObject({ byte_length: bytes.length });
      }
      expect(await harness.text(id)).toBe(bytes.toString());
    }
  });

  it("[T25] offsets of an older version are mapped; changed text is stale", async () => {
    const harness = new TestHarness();
    const id = await harness.block(await harness.conversation(), "é one two");
    await harness.ok("block.splice", { block_id: id, offset: 0, insert: "日" }, bob);
    await harness.ok("block.splice", {
      block_id: id,
      base_version: 1,
      offset: 7,
      delete_count: 3,
      insert: "2",
    });
    expect(await harness.text(id)).toBe("日é one 2");
    const gone = { block_id: id, base_version: 1, offset: 8, delete_count: 2, insert: "?" };
    expect(await harness.problem("block.splice", gone)).toMatchObject({
      problem: "stale",
      details: { byte_length: 11 },
    });
    expect(await harness.problem("block.splice", { ...gone, delete_count: 0 })).toMatchObject({
      problem: "stale",
    });
  });

  it("[T24] splices at the end of 10 MB", async () => {
    const harness = new TestHarness();
    const id = await harness.block(await harness.conversation(), "é😀\n".repeat(1_000_000));
    await harness.ok("block.splice", { block_id: id, offset: 7_000_000 - 1, delete_count: 1, insert: "!" });
    const whole = await harness.text(id);
    expect(whole.slice(-5)).toBe("\né😀!");
  });
});

describe("block.apply_patch", () => {
  it("[T28] applies as one unit, or says hunk by hunk why not", async () => {
    const harness = new TestHarness();
    const id = await harness.block(await harness.conversation(), "a\nb\nc\nd\n");
    const patch = "@@ -1,2 +1,2 @@\n-a\n+A\n b\n@@ -4,1 +4,2 @@\n d\n+e\n";
    const hunks = [
      { line: 0, offset: 0, added: 1, removed: 1 },
      { line: 3, offset: 0, added: 1, removed: 0 },
    ];
    const before = await harness.everything();
    expect(await harness.ok("block.apply_patch", { block_id: id, patch, dry_run: true })).toEqual({
      success: true,
      version: 1,
      hunks,
    });
    expect(await harness.everything()).toBe(before);
    expect(await harness.ok("block.apply_patch", { block_id: id, patch })).toEqual({
      success: true,
      version: 3,
      hunks,
    });
    expect(await harness.text(id)).toBe("A\nb\nc\nd\ne\n");
    const dry = await harness.ok("block.apply_patch", {
      block_id: id,
      patch: "@@ -1 +1 @@\n-a\n+x\n@@ -3 +3 @@\n-c\n+x\n@@ -5 +5 @@\n-f\n+x\n",
      dry_run: true,
    });
    expect(dry).toMatchObject({ success: false, version: 3, errors: [{ hunk: 0 }, { hunk: 2 }] });
    await harness.ok("block.undo", { block_id: id });
    expect(await harness.text(id)).toBe("a\nb\nc\nd\n");
  });

  it("[T28] a patch that changes nothing writes nothing", async () => {
    const harness = new TestHarness();
    const id = await harness.block(await harness.conversation(), "a\n");
    const before = await harness.everything();
    expect(
      await harness.ok("block.apply_patch", { block_id: id, patch: "@@ -1 +1 @@\n-a\n+a\n" }),
    ).toMatchObject({ version: 1 });
    expect(await harness.everything()).toBe(before);
  });

  it("[T30] works on CRLF, on texts without a final newline, on the empty text", async () => {
    const harness = new TestHarness();
    const c = await harness.conversation();
    const rows: [string, string, string][] = [
      ["a\r\nb\r\n", "@@ -1,2 +1,2 @@\n a\n-b\n+B\n", "a\r\nB\r\n"],
      ["a\nb", "@@ -1,2 +1,2 @@\n a\n-b\n+B\n", "a\nB"],
      ["", "@@ -0,0 +1 @@\n+a\n", "a\n"],
      ["😀\n", "@@ -1 +1 @@\n-😀\n+😁\n", "😁\n"],
    ];
    for (const [text, patch, expected] of rows) {
      const id = await harness.block(c, text, ann);
      await harness.ok("block.apply_patch", { block_id: id, patch }, bob);
      expect(await harness.text(id)).toBe(expected);
    }
  });

  it("[T27] finds a moved hunk in 10 MB", async () => {
    const harness = new TestHarness();
    const text = Array.from({ length: 200_000 }, (_, i) => `line ${i} ${"x".repeat(40)}\n`).join("");
    const id = await harness.block(await harness.conversation(), text);
    const old = `line 150000 ${"x".repeat(40)}`;
    await harness.ok("block.apply_patch", {
      block_id: id,
      patch: `@@ -100000,1 +100000,1 @@\n-${old}\n+new\n`,
    });
    expect((await harness.text(id)).includes("\nnew\nline 150001")).toBe(true);
  });
});
