/** conversation.*: create, list, read, fork, prune, include, export, and the context that follows from them. */

import { describe, expect, it } from "vitest";
import type { BlockId } from "../model/ids.ts";
import { limits } from "../model/limits.ts";
import { isProblem } from "../model/problem.ts";
import { ann, bob, TestHarness } from "../testing/harness.ts";
import { contextOf } from "../write/context.ts";
import type { ExportLine } from "./conversation-export.ts";

const named = { toolUseId: "1", toolName: "x" };

async function context(harness: TestHarness, conversation: string, head?: BlockId): Promise<string[]> {
  const blocks = await contextOf(harness.kernel, conversation, head);
  if (isProblem(blocks)) throw new Error(blocks.message);
  return blocks.map(({ block, included }) => (included ? `+${block.text}` : block.text));
}

/** q → call (result, note on the side) → answer. */
async function story(harness: TestHarness) {
  const c = await harness.conversation("story");
  const q = await harness.block(c, "q", ann, { status: "done" });
  const call = await harness.block(c, "call", bob, { kind: "tool_call", role: "model", metadata: named });
  const result = await harness.block(c, "result", bob, {
    kind: "tool_result",
    role: "tool",
    parent_id: call,
    metadata: named,
  });
  const note = await harness.block(c, "note", ann, { parent_id: call, side: true, role: "system" });
  const image = await harness.block(c, "image", bob, {
    kind: "image",
    role: "tool",
    parent_id: call,
    side: true,
    metadata: { toolUseId: "1" },
  });
  const answer = await harness.block(c, "answer", bob, { role: "model" });
  return { c, q, call, result, note, image, answer };
}

