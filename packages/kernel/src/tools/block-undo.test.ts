/** block.undo, block.redo and block.history: only one's own, in order, across restarts; who wrote what. */

import { describe, expect, it } from "vitest";
import { ann, bob, TestHarness } from "../testing/harness.ts";
import type { Caller } from "./tool.ts";

const insert = (block_id: string, line: number, content: string) => ({
  block_id,
  operations: [{ op: "insert", line, content }],
});

async function flip(
  harness: TestHarness,
  type: "undo" | "redo",
  block_id: string,
  caller: Caller,
  expected: string,
): Promise<void> {
  await harness.ok(`block.${type}`, { block_id }, caller);
  expect(await harness.text(block_id)).toBe(expected);
}

describe("block.undo and block.redo", () => {
  it("[T47] undo and redo the caller's own steps, in order", async () => {
    const harness = new TestHarness();
    const id = await harness.block(await harness.conversation(), "base\n");
    await harness.ok("block.edit", insert(id, 0, "ann 1"));
    await harness.ok("block.edit", insert(id, 0, "bob 1"), bob);
    await harness.ok("block.edit", insert(id, 0, "ann 2"));
    expect(await harness.text(id)).toBe("ann 2\nbob 1\nann 1\nbase\n");
    await flip(harness, "undo", id, ann, "bob 1\nann 1\nbase\n");
    harness.restart();
    await flip(harness, "undo", id, ann, "bob 1\nbase\n");
    await flip(harness, "undo", id, bob, "base\n");
    await flip(harness, "redo", id, ann, "ann 1\nbase\n");
    harness.restart();
    await flip(harness, "redo", id, ann, "ann 2\nann 1\nbase\n");
    expect(await harness.problem("block.redo", { block_id: id })).toMatchObject({ problem: "nothing" });
    await flip(harness, "redo", id, bob, "ann 2\nbob 1\nann 1\nbase\n");
  });

  it("[K26] [T47] a block's creation is not an edit: undo never empties a prompt", async () => {
    const harness = new TestHarness();
    const id = await harness.block(await harness.conversation(), "prompt");
    expect(await harness.problem("block.undo", { block_id: id })).toMatchObject({ problem: "nothing" });
    await harness.ok("block.edit", insert(id, 0, "more"));
    expect((await harness.ok("block.undo", { block_id: id, count: 9 }))["units"]).toHaveLength(1);
    expect(await harness.text(id)).toBe("prompt");
    expect(await harness.ok("block.history", { block_id: id })).not.toHaveProperty("next_undo");
  });

  it("[T47] the caller's own edit clears its redo, those of others do not", async () => {
    const harness = new TestHarness();
    const id = await harness.block(await harness.conversation(), "");
    await harness.ok("block.edit", insert(id, 0, "1"));
    await flip(harness, "undo", id, ann, "");
    await harness.ok("block.edit", insert(id, 0, "bob"), bob);
    await flip(harness, "redo", id, ann, "bob1");
    await flip(harness, "undo", id, ann, "bob");
    await harness.ok("block.edit", insert(id, 0, "2"));
    expect(await harness.problem("block.redo", { block_id: id })).toMatchObject({
      problem: "nothing",
      details: { agent: "ann" },
    });
  });

  it("[T47] several at once, as many as there are, each as one op of the log", async () => {
    const harness = new TestHarness();
    const id = await harness.block(await harness.conversation(), "", bob);
    for (const line of ["1", "2", "3"]) await harness.ok("block.edit", insert(id, 0, line));
    const undone = await harness.ok("block.undo", { block_id: id, count: 2 });
    expect(undone).toEqual({
      version: 7,
      units: [
        { unit: 5, inserted: 0, deleted: 2 },
        { unit: 4, inserted: 0, deleted: 2 },
      ],
    });
    expect(await harness.ok("block.undo", { block_id: id, count: 9 })).toMatchObject({
      units: [{ unit: 3 }],
    });
    expect(await harness.text(id)).toBe("");
    expect(await harness.ok("block.redo", { block_id: id, count: 9 })).toMatchObject({
      units: [{ unit: 3 }, { unit: 4 }, { unit: 5 }],
    });
    expect(await harness.text(id)).toBe("3\n2\n1");
  });

  it("[T47] a stream is one undo step; CRLF, emoji and missing newlines come back unchanged", async () => {
    const harness = new TestHarness();
    const id = await harness.block(await harness.conversation(), "😀\r\nend", bob);
    for (const text of ["a", "b\r\n", "é"])
      await harness.ok("block.append", { block_id: id, text, wait: true });
    expect(await harness.text(id)).toBe("😀\r\nendab\r\né");
    const operations = [{ op: "replace", start_line: 0, end_line: 2, content: "x" }];
    await harness.ok("block.edit", { block_id: id, operations });
    await flip(harness, "undo", id, ann, "😀\r\nendab\r\né");
    await flip(harness, "undo", id, ann, "😀\r\nend");
    await flip(harness, "redo", id, ann, "😀\r\nendab\r\né");
  });

  it("[T47] works in 10 MB", async () => {
    const harness = new TestHarness();
    const text = `${"0123456789".repeat(5)}\n`.repeat(200_000);
    const id = await harness.block(await harness.conversation(), text, bob);
    await harness.ok("block.edit", insert(id, 150_000, "x"));
    await harness.ok("block.undo", { block_id: id });
    expect((await harness.text(id)) === text).toBe(true);
  });
});

