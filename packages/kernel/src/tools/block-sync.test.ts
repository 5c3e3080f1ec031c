/** block.sync and block.subscribe: a client that applies the answers has the same text, whatever happens. */

import { describe, expect, it } from "vitest";
import { limits } from "../model/limits.ts";
import { ann, bob, TestHarness } from "../testing/harness.ts";
import type { BlockPatch, WholePatch } from "./block-patch.ts";
import { problemOf } from "./block-subscribe.ts";
import type { Signal } from "./tool.ts";

type Item = BlockPatch | WholePatch;

/** The smallest client there can be. */
class Copy {
  readonly texts = new Map<string, { version: number; text: string; status: string }>();

  apply(item: Item): void {
    if (item.type === "snapshot") {
      this.texts.set(item.block_id, { version: item.version, text: item.content, status: item.status });
      return;
    }
    const known = this.texts.get(item.block_id);
    expect(known?.version).toBe(item.from_version);
    let text = known?.text ?? "";
    if (item.keep !== undefined) text = text.slice(0, item.keep);
    for (const { at, delete_count, insert } of item.splices)
      text = text.slice(0, at) + insert + text.slice(at + delete_count);
    this.texts.set(item.block_id, { version: item.version, text, status: item.status });
  }

  get versions(): { block_id: string; version: number }[] {
    return [...this.texts].map(([block_id, { version }]) => ({ block_id, version }));
  }
}

async function catchUp(
  harness: TestHarness,
  copy: Copy,
  conversation?: { id: string; seq: number },
): Promise<number> {
  for (let calls = 1; ; calls++) {
    const scope = conversation ? { conversation: conversation.id, since_seq: conversation.seq } : {};
    const answer = await harness.ok("block.sync", { versions: copy.versions, ...scope });
    for (const item of [...(answer["patches"] as Item[]), ...(answer["new_blocks"] as Item[])])
      copy.apply(item);
    if (conversation) conversation.seq = answer["seq"] as number;
    if (!answer["more"]) return calls;
  }
}

async function same(harness: TestHarness, copy: Copy, ids: readonly string[]): Promise<void> {
  for (const id of ids) expect(copy.texts.get(id)?.text, id).toBe(await harness.text(id));
}

async function randomWrite(harness: TestHarness, id: string, random: () => number): Promise<void> {
  const caller = random() % 2 === 0 ? ann : bob;
  const text = ["x", "é😀\n", "\r\n", "long ".repeat(20)][random() % 4] as string;
  const kind = random() % 5;
  if (kind < 2) await harness.ask("block.append", { block_id: id, text, wait: true }, caller);
  else if (kind === 2) await harness.ask("block.splice", { block_id: id, offset: 0, insert: text }, caller);
  else if (kind === 3)
    await harness.ask(
      "block.edit",
      { block_id: id, operations: [{ op: "delete", start_line: 0, end_line: 1 }] },
      caller,
    );
  else await harness.ask("block.undo", { block_id: id }, caller);
}

