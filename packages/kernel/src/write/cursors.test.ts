/** Cursors: where they are set, how edits move them, when they go. Through the tool that sets them. */

import { describe, expect, it } from "vitest";
import { limits } from "../model/limits.ts";
import { ann, bob, Desk, eve } from "../testing/desk.ts";

async function set(desk: Desk, block_id: string, head: object, more: object = {}, caller = eve) {
  return desk.ok("cursor.set", { block_id, head, ...more }, caller);
}

describe("cursor.set", () => {
  it("[T58] takes lines and columns or offsets, for readers too, and stores nothing", async () => {
    const desk = new Desk();
    const c = await desk.conversation();
    const id = await desk.block(c, "ab\n😀d\r\nend");
    const before = await desk.everything();
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
      expect(await set(desk, id, head)).toEqual({ block_id: id, anchor: offset, head: offset, version: 1 });
    }
    await set(desk, id, { line: 1 }, { anchor: { offset: 1 } });
    expect(desk.cursors.of(c)).toEqual([{ agent: "eve", block: id, anchor: 1, head: 3 }]);
    expect(await desk.everything()).toBe(before);
    expect(await desk.ok("cursor.set", {}, eve)).toEqual({});
    expect(desk.cursors.of(c)).toEqual([]);
    const empty = await desk.block(c, "");
    expect(await desk.ok("cursor.set", { block_id: empty }, eve)).toMatchObject({ head: 0 });
  });

  it("[T58] an agent has one cursor; listeners hear of the conversations concerned", async () => {
    const desk = new Desk();
    const [c, d] = [await desk.conversation(), await desk.conversation()];
    const heard: string[] = [];
    const stop = desk.cursors.listen((conversation) => heard.push(conversation));
    const [a, b] = [await desk.block(c, "a"), await desk.block(d, "b")];
    await set(desk, a, { offset: 1 });
    await set(desk, b, { offset: 1 });
    await desk.ok("cursor.set", {}, eve);
    stop();
    await set(desk, a, { offset: 0 });
    expect(heard).toEqual([c, c, d, d]);
    expect(desk.cursors.of(d)).toEqual([]);
  });
});

describe("cursors", () => {
  it("[T59] stay with their text while others and streams write around them", async () => {
    const desk = new Desk();
    const c = await desk.conversation();
    const id = await desk.block(c, "hello world");
    const at = () => desk.cursors.of(c).map(({ anchor, head }) => [anchor, head])[0];
    await set(desk, id, { offset: 11 }, { anchor: { offset: 6 } });
    await desk.ok("block.splice", { block_id: id, offset: 0, insert: ">> " }, bob);
    expect(at()).toEqual([9, 14]);
    await desk.ok("block.append", { block_id: id, text: "!\n", wait: true });
    expect(at()).toEqual([9, 14]);
    await desk.ok("block.splice", { block_id: id, offset: 9, insert: "my " }, bob);
    expect(at()).toEqual([9, 17]);
    await desk.ok("block.splice", { block_id: id, offset: 5, delete_count: 9 }, bob);
    expect(at()).toEqual([5, 8]);
    await desk.ok("block.undo", { block_id: id }, bob);
    expect(at()).toEqual([5, 17]);
  });

  it("[T59] one's own text carries one's own cursor along", async () => {
    const desk = new Desk();
    const c = await desk.conversation();
    const id = await desk.block(c, "ab");
    await set(desk, id, { offset: 1 }, {}, bob);
    await desk.ok("block.splice", { block_id: id, offset: 1, insert: "XY" }, bob);
    await desk.ok("block.splice", { block_id: id, offset: 3, insert: "-" }, ann);
    expect(desk.cursors.of(c)).toMatchObject([
      { agent: "bob", head: 3 },
      { agent: "ann", head: 4 },
    ]);
  });

  it("[T62] an edit shows where its author is; a change on the disk has none", async () => {
    const desk = new Desk();
    const c = await desk.conversation();
    const id = await desk.block(c, "one\ntwo\nthree\n");
    const heard: string[] = [];
    desk.cursors.listen((conversation) => heard.push(conversation));
    const insert = (line: number, content: string) =>
      desk.ok("block.edit", { block_id: id, operations: [{ op: "insert", line, content }] }, bob);
    await insert(1, "between");
    expect(desk.cursors.of(c)).toEqual([{ agent: "bob", block: id, anchor: 12, head: 12 }]);
    await insert(4, "end");
    expect(desk.cursors.of(c)).toMatchObject([{ agent: "bob", head: 26 }]);
    expect(heard).toEqual([c, c]);
    // What goes on where the cursor is, is followed without a word.
    await desk.ok("block.splice", { block_id: id, offset: 26, insert: "more" }, bob);
    expect(desk.cursors.of(c)).toMatchObject([{ agent: "bob", head: 30 }]);
    expect(heard).toHaveLength(2);
    await desk.ok("block.splice", { block_id: id, offset: 0, insert: "x" }, { agent: "disk", role: "owner" });
    expect(desk.cursors.of(c)).toMatchObject([{ agent: "bob", head: 31 }]);
    await desk.env.advance(limits.cursorTtlMs);
    expect(desk.cursors.of(c)).toEqual([]);
  });

  it("[T59] positions of an older version are carried to the present one", async () => {
    const desk = new Desk();
    const c = await desk.conversation();
    const id = await desk.block(c, "hello");
    await desk.ok("block.splice", { block_id: id, offset: 0, insert: "éé" }, bob);
    expect(await set(desk, id, { offset: 5 }, { base_version: 1 })).toMatchObject({ head: 7, version: 3 });
    await desk.kernel.fold(id);
    expect(await desk.problem("cursor.set", { block_id: id, base_version: 1 })).toMatchObject({
      problem: "gone",
    });
  });

  it("[T60] go after a minute without a word, and only so many are kept", async () => {
    const desk = new Desk();
    const c = await desk.conversation();
    const id = await desk.block(c, "abc");
    await set(desk, id, { offset: 1 });
    await desk.env.advance(limits.cursorTtlMs - 1);
    await set(desk, id, { offset: 2 }, {}, bob);
    const heard: string[] = [];
    desk.cursors.listen((conversation) => heard.push(conversation));
    await desk.env.advance(1);
    expect(heard).toEqual([c]);
    expect(desk.cursors.of(c)).toMatchObject([{ agent: "bob" }]);
    for (let i = 1; i < limits.cursors; i++) {
      await set(desk, id, { offset: 0 }, {}, { agent: `v${i}`, role: "viewer" });
    }
    expect(await desk.problem("cursor.set", { block_id: id }, eve)).toMatchObject({
      problem: "busy",
      details: { max: limits.cursors },
    });
    await set(desk, id, { offset: 1 }, {}, bob);
    await desk.env.advance(limits.cursorTtlMs);
    expect(desk.cursors.of(c)).toEqual([]);
    expect(desk.env.untilNext).toBeUndefined();
  });
});