describe("records", () => {
  it("[T51] create, list and read agree", async () => {
    const harness = new TestHarness();
    const first = await harness.conversation("Alpha one");
    await harness.env.advance(10);
    const { conversation: second } = await harness.ok("conversation.create", {
      title: "beta",
      provider: "claude",
      model: "m",
      metadata: { a: [1] },
    });
    const list = await harness.ok("conversation.list", {});
    expect(list).toMatchObject({
      conversations: [
        { conversation: second, title: "beta", provider: "claude", model: "m", metadata: { a: [1] } },
        { conversation: first },
      ],
      more: false,
    });
    expect(await harness.ok("conversation.list", { title: "alpha" })).toMatchObject({
      conversations: [{ conversation: first }],
    });
    const page = await harness.ok("conversation.list", { limit: 1 });
    expect(page["more"]).toBe(true);
    const before = (page["conversations"] as { updated_at: number }[])[0]?.updated_at;
    expect(await harness.ok("conversation.list", { limit: 1, before })).toMatchObject({
      conversations: [{ conversation: first }],
      more: false,
    });
    expect(await harness.ok("conversation.list", { title: "nothing" })).toEqual({
      conversations: [],
      more: false,
    });
    expect(await harness.ok("conversation.read", { conversation: first })).toMatchObject({
      conversation: {
        conversation: first,
        title: "Alpha one",
        created_by: "ann",
        seq: 1,
        blocks: 0,
        head: null,
        cost_usd: null,
      },
      turns: [],
      blocks: [],
      more: false,
    });
  });

  it("[T61] gets another title, is put away and taken out again; saying the same again writes nothing", async () => {
    const harness = new TestHarness();
    const { c } = await story(harness);
    const read = async () => {
      const { conversation } = await harness.ok("conversation.read", { conversation: c });
      const { title, metadata, seq, blocks } = conversation as Record<string, unknown>;
      return { title, metadata, seq: seq as number, blocks };
    };
    const { seq, blocks } = await read();
    expect(await harness.ok("conversation.update", { conversation: c, title: " Sea\u0000shore " })).toEqual({
      title: "Sea\u2400shore",
      archived: false,
    });
    await harness.ok("conversation.update", { conversation: c, archived: true });
    expect(await read()).toEqual({
      title: "Sea\u2400shore",
      metadata: { archived: true },
      seq: seq + 2,
      blocks,
    });
    await harness.ok("conversation.update", { conversation: c, title: "Sea\u2400shore", archived: true });
    expect((await read()).seq).toBe(seq + 2);
    await harness.ok("conversation.update", { conversation: c, archived: false });
    expect((await read()).metadata).toEqual({});
  });

  it("[T61] an agent renames only what it has created", async () => {
    const harness = new TestHarness();
    const { conversation } = await harness.ok("conversation.create", { title: "mine" }, bob);
    expect(await harness.ok("conversation.update", { conversation, title: "still mine" }, bob)).toMatchObject(
      {
        title: "still mine",
      },
    );
    await harness.ok("conversation.update", { conversation, title: "the owner's word" }, ann);
  });

  it("[T64] pages lose none of the conversations that were changed at one time", async () => {
    const harness = new TestHarness();
    const made: string[] = [];
    for (const at of [1, 1, 5, 1, 2]) {
      for (let i = 0; i < at; i++) made.push(await harness.conversation());
      await harness.env.advance(10);
    }
    for (let limit = 1; limit <= made.length; limit++) {
      const paged: string[] = [];
      for (let before: number | undefined; ; ) {
        const page = await harness.ok("conversation.list", {
          limit,
          ...(before === undefined ? {} : { before }),
        });
        const rows = page["conversations"] as { conversation: string; updated_at: number }[];
        expect(rows.length).toBeGreaterThan(0);
        paged.push(...rows.map(({ conversation }) => conversation));
        before = rows.at(-1)?.updated_at;
        if (!page["more"]) break;
      }
      expect(paged.length).toBe(made.length);
      expect(new Set(paged)).toEqual(new Set(made));
    }
  });

  it("[T51] reads the last blocks, the turns, and all heads", async () => {
    const harness = new TestHarness();
    const { c, q, answer } = await story(harness);
    await harness.kernel.write(c, {
      agent: "bob",
      plan: (draft) =>
        draft.setTurn({
          id: "t1",
          provider: "claude",
          agent: "bob",
          status: "done",
          startedAt: 1,
          endedAt: 2,
          usage: { input: 1, cacheRead: 2, cacheWrite: 3, output: 4, reasoning: 5 },
          costUsd: 0.5,
        }),
    });
    const fork = await harness.block(c, "fork", ann, { parent_id: q });
    const read = await harness.ok("conversation.read", { conversation: c, blocks: 2, heads: true });
    expect(read).toMatchObject({
      conversation: { head: fork, blocks: 7, turns: 1, cost_usd: 0.5, usage: { cache_read: 2 } },
      turns: [{ turn: "t1", status: "done", usage: { cache_write: 3 } }],
      blocks: [{ block_id: answer }, { block_id: fork }],
      more: true,
      heads: [fork, answer],
    });
  });
});