describe("block.sync", () => {
  it("[T41] patches turn any version into the present one", async () => {
    const harness = new TestHarness();
    const id = await harness.block(await harness.conversation(), "a\n");
    const copy = new Copy();
    copy.apply(
      (
        (await harness.ok("block.sync", { versions: [{ block_id: id, version: 0 }] }))["new_blocks"] as Item[]
      )[0] as Item,
    );
    await harness.ok("block.append", { block_id: id, text: "b\n", wait: true });
    await harness.ok("block.append", { block_id: id, text: "c\n", wait: true });
    await harness.ok("block.status", { block_id: id, status: "done", metadata: { label: "l" } });
    const answer = await harness.ok("block.sync", { versions: copy.versions });
    expect(answer).toMatchObject({
      patches: [
        {
          type: "patch",
          block_id: id,
          from_version: 1,
          version: 4,
          splices: [{ at: 2, delete_count: 0, insert: "b\nc\n" }],
          status: "done",
          metadata: { label: "l" },
        },
      ],
      new_blocks: [],
      more: false,
    });
    await catchUp(harness, copy);
    await same(harness, copy, [id]);
    expect(await harness.ok("block.sync", { versions: copy.versions })).toEqual({
      patches: [],
      new_blocks: [],
      more: false,
    });
  });

  it("[T42] a text that is new, compacted, from the future, or larger than the patch is sent whole", async () => {
    const harness = new TestHarness();
    const id = await harness.block(await harness.conversation(), "a\n");
    const whole = async (version: number) => {
      const answer = await harness.ok("block.sync", { versions: [{ block_id: id, version }] });
      expect(answer).toMatchObject({
        patches: [],
        new_blocks: [{ type: "snapshot", block_id: id, content: await harness.text(id) }],
      });
    };
    await whole(0);
    await whole(99);
    await harness.ok("block.edit", { block_id: id, operations: [{ op: "insert", line: 0, content: "x" }] });
    await harness.kernel.compact(id);
    await whole(1);
    const big = "y".repeat(100_000);
    await harness.ok("block.splice", { block_id: id, offset: 0, insert: big });
    await harness.ok("block.splice", { block_id: id, offset: 0, delete_count: big.length });
    await whole(3);
  });

  it("[T43] a version inside a merged run is rounded down to the start of the run", async () => {
    const harness = new TestHarness({ merging: true });
    const id = await harness.block(await harness.conversation(), "a\n");
    const copy = new Copy();
    copy.apply(
      (
        (await harness.ok("block.sync", { versions: [{ block_id: id, version: 0 }] }))["new_blocks"] as Item[]
      )[0] as Item,
    );
    for (const text of ["b\n", "c\n", "d\n"]) {
      await harness.ok("block.append", { block_id: id, text, wait: true });
      if (text === "c\n") await catchUp(harness, copy);
    }
    await harness.ok("block.splice", { block_id: id, offset: 0, insert: "0" }, bob);
    const answer = await harness.ok("block.sync", { versions: copy.versions });
    expect(answer).toMatchObject({ patches: [{ from_version: 3, keep: 2 }] });
    await catchUp(harness, copy);
    await same(harness, copy, [id]);
  });

  it("[T44] waits for the first change, no longer than asked", async () => {
    const harness = new TestHarness();
    const c = await harness.conversation();
    const id = await harness.block(c, "a\n");
    const other = await harness.block(c, "b\n");
    const have = { versions: [{ block_id: id, version: 1 }] };
    let answered = 0;
    const count = (answer: unknown) => {
      answered++;
      return answer;
    };
    const waiting = harness.ok("block.sync", { ...have, wait_ms: 5_000 }).then(count);
    await harness.ok("block.append", { block_id: other, text: "c\n", wait: true });
    await harness.env.advance(1_000);
    expect(answered).toBe(0);
    await harness.ok("block.append", { block_id: id, text: "c\n", wait: true });
    expect(await waiting).toMatchObject({ patches: [{ version: 2 }] });
    const silent = harness
      .ok("block.sync", { versions: [{ block_id: id, version: 2 }], wait_ms: 5_000 })
      .then(count);
    await harness.env.advance(4_999);
    expect(answered).toBe(1);
    await harness.env.advance(1);
    expect(await silent).toEqual({ patches: [], new_blocks: [], more: false });
    // Nothing to wait for.
    expect(await harness.ok("block.sync", { ...have, wait_ms: 5_000 })).toMatchObject({
      patches: [{ version: 2 }],
    });
    const born = harness.ok("block.sync", { conversation: c, since_seq: 99, wait_ms: 10 });
    expect(await born).toMatchObject({ new_blocks: [{ block_id: id }, { block_id: other }] });
  });

  it("[T44] an aborted wait ends at once", async () => {
    const harness = new TestHarness();
    const id = await harness.block(await harness.conversation(), "a\n");
    const abort = new AbortController();
    const call = harness.as(ann, { signal: abort.signal as Signal });
    const { callTool } = await import("./index.ts");
    const waiting = callTool(call, "block.sync", {
      versions: [{ block_id: id, version: 1 }],
      wait_ms: 5_000,
    });
    await harness.env.advance(10);
    abort.abort();
    expect(await waiting).toEqual({ patches: [], new_blocks: [], more: false });
    expect(harness.env.untilNext).toBeUndefined();
  });

  it("[T45] a conversation's new blocks come with a cursor, in answers of limited size", async () => {
    const harness = new TestHarness();
    const id = await harness.conversation();
    const ids: string[] = [];
    for (let i = 0; i < 6; i++) ids.push(await harness.block(id, "x".repeat(limits.frameChars / 2)));
    const copy = new Copy();
    const cursor = { id, seq: 0 };
    expect(await catchUp(harness, copy, cursor)).toBeGreaterThan(2);
    await same(harness, copy, ids);
    ids.push(await harness.block(id, "new"));
    await harness.ok("block.append", { block_id: ids[0], text: "y\n", wait: true });
    await catchUp(harness, copy, cursor);
    await same(harness, copy, ids);
    expect(copy.texts.size).toBe(7);
    // A cursor from before a restore of the store starts over.
    cursor.seq = 10_000;
    const fresh = new Copy();
    await catchUp(harness, fresh, cursor);
    await same(harness, fresh, ids);
  });

  it("[T41] random writes: a client that syncs now and then has the text each time", async () => {
    for (const merging of [false, true]) {
      const harness = new TestHarness({ merging });
      const id = await harness.conversation();
      const ids = [await harness.block(id, ""), await harness.block(id, "start\n")];
      const copy = new Copy();
      const cursor = { id, seq: 0 };
      for (let round = 0; round < 150; round++) {
        await randomWrite(harness, ids[harness.env.random() % 2] as string, () => harness.env.random());
        if (round === 100) await harness.kernel.compact(ids[1] as string);
        if (harness.env.random() % 3 === 0) {
          await catchUp(harness, copy, cursor);
          await same(harness, copy, ids);
        }
      }
    }
  });
});

