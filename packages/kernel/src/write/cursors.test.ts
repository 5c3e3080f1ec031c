/** Cursors: where they are set, how edits move them, when they go. Through the tool that sets them. */

import { describe, expect, it } from "vitest";
import { limits } from "../model/limits.ts";
import { ann, bob, eve, TestHarness } from "../testing/harness.ts";

async function set(harness: TestHarness, block_id: string, head: object, more: object = {}, caller = eve) {
  return harness.ok("cursor.set", { block_id, head, ...more }, caller);
}

describe("cursor.set", () => {
  it("[T58] takes lines and columns or offsets, for readers too, and stores nothing", async () => {
    const harness = new TestHarness();
    const c = await harness.conversation();
    const id = await harness.block(c, "ab\n😀d\r\nend");
    const before = await harness.everything();
    const rows: [object, number][] = [
      [{ offset: 0 }, 0],
      [{ offset: 11 }, 11],
      [{ line: 0 }, 0],
      [{ line: 0, column: 2 }, 2],
      [{ line: 1, column: 2 }, 5],
      [{ line: 1, column: 4 }, 7],
      [{ line: 2, column: 3 }, 11],
      [{ line: 3 }, 11],
    ];
    for (const [head, offset] of rows) {
      expect(await set(harness, id, head)).toEqual({
        block_id: id,
        anchor: offset,
        head: offset,
        version: 1,
      });
    }
    await set(harness, id, { line: 1 }, { anchor: { offset: 1 } });
    expect(harness.cursors.of(c)).toEqual([{ agent: "eve", block: id, anchor: 1, head: 3 }]);
    expect(await harness.everything()).toBe(before);
    expect(await harness.ok("cursor.set", {}, eve)).toEqual({});
    expect(harness.cursors.of(c)).toEqual([]);
    const empty = await harness.block(c, "");
    expect(await harness.ok("cursor.set", { block_id: empty }, eve)).toMatchObject({ head: 0 });
  });

  it("[T58] an agent has one cursor; listeners get the conversations concerned", async () => {
    const harness = new TestHarness();
    const [c, d] = [await harness.conversation(), await harness.conversation()];
    const heard: string[] = [];
    const stop = harness.cursors.listen((conversation) => heard.push(conversation));
    const [a, b] = [await harness.block(c, "a"), await harness.block(d, "b")];
    await set(harness, a, { offset: 1 });
    await set(harness, b, { offset: 1 });
    await harness.ok("cursor.set", {}, eve);
    stop();
    await set(harness, a, { offset: 0 });
    expect(heard).toEqual([c, c, d, d]);
    expect(harness.cursors.of(d)).toEqual([]);
  });
});

describe("cursors", () => {
  it("[T59] stay with their text while others and streams write around them", async () => {
    const harness = new TestHarness();
    const c = await harness.conversation();
    const id = await harness.block(c, "hello world");
    const at = () => harness.cursors.of(c).map(({ anchor, head }) => [anchor, head])[0];
    await set(harness, id, { offset: 11 }, { anchor: { offset: 6 } });
    await harness.ok("block.splice", { block_id: id, offset: 0, insert: ">> " }, bob);
    expect(at()).toEqual([9, 14]);
    await harness.ok("block.append", { block_id: id, text: "!\n", wait: true });
    expect(at()).toEqual([9, 14]);
    await harness.ok("block.splice", { block_id: id, offset: 9, insert: "my " }, bob);
    expect(at()).toEqual([9, 17]);
    await harness.ok("block.splice", { block_id: id, offset: 5, delete_count: 9 }, bob);
    expect(at()).toEqual([5, 8]);
    await harness.ok("block.undo", { block_id: id }, bob);
    expect(at()).toEqual([5, 17]);
  });

  it("[T59] one's own text carries one's own cursor along", async () => {
    const harness = new TestHarness();
    const c = await harness.conversation();
    const id = await harness.block(c, "ab");
    await set(harness, id, { offset: 1 }, {}, bob);
    await harness.ok("block.splice", { block_id: id, offset: 1, insert: "XY" }, bob);
    await harness.ok("block.splice", { block_id: id, offset: 3, insert: "-" }, ann);
    expect(harness.cursors.of(c)).toMatchObject([
      { agent: "bob", head: 3 },
      { agent: "ann", head: 4 },
    ]);
  });

  it("[T62] an edit shows where its author is; a change on the disk has none", async () => {
    const harness = new TestHarness();
    const c = await harness.conversation();
    const id = await harness.block(c, "one\ntwo\nthree\n");
    const heard: string[] = [];
    harness.cursors.listen((conversation) => heard.push(conversation));
    const insert = (line: number, content: string) =>
      harness.ok("block.edit", { block_id: id, operations: [{ op: "insert", line, content }] }, bob);
    await insert(1, "between");
    expect(harness.cursors.of(c)).toEqual([{ agent: "bob", block: id, anchor: 12, head: 12 }]);
    await insert(4, "end");
    expect(harness.cursors.of(c)).toMatchObject([{ agent: "bob", head: 26 }]);
    expect(heard).toEqual([c, c]);
    // Changes at the cursor move it silently.
    await harness.ok("block.splice", { block_id: id, offset: 26, insert: "more" }, bob);
    expect(harness.cursors.of(c)).toMatchObject([{ agent: "bob", head: 30 }]);
    expect(heard).toHaveLength(2);
    await harness.ok(
      "block.splice",
      { block_id: id, offset: 0, insert: "x" },
      { agent: "disk", role: "owner" },
    );
    expect(harness.cursors.of(c)).toMatchObject([{ agent: "bob", head: 31 }]);
    await harness.env.advance(limits.cursorTtlMs);
    expect(harness.cursors.of(c)).toEqual([]);
  });

  it("[T59] positions of an older version are carried to the present one", async () => {
    const harness = new TestHarness();
    const c = await harness.conversation();
    const id = await harness.block(c, "hello");
    await harness.ok("block.splice", { block_id: id, offset: 0, insert: "éé" }, bob);
    expect(await set(harness, id, { offset: 5 }, { base_version: 1 })).toMatchObject({ head: 7, version: 3 });
    await harness.kernel.compact(id);
    expect(await harness.problem("cursor.set", { block_id: id, base_version: 1 })).toMatchObject({
      problem: "gone",
    });
  });

  it("[T60] expire after a minute without news, and only a limited number is kept", async () => {
    const harness = new TestHarness();
    const c = await harness.conversation();
    const id = await harness.block(c, "abc");
    await set(harness, id, { offset: 1 });
    await harness.env.advance(limits.cursorTtlMs - 1);
    await set(harness, id, { offset: 2 }, {}, bob);
    const heard: string[] = [];
    harness.cursors.listen((conversation) => heard.push(conversation));
    await harness.env.advance(1);
    expect(heard).toEqual([c]);
    expect(harness.cursors.of(c)).toMatchObject([{ agent: "bob" }]);
    for (let i = 1; i < limits.cursors; i++) {
      await set(harness, id, { offset: 0 }, {}, { agent: `v${i}`, role: "viewer" });
    }
    expect(await harness.problem("cursor.set", { block_id: id }, eve)).toMatchObject({
      problem: "busy",
      details: { max: limits.cursors },
    });
    await set(harness, id, { offset: 1 }, {}, bob);
    await harness.env.advance(limits.cursorTtlMs);
    expect(harness.cursors.of(c)).toEqual([]);
    expect(harness.env.untilNext).toBeUndefined();
  });
});