describe("fork", () => {
  it("[T52] in the same conversation a user block behind the old one becomes the head", async () => {
    const harness = new TestHarness();
    const { c, q, answer } = await story(harness);
    const forked = await harness.ok("conversation.fork", { block_id: q, content: "instead" });
    expect(forked).toEqual({ conversation: c, head: forked["block_id"], block_id: forked["block_id"] });
    expect(await harness.store.block(forked["block_id"] as string)).toMatchObject({
      parent: q,
      role: "user",
      kind: "text",
      status: "done",
      side: false,
    });
    expect(await context(harness, c)).toEqual(["q", "instead"]);
    expect(await context(harness, c, answer)).toEqual(["q", "call", "result", "image", "answer"]);
    // Without content only the head moves.
    expect(await harness.ok("conversation.fork", { block_id: answer })).toEqual({
      conversation: c,
      head: answer,
    });
    expect(await context(harness, c)).toEqual(["q", "call", "result", "image", "answer"]);
    const seq = (await harness.store.conversation(c))?.seq;
    await harness.ok("conversation.fork", { block_id: answer });
    expect((await harness.store.conversation(c))?.seq).toBe(seq);
  });

  it("[T53] into a new one, the path with its results is copied in one commit", async () => {
    const harness = new TestHarness();
    const { c, q, call, result, answer } = await story(harness);
    await harness.ok("conversation.prune", { block_id: q });
    await harness.ok("conversation.include", { conversation: c, block_id: answer });
    await harness.ok("block.status", { block_id: call, status: "done" });
    await harness.block(c, "later", bob);
    const source = await harness.store.conversation(c);
    let commits = 0;
    const stop = harness.kernel.listen(() => commits++);
    const forked = await harness.ok("conversation.fork", {
      block_id: answer,
      into_new: true,
      content: "go on",
    });
    stop();
    expect(commits).toBe(1);
    expect(await harness.store.conversation(c)).toEqual(source);
    const copy = forked["conversation"] as string;
    expect(forked["copied"]).toBe(5);
    expect(await harness.store.conversation(copy)).toMatchObject({
      title: "story (fork)",
      forkedFrom: answer,
      blocks: 6,
      included: [answer],
      head: forked["head"],
    });
    expect(await context(harness, copy)).toEqual(["+answer", "call", "result", "image", "answer", "go on"]);
    const blocks = await harness.store.blocks({ conversation: copy, order: "first", limit: 10 });
    expect(blocks.map(({ metadata }) => metadata["includes"])).toEqual([
      q,
      call,
      result,
      expect.any(String),
      answer,
      undefined,
    ]);
    expect(blocks[0]).toMatchObject({ pruned: true, status: "done", agent: "ann" });
    expect(blocks[1]).toMatchObject({ status: "done", metadata: { stage: "end", toolUseId: "1" } });
    // What was still open is closed in the copy: nothing will write to it.
    expect(blocks[4]).toMatchObject({
      status: "error",
      metadata: { reason: "interrupted" },
      parent: blocks[1]?.id,
    });
    expect(blocks[2]).toMatchObject({ parent: blocks[1]?.id, side: true });
  });

  it.each([
    ["blocks", limits.guestForkedBlocks, 1],
    ["characters", 2, limits.guestForkedChars / 2],
  ])(
    "[AC260] for an agent has a bound of %s, which keeps nobody waiting for long",
    async (_, count, chars) => {
      const harness = new TestHarness();
      const c = (await harness.ok("conversation.create", { title: "long" }, bob))["conversation"] as string;
      const add = (blocks: number) =>
        harness.kernel.write(c, {
          agent: "bob",
          plan: (draft) => {
            for (let i = 0; i < blocks; i++)
              draft.create({
                kind: "text",
                role: "model",
                text: "x".repeat(chars),
                status: "done",
                metadata: {},
              });
            return draft.record.head as string;
          },
        });
      const most = { block_id: await add(count), into_new: true };
      expect(await harness.ok("conversation.fork", most, bob)).toMatchObject({ copied: count });
      const more = { block_id: await add(1), into_new: true };
      expect(await harness.problem("conversation.fork", more, bob)).toMatchObject({ problem: "too_large" });
      expect(await harness.ok("conversation.fork", more)).toMatchObject({ copied: count + 1 });
    },
  );

  it("[T53] a copy names whose words it holds, and so does a copy of the copy", async () => {
    const harness = new TestHarness();
    const c = await harness.conversation();
    await harness.block(c, "mine");
    let block_id = await harness.block(c, "his", bob);
    for (let copies = 0; copies < 2; copies++) {
      const { conversation } = await harness.ok("conversation.fork", { block_id, into_new: true });
      const query = { conversation: String(conversation), order: "first", limit: 9 } as const;
      const blocks = await harness.store.blocks(query);
      expect(blocks.map(({ agent, metadata }) => [agent, metadata["author"]])).toEqual([
        ["ann", undefined],
        ["ann", "bob"],
      ]);
      block_id = blocks[1]?.id as string;
    }
  });

  it("[T53] a fork has a title that tells it from its source, and from other forks on its way", async () => {
    const harness = new TestHarness();
    const { c, answer } = await story(harness);
    const titles: string[] = [];
    let block_id = answer;
    for (let i = 0; i < 3; i++) {
      const { conversation, head } = await harness.ok("conversation.fork", { block_id, into_new: true });
      titles.push((await harness.store.conversation(String(conversation)))?.title ?? "");
      block_id = String(head);
    }
    expect(titles).toEqual(["story (fork)", "story (fork 2)", "story (fork 3)"]);

    for (const [title, expected] of [
      ["", ""],
      ["a (fork) in the road", "a (fork) in the road (fork)"],
      ["x".repeat(limits.titleChars), `${"x".repeat(limits.titleChars - 7)} (fork)`],
    ]) {
      await harness.ok("conversation.update", { conversation: c, title });
      const { conversation } = await harness.ok("conversation.fork", { block_id: answer, into_new: true });
      expect((await harness.store.conversation(String(conversation)))?.title).toBe(expected);
    }
  });

  it("[T53] a signature goes with the words that were signed, not with what somebody made of them", async () => {
    const harness = new TestHarness();
    const c = await harness.conversation();
    const more = { kind: "thinking", role: "model", status: "done", metadata: { signature: "s" } };
    const kept = await harness.block(c, "as it was", bob, more);
    const edited = await harness.block(c, "as it was", bob, more);
    await harness.ok("block.splice", { block_id: edited, offset: 0, delete_count: 2, insert: "how" });
    const { conversation } = await harness.ok("conversation.fork", { block_id: edited, into_new: true });
    const copies = await harness.store.blocks({
      conversation: String(conversation),
      order: "first",
      limit: 9,
    });
    expect(copies.map(({ metadata }) => metadata["signature"])).toEqual(["s", undefined]);
    expect(copies.map(({ metadata }) => metadata["includes"])).toEqual([kept, edited]);
  });
});