describe("block.subscribe", () => {
  it("[T46] gives a snapshot first, then patches as they come", async () => {
    const harness = new TestHarness();
    const c = await harness.conversation();
    const id = await harness.block(c, "a\n");
    const other = await harness.block(c, "o\n");
    const stream = await harness.stream<Item>("block.subscribe", { block_ids: [id] });
    expect((await stream.next()).value).toMatchObject({ type: "snapshot", version: 1, content: "a\n" });
    const next = stream.next();
    await harness.ok("block.append", { block_id: other, text: "p\n", wait: true });
    await harness.ok("block.append", { block_id: id, text: "b\n", wait: true });
    expect((await next).value).toMatchObject({ type: "patch", from_version: 1, version: 2 });
    const last = stream.next();
    await stream.return?.();
    expect(await last).toEqual({ done: true, value: undefined });
    expect(await stream.next()).toEqual({ done: true, value: undefined });
  });

  it("[T46] resumes from versions, without loss and without repetition, however slow the reader", async () => {
    for (const merging of [false, true]) {
      const harness = new TestHarness({ merging });
      const c = await harness.conversation();
      const ids = [await harness.block(c, ""), await harness.block(c, "s\n"), await harness.block(c, "t")];
      const copy = new Copy();
      let stream = await harness.stream<Item>("block.subscribe", { conversation: c });
      let taken = 0;
      let cuts = 0;
      const writes = 300;
      for (let round = 0; round < writes; round++) {
        await randomWrite(harness, ids[harness.env.random() % 3] as string, () => harness.env.random());
        if (harness.env.random() % 4 === 0) {
          const item = await Promise.race([
            stream.next(),
            Promise.resolve()
              .then(() => harness.env.advance(0))
              .then(() => undefined),
          ]);
          if (item && !item.done) {
            copy.apply(item.value);
            taken++;
          }
          if (!item) {
            // Nothing was there: the pending read must not swallow the next item.
            await stream.return?.();
            stream = await harness.stream<Item>("block.subscribe", {
              conversation: c,
              from_versions: copy.versions,
            });
            cuts++;
          }
        }
      }
      await stream.return?.();
      stream = await harness.stream<Item>("block.subscribe", {
        block_ids: ids,
        from_versions: copy.versions,
      });
      while (true) {
        const behind = [];
        for (const id of ids)
          if (copy.texts.get(id)?.version !== (await harness.store.block(id))?.version) behind.push(id);
        if (behind.length === 0) break;
        copy.apply((await stream.next()).value as Item);
      }
      await same(harness, copy, ids);
      expect(taken).toBeGreaterThan(20);
      expect(taken).toBeLessThan(writes / 2);
      expect(cuts).toBeGreaterThanOrEqual(0);
      await stream.return?.();
    }
  });

  it("[T46] reports when more waits for a reader than is kept", async () => {
    const harness = new TestHarness();
    const c = await harness.conversation();
    const stream = await harness.stream<Item>("block.subscribe", { conversation: c });
    for (let made = 0; made <= limits.loadedBlocks; made += 100)
      await Promise.all(Array.from({ length: 100 }, () => harness.block(c, "x")));
    const thrown = await stream.next().catch((error: unknown) => error);
    expect(problemOf(thrown)).toMatchObject({
      problem: "busy",
      details: { max_blocks: limits.loadedBlocks },
    });
  });

  it("[T46] ends when its caller disconnects", async () => {
    const harness = new TestHarness();
    const id = await harness.block(await harness.conversation(), "a\n");
    const abort = new AbortController();
    const stream = await harness.stream<Item>(
      "block.subscribe",
      { from_versions: [{ block_id: id, version: 1 }] },
      bob,
      abort.signal as Signal,
    );
    const next = stream.next();
    await harness.env.advance(0);
    abort.abort();
    expect(await next).toEqual({ done: true, value: undefined });
    abort.abort();
    const gone = await harness.stream<Item>("block.subscribe", {}, bob, abort.signal as Signal);
    expect(await gone.next()).toEqual({ done: true, value: undefined });
  });
});
