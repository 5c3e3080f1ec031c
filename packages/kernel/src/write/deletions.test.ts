/**
 * Deleted conversations: hidden at once, restored unchanged, removed when their time is up, even if the process is
 * killed in between.
 */

import { describe, expect, it } from "vitest";
import { limits } from "../model/limits.ts";
import { isProblem } from "../model/problem.ts";
import { ann, bob, TestHarness } from "../testing/harness.ts";
import { MemoryNodes } from "../testing/memory-nodes.ts";
import { contextOf } from "./context.ts";
import { Kernel } from "./kernel.ts";

async function story() {
  const harness = new TestHarness();
  const c = await harness.conversation("to go");
  const other = await harness.conversation("stays");
  const block = await harness.block(c, "a secret", ann, { status: "done" });
  await harness.block(other, "no secret", ann, { status: "done" });
  return { harness, c, other, block };
}

const ids = (answer: Record<string, unknown>) =>
  (answer["conversations"] as { conversation: string }[]).map(({ conversation }) => conversation);

/** What a caller can learn of a conversation, through every tool that reads. */
async function seen(harness: TestHarness, c: string, block: string) {
  const list = await harness.ok("conversation.list", {});
  const search = await harness.ok("kernel.search", { query: "secret", kinds: "all" });
  const blocks = await harness.ok("block.list", { kind: "text" });
  const problems = await Promise.all([
    harness.ask("conversation.read", { conversation: c }),
    harness.ask("conversation.export", { conversation: c }),
    harness.ask("block.read", { block_id: block }),
    harness.ask("block.history", { block_id: block }),
    harness.ask("block.edit", { block_id: block, operations: [{ op: "insert", line: 0, content: "x" }] }),
    harness.ask("block.create", { conversation: c, kind: "text", role: "user", content: "x" }),
    harness.ask("conversation.update", { conversation: c, title: "x" }),
    harness.ask("conversation.fork", { block_id: block, into_new: true }),
  ]);
  return {
    isListed: ids(list).includes(c),
    found: JSON.stringify(search).includes(block),
    isOutlined: JSON.stringify(blocks).includes(block),
    problems: problems.map((answer) => (answer as { problem?: string }).problem),
  };
}

const HIDDEN = { isListed: false, found: false, isOutlined: false, problems: Array(8).fill("gone") };

describe("[K90] a deleted conversation is hidden at once, from everybody", () => {
  it("in lists, searches, reads and writes; also after a restart", async () => {
    const { harness, c, block } = await story();
    const answer = await harness.ok("conversation.delete", { conversation: c });
    expect(answer["restorable_until"]).toBe((answer["deleted_at"] as number) + limits.deletedUndoMs);
    expect(await seen(harness, c, block)).toEqual(HIDDEN);
    harness.restart();
    expect(await seen(harness, c, block)).toEqual(HIDDEN);
    expect(await harness.problem("conversation.delete", { conversation: c })).toMatchObject({
      problem: "gone",
    });
  });

  it("streams into it end with the reason", async () => {
    const { harness, c } = await story();
    const open = await harness.block(c, "", bob);
    await harness.ok("block.append", { block_id: open, text: "a line\n", wait: true }, bob);
    await harness.ok("conversation.delete", { conversation: c });
    expect(
      await harness.ask("block.append", { block_id: open, text: "more\n", wait: true }, bob),
    ).toMatchObject({
      problem: "gone",
    });
  });

  it("who follows its blocks is notified", async () => {
    const { harness, c, block } = await story();
    for (const scope of [{ conversation: c }, { block_ids: [block] }]) {
      const stream = await harness.stream("block.subscribe", scope);
      if ("block_ids" in scope) await stream.next();
      const ended = stream.next();
      await harness.ok("conversation.delete", { conversation: c });
      await expect(ended).rejects.toMatchObject({ problem: { problem: "gone" } });
      await harness.ok("conversation.restore", { conversation: c });
    }
  });
});

describe("[K91] it is restored as it was", () => {
  it("in its place among the others", async () => {
    const { harness, c, block } = await story();
    await harness.env.advance(1_000);
    await harness.block(await harness.conversation("newest"), "x");
    const before = await harness.ok("conversation.read", { conversation: c });
    const order = ids(await harness.ok("conversation.list", {}));
    await harness.ok("conversation.delete", { conversation: c });
    await harness.env.advance(limits.deletedUndoMs - 1_000);
    await harness.ok("conversation.restore", { conversation: c });
    const after = await harness.ok("conversation.read", { conversation: c });
    const { seq } = before["conversation"] as { seq: number };
    expect(after).toEqual({
      ...before,
      conversation: { ...(before["conversation"] as object), seq: seq + 2 },
    });
    expect(ids(await harness.ok("conversation.list", {}))).toEqual(order);
    await harness.env.advance(2 * limits.deletedUndoMs);
    await harness.kernel.maintain();
    expect(await harness.ok("block.read", { block_id: block })).toMatchObject({
      content: expect.stringContaining("a secret"),
    });
  });

  it("what is not deleted is not restored", async () => {
    const { harness, c } = await story();
    expect(await harness.problem("conversation.restore", { conversation: c })).toMatchObject({
      problem: "nothing",
    });
  });
});