describe("context", () => {
  it("[T57] is the path to the head, each call followed by its results", async () => {
    const harness = new TestHarness();
    const { c, q, result } = await story(harness);
    expect(await context(harness, c)).toEqual(["q", "call", "result", "image", "answer"]);
    expect(await context(harness, c, q)).toEqual(["q"]);
    expect(await context(harness, c, result)).toEqual(["q", "call", "result", "image"]);
    expect(await context(harness, await harness.conversation())).toEqual([]);
    const other = await harness.block(await harness.conversation(), "x");
    expect(await contextOf(harness.kernel, c, other)).toMatchObject({ problem: "not_found" });
    expect(await contextOf(harness.kernel, "nowhere")).toMatchObject({ problem: "not_found" });
  });

  it("[T54] prune takes a block and what hangs off it out, and puts it back", async () => {
    const harness = new TestHarness();
    const { c, call, result, q } = await story(harness);
    expect(await harness.ok("conversation.prune", { block_id: call })).toEqual({ version: 2, pruned: true });
    expect(await context(harness, c)).toEqual(["q", "answer"]);
    expect(await harness.ok("conversation.prune", { block_id: call })).toEqual({ version: 2, pruned: true });
    expect(await harness.ok("conversation.prune", { block_id: call, pruned: false })).toEqual({
      version: 3,
      pruned: false,
    });
    await harness.ok("conversation.prune", { block_id: result });
    await harness.ok("conversation.prune", { block_id: q });
    expect(await context(harness, c)).toEqual(["call", "image", "answer"]);
    expect(await harness.text(q)).toBe("q");
  });

  it("[T55] include puts a block of elsewhere in front, as it is at the time", async () => {
    const harness = new TestHarness();
    const { c, answer } = await story(harness);
    const file = await harness.file(await harness.conversation(), "a", "file 1");
    expect(await harness.ok("conversation.include", { conversation: c, block_id: file })).toEqual({
      included: [file],
    });
    await harness.ok("conversation.include", { conversation: c, block_id: file });
    await harness.ok("block.append", { block_id: file, text: "!\n", wait: true });
    expect(await context(harness, c)).toEqual(["+file 1!\n", "q", "call", "result", "image", "answer"]);
    // A block of the path is there once.
    await harness.ok("conversation.include", { conversation: c, block_id: answer });
    expect((await context(harness, c)).filter((text) => text.endsWith("answer"))).toEqual(["answer"]);
    expect(
      await harness.ok("conversation.include", { conversation: c, block_id: file, included: false }),
    ).toEqual({ included: [answer] });
    const many = await harness.conversation();
    await harness.kernel.write(many, {
      agent: "ann",
      plan: (draft) => {
        for (let i = 0; i < limits.includedBlocks; i++) draft.conversation({ include: `${many}/x/${i}` });
        return null;
      },
    });
    expect(
      await harness.problem("conversation.include", { conversation: many, block_id: file }),
    ).toMatchObject({
      problem: "too_large",
      details: { max: limits.includedBlocks },
    });
  });
});