describe("block.history", () => {
  it("[T48] lists units, newest first, with agent, time, size and whether they are active", async () => {
    const harness = new TestHarness();
    const id = await harness.block(await harness.conversation(), "base\n", bob);
    await harness.env.advance(5_000);
    await harness.ok("block.edit", insert(id, 0, "x"));
    await harness.ok(
      "block.edit",
      { block_id: id, operations: [{ op: "delete", start_line: 1, end_line: 2 }] },
      bob,
    );
    await harness.ok("block.undo", { block_id: id });
    const answer = await harness.ok("block.history", { block_id: id });
    const at = harness.env.now();
    expect(answer).toEqual({
      version: 5,
      units: [
        { unit: 4, agent: "bob", at, version: 4, inserted: 0, deleted: 5, active: true },
        { unit: 3, agent: "ann", at, version: 3, inserted: 2, deleted: 0, active: false },
        { unit: 1, agent: "bob", at: at - 5_000, version: 1, inserted: 5, deleted: 0, active: true },
      ],
      more: false,
      next_redo: 3,
    });
    expect(await harness.ok("block.history", { block_id: id, agent: "ann" })).toMatchObject({
      units: [{ unit: 3 }],
    });
    expect(await harness.ok("block.history", { block_id: id, limit: 1 }, bob)).toMatchObject({
      more: true,
      next_undo: 4,
    });
  });

  it("[T49] returns the text at any version that is kept", async () => {
    const harness = new TestHarness();
    const id = await harness.block(await harness.conversation(), "");
    const texts: [number, string][] = [[1, ""]];
    for (let i = 0; i < 40; i++) {
      const offset = harness.env.random() % 3;
      await harness.ask(
        i % 4 === 3 ? "block.undo" : "block.splice",
        i % 4 === 3 ? { block_id: id } : { block_id: id, offset, insert: "é\n" },
        i % 2 ? ann : bob,
      );
      texts.push([(await harness.store.block(id))?.version as number, await harness.text(id)]);
    }
    for (const [version, text] of texts) {
      expect(await harness.ok("block.history", { block_id: id, version })).toMatchObject({ content: text });
    }
    await harness.kernel.compact(id);
    const last = (await harness.store.block(id))?.version as number;
    expect(await harness.problem("block.history", { block_id: id, version: 2 })).toMatchObject({
      problem: "gone",
      details: { oldest_version: last },
    });
    expect(await harness.ok("block.history", { block_id: id, version: last })).toMatchObject({
      content: await harness.text(id),
      units: [],
    });
  });

  it("[T49] a version inside a merged run names its neighbours", async () => {
    const harness = new TestHarness({ merging: true });
    const id = await harness.block(await harness.conversation(), "a\n");
    for (const text of ["b\n", "c\n", "d\n"])
      await harness.ok("block.append", { block_id: id, text, wait: true });
    expect(await harness.problem("block.history", { block_id: id, version: 3 })).toMatchObject({
      problem: "gone",
      details: { nearest: [1, 4] },
    });
    expect(await harness.ok("block.history", { block_id: id, version: 4 })).toMatchObject({
      content: "a\nb\nc\nd\n",
    });
    expect(await harness.ok("block.history", { block_id: id, version: 1 })).toMatchObject({ content: "a\n" });
  });

  it("[T50] says who wrote which part of the text", async () => {
    const harness = new TestHarness();
    const id = await harness.block(await harness.conversation(), "hello world", bob);
    await harness.ok("block.splice", { block_id: id, offset: 5, delete_count: 1, insert: ", dear " });
    const { authors } = await harness.ok("block.history", { block_id: id, authors: true });
    expect(authors).toEqual([
      { start: 0, end: 5, agent: "bob", unit: 1 },
      { start: 5, end: 12, agent: "ann", unit: 3 },
      { start: 12, end: 17, agent: "bob", unit: 1 },
    ]);
  });
});
