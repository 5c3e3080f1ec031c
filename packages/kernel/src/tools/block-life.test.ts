/** block.create, block.status and block.append: the life of a block. */

import { describe, expect, it } from "vitest";
import type { Problem } from "../model/problem.ts";
import { ann, bob, Desk } from "../testing/desk.ts";

describe("block.create", () => {
  it("[T32] goes behind the head unless it says otherwise, and gives an id that other tools take", async () => {
    const desk = new Desk();
    const c = await desk.conversation();
    const first = await desk.ok("block.create", {
      conversation: c,
      role: "user",
      kind: "text",
      content: "hi",
    });
    expect(first).toEqual({ block_id: `${c}/ann/2`, version: 1, status: "done" });
    const second = await desk.ok("block.create", { conversation: c, role: "model", kind: "text" }, bob);
    expect(second).toEqual({ block_id: `${c}/bob/3`, version: 1, status: "pending" });
    const under = { parent_id: first["block_id"], role: "model", kind: "thinking", status: "done" };
    const third = await desk.ok("block.create", under);
    const root = await desk.ok("block.create", {
      conversation: c,
      parent_id: null,
      role: "user",
      kind: "text",
    });
    const parents = async (answer: Record<string, unknown>) =>
      (await desk.store.block(answer["block_id"] as string))?.parent;
    expect(await parents(first)).toBeNull();
    expect(await parents(second)).toBe(first["block_id"]);
    expect(await parents(third)).toBe(first["block_id"]);
    expect(await parents(root)).toBeNull();
    expect(third["status"]).toBe("done");
  });

  it("[T67] what a user or the system says with content is done at once; what a model says may grow", async () => {
    const desk = new Desk();
    const conversation = await desk.conversation();
    const rows: [object, string][] = [
      [{ role: "user", kind: "text", content: "hi" }, "done"],
      [{ role: "system", kind: "text", content: "be brief" }, "done"],
      [{ role: "user", kind: "code", content: "x" }, "done"],
      [{ role: "user", kind: "text" }, "pending"],
      [{ role: "user", kind: "text", content: "" }, "pending"],
      [{ role: "user", kind: "text", content: "hi", status: "running" }, "running"],
      [{ role: "model", kind: "text", content: "well" }, "running"],
      [{ role: "tool", kind: "code", content: "x" }, "running"],
    ];
    for (const [given, status] of rows)
      expect(await desk.ok("block.create", { conversation, ...given })).toMatchObject({ status });
  });

  it("[T68] without a workspace no file is made, and no call changes what a file's block says of the file", async () => {
    const desk = new Desk();
    const conversation = await desk.conversation();
    const file = { kind: "file", role: "tool", content: "x", metadata: { path: "a.ts" } };
    expect(await desk.problem("block.create", file)).toMatchObject({ problem: "invalid" });
    expect(await desk.problem("block.create", { ...file, conversation })).toMatchObject({
      problem: "invalid",
      details: { unknown_fields: ["conversation"] },
    });
    const id = await desk.file(conversation, "a.ts", "x");
    for (const change of [
      { metadata: { path: "b.ts" } },
      { metadata: { persistedVersion: 9 } },
      { status: "done" },
    ])
      expect(await desk.problem("block.status", { block_id: id, ...change })).toMatchObject({
        problem: "forbidden",
      });
  });

  it("[T32] every kind is made, with the metadata that it needs", async () => {
    const desk = new Desk();
    const conversation = await desk.conversation();
    const result = { toolUseId: "1", toolName: "x" };
    const kinds: [string, object][] = [
      ["text", { citations: [{ url: "u" }] }],
      ["thinking", { signature: "s" }],
      ["tool_call", { ...result, input: { a: [1] } }],
      ["tool_result", { ...result, isError: false }],
      ["code", { filename: "a.ts" }],
      ["command", { command: "ls", exitCode: null }],
      ["file_change", { changes: [{ path: "a", kind: "add" }] }],
      ["todo", { items: [{ content: "x", status: "pending" }] }],
      ["image", { mediaType: "image/png" }],
      ["error", { code: "x" }],
      ["unknown", { type: "x" }],
    ];
    for (const [kind, metadata] of kinds) {
      const { block_id } = await desk.ok("block.create", { conversation, role: "tool", kind, metadata });
      const read = await desk.ok("block.read", { block_id });
      expect(read).toMatchObject({ kind, role: "tool", metadata, content: "", line_count: 0 });
    }
  });

  it("[T32] results hang off their call, other blocks continue the conversation", async () => {
    const desk = new Desk();
    const c = await desk.conversation();
    const metadata = { toolUseId: "1", toolName: "x" };
    const call = await desk.block(c, "", bob, { kind: "tool_call", role: "model", metadata });
    const result = await desk.block(c, "r", bob, {
      kind: "tool_result",
      role: "tool",
      parent_id: call,
      metadata,
    });
    const next = await desk.block(c, "next", bob);
    expect((await desk.store.block(result))?.side).toBe(true);
    expect((await desk.store.block(next))?.parent).toBe(call);
    const aside = await desk.block(c, "note", bob, { side: true });
    expect((await desk.kernel.conversation(c)) as object).toMatchObject({ head: next });
    expect((await desk.store.block(aside))?.side).toBe(true);
  });
});