describe("export", () => {
  it("[T56] has the record, the turns, every block with its text, and an end", async () => {
    const harness = new TestHarness();
    const { c, call } = await story(harness);
    await harness.kernel.write(c, {
      agent: "bob",
      plan: (draft) =>
        draft.setTurn({
          id: "t1",
          provider: "claude",
          agent: "bob",
          status: "running",
          startedAt: 1,
          messages: {
            m: { usage: { input: 1, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0 }, parent: call },
          },
        }),
    });
    const stream = await harness.stream<ExportLine>("conversation.export", { conversation: c });
    const lines: ExportLine[] = [];
    for (let next = await stream.next(); !next.done; next = await stream.next()) lines.push(next.value);
    expect(lines.map(({ type }) => type)).toEqual(["conversation", "turn", ...Array(6).fill("block"), "end"]);
    expect(lines[0]).toMatchObject({ conversation: c, title: "story", epoch: "desk" });
    expect(lines[1]).toMatchObject({
      turn: "t1",
      messages: { m: { usage: { input: 1, cache_read: 0 }, parent_id: call } },
    });
    expect(lines.at(-1)).toEqual({ type: "end", blocks: 6, seq: 8 });
    // Nothing of a block's record is lost, and it is JSON as it stands.
    expect(JSON.parse(JSON.stringify(lines))).toEqual(lines);
    for (const [i, block] of (
      await harness.store.blocks({ conversation: c, order: "first", limit: 10 })
    ).entries()) {
      const { id, parent, createdAt, updatedAt, ...rest } = block;
      expect(lines[i + 2]).toEqual({
        type: "block",
        block_id: id,
        parent_id: parent,
        created_at: createdAt,
        updated_at: updatedAt,
        ...rest,
        content: await harness.text(id),
      });
    }
  });

  it("[T56] reads a long conversation page by page", async () => {
    const harness = new TestHarness();
    const c = await harness.conversation();
    await harness.kernel.write(c, {
      agent: "ann",
      plan: (draft) => {
        for (let i = 0; i < 450; i++) draft.create({ kind: "text", role: "user", text: `${i}` });
        return null;
      },
    });
    const stream = await harness.stream<ExportLine>("conversation.export", { conversation: c });
    const texts: string[] = [];
    for (let next = await stream.next(); !next.done; next = await stream.next()) {
      if (next.value.type === "block") texts.push(next.value.content);
    }
    expect(texts).toEqual(Array.from({ length: 450 }, (_, i) => `${i}`));
  });
});

it("[K97] who renames a conversation keeps that title; no call says where a title comes from", async () => {
  const harness = new TestHarness();
  const c = await harness.conversation();
  await harness.kernel.write(c, {
    agent: "claude",
    plan: (draft) => {
      draft.conversation({ title: "Auto", metadata: { titled: "provider" } });
      return null;
    },
  });
  await harness.ok("conversation.update", { conversation: c, title: "Mine" });
  const { conversation } = await harness.ok("conversation.read", { conversation: c });
  expect(conversation).toMatchObject({ title: "Mine", metadata: {} });
  expect((conversation as { metadata: object }).metadata).not.toHaveProperty("titled");
  expect(await harness.problem("conversation.create", { metadata: { titled: "provider" } })).toMatchObject({
    problem: "forbidden",
  });
});