describe("[K92] when its time is over it is removed", () => {
  it("by itself, and its id is never given again", async () => {
    const { harness, c, other, block } = await story();
    await harness.ok("conversation.delete", { conversation: c });
    await harness.env.advance(limits.deletedUndoMs + 1_000);
    expect(await harness.store.conversation(c)).toBeUndefined();
    expect(await harness.store.text(block)).toBe("");
    expect(await seen(harness, c, block)).toEqual(HIDDEN);
    expect(await harness.problem("conversation.restore", { conversation: c })).toMatchObject({
      problem: "gone",
    });
    const again = await harness.kernel.write(c, {
      agent: "x",
      create: true,
      plan: (draft) => draft.create({ kind: "text", role: "user" }),
    });
    expect(again).toMatchObject({ problem: "gone" });
    expect(ids(await harness.ok("conversation.list", {}))).toEqual([other]);
  });

  it("after a restart in between", async () => {
    const { harness, c, block } = await story();
    await harness.ok("conversation.delete", { conversation: c });
    await harness.kernel.close();
    await harness.env.advance(limits.deletedUndoMs + 1_000);
    expect(await harness.store.text(block)).toBe("a secret");
    harness.restart();
    await harness.kernel.maintain();
    expect(await harness.store.text(block)).toBe("");
    expect(await seen(harness, c, block)).toEqual(HIDDEN);
  });

  it("a deletion killed before the record was marked hides nothing, and its entry goes", async () => {
    const { harness, c, block } = await story();
    await harness.store.deletions.note({ conversation: c, at: harness.env.now(), by: "ann" });
    harness.restart();
    expect(await harness.ok("block.read", { block_id: block })).toMatchObject({
      content: expect.stringContaining("a secret"),
    });
    await harness.env.advance(120_000);
    await harness.kernel.maintain();
    expect(await harness.store.deletions.waiting()).toEqual([]);
    expect(await harness.ok("block.read", { block_id: block })).toMatchObject({
      content: expect.stringContaining("a secret"),
    });
  });
});

it("[K93] it is refused while a turn runs, with how to stop it", async () => {
  const { harness, c, block } = await story();
  const { turn } = await harness.ok("turn.begin", { conversation: c }, bob);
  const refused = await harness.problem("conversation.delete", { conversation: c });
  expect(refused).toMatchObject({ problem: "busy", details: { turns: [turn] } });
  expect(refused.message).toContain("turn.stop");
  expect(await harness.store.deletions.waiting()).toEqual([]);
  await harness.ok("turn.end", { conversation: c, turn }, bob);
  await harness.ok("conversation.delete", { conversation: c });
  expect(await seen(harness, c, block)).toEqual(HIDDEN);
});

it("[K94] a conversation that includes a block of it continues without; a fork has its own copies", async () => {
  const { harness, c, other, block } = await story();
  await harness.ok("conversation.include", { conversation: other, block_id: block });
  const fork = await harness.ok("conversation.fork", { block_id: block, into_new: true });
  await harness.ok("conversation.delete", { conversation: c });
  await harness.env.advance(limits.deletedUndoMs + 1_000);
  const read = await harness.ok("conversation.read", { conversation: other });
  expect(read).toMatchObject({ conversation: { included: [block] } });
  const context = await contextOf(harness.kernel, other);
  expect(isProblem(context) ? context : context.map(({ block: { text } }) => text)).toEqual(["no secret"]);
  expect(await harness.problem("block.read", { block_id: block })).toMatchObject({
    problem: "gone",
    message: `conversation ${c} was deleted`,
  });
  const copies = await harness.ok("conversation.read", { conversation: fork["conversation"] });
  expect(JSON.stringify(copies)).toContain("a secret");
});

it("[K95] other nodes hide it within a second, and show it again when it is restored", async () => {
  const { harness, c, other, block } = await story();
  harness.store.nodes = new MemoryNodes(() => harness.env.now());
  const far = new Kernel(harness.env, harness.store);
  expect(await far.block(block)).toMatchObject({ id: block });
  const told: (boolean | undefined)[] = [];
  far.listen(({ conversation, record }) => conversation === c && told.push(record.deleted !== undefined));
  await harness.ok("conversation.delete", { conversation: c });
  await far.deletions.look();
  expect(await far.block(block)).toMatchObject({ problem: "gone" });
  expect(await far.conversation(other)).toMatchObject({ id: other });
  await harness.ok("conversation.restore", { conversation: c });
  await far.deletions.look();
  expect(await far.block(block)).toMatchObject({ id: block });
  expect(told).toEqual([true, false]);
  await harness.ok("conversation.delete", { conversation: c });
  await far.deletions.look();
  await harness.env.advance(limits.deletedUndoMs + 1_000);
  await far.deletions.look();
  expect(await far.conversation(c)).toMatchObject({ problem: "gone", details: { conversation: c } });
});

it("[T90] only the owner deletes and restores; the files of a workspace are not deleted", async () => {
  const { harness, c } = await story();
  for (const tool of ["conversation.delete", "conversation.restore"])
    expect(await harness.problem(tool, { conversation: c }, bob)).toMatchObject({ problem: "forbidden" });
  const files = await harness.conversation("files");
  await harness.file(files, "a.txt", "text");
  expect(await harness.problem("conversation.delete", { conversation: files })).toMatchObject({
    problem: "forbidden",
  });
});