describe("block.status", () => {
  it("[T33] moves forward only and patches metadata in the same step", async () => {
    const desk = new Desk();
    const c = await desk.conversation();
    const id = await desk.block(c, "");
    expect(await desk.ok("block.status", { block_id: id, status: "running" })).toEqual({
      version: 2,
      status: "running",
    });
    expect(await desk.ok("block.status", { block_id: id, metadata: { label: "x", notice: "n" } })).toEqual({
      version: 3,
      status: "running",
    });
    const end = { block_id: id, status: "error", metadata: { reason: "failed", label: null } };
    expect(await desk.ok("block.status", end)).toEqual({ version: 4, status: "error" });
    expect(await desk.ok("block.read", { block_id: id })).toMatchObject({
      metadata: { reason: "failed", notice: "n" },
    });
    expect(await desk.problem("block.status", { block_id: id, status: "done" })).toMatchObject({
      problem: "closed",
    });
    const skipped = await desk.block(c, "");
    expect(await desk.ok("block.status", { block_id: skipped, status: "done" })).toEqual({
      version: 2,
      status: "done",
    });
  });

  it("[T33] what was streamed is in the block before it ends", async () => {
    const desk = new Desk();
    const id = await desk.block(await desk.conversation(), "");
    await desk.ok("block.append", { block_id: id, text: "tail" });
    await desk.ok("block.status", { block_id: id, status: "done" });
    expect(await desk.text(id)).toBe("tail");
  });
});

describe("block.append", () => {
  it("[T34] is answered when accepted, and durable after the flush rule or when waited for", async () => {
    const desk = new Desk();
    const id = await desk.block(await desk.conversation(), "");
    expect(await desk.ok("block.append", { block_id: id, text: "a" })).toEqual({ accepted: true });
    expect(await desk.text(id)).toBe("");
    await desk.env.advance(100);
    expect(await desk.text(id)).toBe("a");
    expect(await desk.ok("block.append", { block_id: id, text: "b", wait: true })).toEqual({
      accepted: true,
      version: 3,
      durable_version: 3,
    });
    expect(await desk.ok("block.append", { block_id: id, text: "", wait: true })).toEqual({
      accepted: true,
      version: 3,
      durable_version: 3,
    });
    await desk.ok("block.append", { block_id: id, text: "c\n" });
    await desk.env.advance(0);
    expect(await desk.text(id)).toBe("abc\n");
    expect(await desk.store.block(id)).toMatchObject({ status: "running", version: 4, promoted: false });
  });

  it("[T66] whatever its caller does next sees what it has appended", async () => {
    const desk = new Desk();
    const c = await desk.conversation();
    const id = await desk.block(c, "one\n", bob, { status: "running" });
    const append = (text: string) => desk.ok("block.append", { block_id: id, text }, bob);
    await append("two");
    expect(await desk.ok("block.read", { block_id: id, line_numbers: false }, bob)).toMatchObject({
      content: "one\ntwo",
      version: 2,
    });
    await append(" three");
    const found = await desk.ok("block.search", { block_id: id, query: "three" }, bob);
    expect(found["matches"]).toHaveLength(1);
    await append(" four");
    const all = await desk.ok("kernel.search", { query: "four", kinds: "all" }, bob);
    expect(all["blocks"]).toHaveLength(1);
    await append(" five");
    const rows = await desk.ok("block.list", { conversation: c }, bob);
    expect((rows["blocks"] as { summary: string }[])[0]?.summary).toContain("five");
    await append(" six");
    const lines = [
      { op: "replace", start_line: 1, end_line: 2, content: "2", expected_text: "two three four five six" },
    ];
    await desk.ok("block.edit", { block_id: id, operations: lines }, bob);
    const other = await desk.block(c, "x\n", bob, { status: "running" });
    await desk.ok("block.append", { block_id: other, text: "y" }, bob);
    const patch = "@@ -1,2 +1,2 @@\n x\n-y\n+z\n";
    const planned = await desk.ok("block.apply_patch", { block_id: other, patch, dry_run: true }, bob);
    expect(planned).toMatchObject({ success: true });
  });

  it("[T66] half a character at the end of a stream goes on waiting while its caller looks", async () => {
    const desk = new Desk();
    const id = await desk.block(await desk.conversation(), "", bob);
    await desk.ok("block.append", { block_id: id, text: "a\ud83d" }, bob);
    expect(await desk.ok("block.read", { block_id: id, line_numbers: false }, bob)).toMatchObject({
      content: "a",
    });
    await desk.ok("block.append", { block_id: id, text: "\ude00", wait: true }, bob);
    expect(await desk.text(id)).toBe("a😀");
  });

  it("[T34] goes on behind the caller's own text, whoever writes around it", async () => {
    const desk = new Desk();
    const id = await desk.block(await desk.conversation(), "");
    await desk.ok("block.append", { block_id: id, text: "one ", wait: true });
    await desk.ok("block.splice", { block_id: id, offset: 4, insert: "(note)" }, bob);
    await desk.ok("block.append", { block_id: id, text: "two ", wait: true });
    await desk.ok("block.append", { block_id: id, text: "!", wait: true }, bob);
    await desk.ok("block.append", { block_id: id, text: "three", wait: true });
    expect(await desk.text(id)).toBe("one two three(note)!");
  });

  it("[T34] half a character waits for its other half; with a key, or to wait for it, it is refused", async () => {
    const desk = new Desk();
    const id = await desk.block(await desk.conversation(), "");
    await desk.ok("block.append", { block_id: id, text: "\n\ud83d" });
    await desk.ok("block.append", { block_id: id, text: "\ude00", wait: true });
    expect(await desk.text(id)).toBe("\n😀");
    const answer = (await desk.ask("block.append", { block_id: id, text: "\ud83d" }, ann, "key")) as Problem;
    expect(answer).toMatchObject({ problem: "boundary", details: { chars: 1, whole_chars: 0 } });
    const waiting = await desk.problem("block.append", { block_id: id, text: "x\ud83d", wait: true });
    expect(waiting).toMatchObject({ problem: "boundary", details: { chars: 2, whole_chars: 1 } });
    expect(await desk.text(id)).toBe("\n😀");
    expect(await desk.ok("block.append", { block_id: id, text: "\r\n", wait: true }, ann, "k")).toEqual({
      accepted: true,
      version: 4,
      durable_version: 4,
    });
  });

  it("[K36] an append that is waited for and held is neither written nor refused, and there once in the end", async () => {
    const desk = new Desk();
    const id = await desk.block(await desk.conversation(), "");
    const { commit } = desk.store;
    desk.store.commit = () => Promise.reject(new Error("the disk is full"));
    const answer = await desk.problem("block.append", { block_id: id, text: "held\n", wait: true });
    expect(answer).toMatchObject({ problem: "uncertain", details: { accepted: true } });
    desk.store.commit = commit;
    await desk.ok("block.append", { block_id: id, text: "next\n", wait: true });
    expect(await desk.text(id)).toBe("held\nnext\n");
  });

  it("[T34] appends to 10 MB", async () => {
    const desk = new Desk();
    const id = await desk.block(await desk.conversation(), "x".repeat(10_000_000));
    for (let i = 0; i < 50; i++)
      await desk.ok("block.append", { block_id: id, text: `line ${i}\n`, wait: true });
    expect((await desk.text(id)).slice(-8)).toBe("line 49\n");
  });
});
