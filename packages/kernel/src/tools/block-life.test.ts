/** block.create, block.status and block.append: the life of a block. */

import { describe, expect, it } from "vitest";
import type { Problem } from "../model/problem.ts";
import { ann, bob, TestHarness } from "../testing/harness.ts";

describe("block.create", () => {
  it("[T32] goes behind the head unless it says otherwise, and gives an id that other tools take", async () => {
    const harness = new TestHarness();
    const c = await harness.conversation();
    const first = await harness.ok("block.create", {
      conversation: c,
      role: "user",
      kind: "text",
      content: "hi",
    });
    expect(first).toEqual({ block_id: `${c}/ann/2`, version: 1, status: "done" });
    const second = await harness.ok("block.create", { conversation: c, role: "model", kind: "text" }, bob);
    expect(second).toEqual({ block_id: `${c}/bob/3`, version: 1, status: "pending" });
    const under = { parent_id: first["block_id"], role: "model", kind: "thinking", status: "done" };
    const third = await harness.ok("block.create", under);
    const root = await harness.ok("block.create", {
      conversation: c,
      parent_id: null,
      role: "user",
      kind: "text",
    });
    const parents = async (answer: Record<string, unknown>) =>
      (await harness.store.block(answer["block_id"] as string))?.parent;
    expect(await parents(first)).toBeNull();
    expect(await parents(second)).toBe(first["block_id"]);
    expect(await parents(third)).toBe(first["block_id"]);
    expect(await parents(root)).toBeNull();
    expect(third["status"]).toBe("done");
  });

  it("[T94] a result below a call names that call, unless it names one itself", async () => {
    const harness = new TestHarness();
    const conversation = await harness.conversation();
    const metadata = { toolUseId: "t1", toolName: "get_cell" };
    const call = await harness.ok("block.create", {
      conversation,
      role: "model",
      kind: "tool_call",
      metadata,
    });
    const parent_id = call["block_id"];
    const result = async (more: object) => {
      const made = await harness.ok("block.create", { parent_id, role: "tool", status: "done", ...more });
      return (await harness.store.block(made["block_id"] as string))?.metadata;
    };
    expect(await result({ kind: "tool_result", content: "42" })).toMatchObject(metadata);
    expect(await result({ kind: "command", metadata: { command: "ls" } })).toMatchObject(metadata);
    const other = { toolUseId: "t2", toolName: "other" };
    expect(await result({ kind: "tool_result", metadata: other })).toMatchObject(other);
  });

  it("[T67] what a user or the system says with content is done at once; what a model says may grow", async () => {
    const harness = new TestHarness();
    const conversation = await harness.conversation();
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
      expect(await harness.ok("block.create", { conversation, ...given })).toMatchObject({ status });
  });

  it("[T68] without a workspace no file is made, and no call changes what a file's block says of the file", async () => {
    const harness = new TestHarness();
    const conversation = await harness.conversation();
    const file = { kind: "file", role: "tool", content: "x", metadata: { path: "a.ts" } };
    expect(await harness.problem("block.create", file)).toMatchObject({ problem: "invalid" });
    expect(await harness.problem("block.create", { ...file, conversation })).toMatchObject({
      problem: "invalid",
      details: { unknown_fields: ["conversation"] },
    });
    const id = await harness.file(conversation, "a.ts", "x");
    for (const change of [
      { metadata: { path: "b.ts" } },
      { metadata: { persistedVersion: 9 } },
      { status: "done" },
    ])
      expect(await harness.problem("block.status", { block_id: id, ...change })).toMatchObject({
        problem: "forbidden",
      });
  });

  it("[T32] every kind is made, with the metadata that it needs", async () => {
    const harness = new TestHarness();
    const conversation = await harness.conversation();
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
      const { block_id } = await harness.ok("block.create", { conversation, role: "tool", kind, metadata });
      const read = await harness.ok("block.read", { block_id });
      expect(read).toMatchObject({ kind, role: "tool", metadata, content: "", line_count: 0 });
    }
  });

  it("[T32] results hang off their call, other blocks continue the conversation", async () => {
    const harness = new TestHarness();
    const c = await harness.conversation();
    const metadata = { toolUseId: "1", toolName: "x" };
    const call = await harness.block(c, "", bob, { kind: "tool_call", role: "model", metadata });
    const result = await harness.block(c, "r", bob, {
      kind: "tool_result",
      role: "tool",
      parent_id: call,
      metadata,
    });
    const next = await harness.block(c, "next", bob);
    expect((await harness.store.block(result))?.side).toBe(true);
    expect((await harness.store.block(next))?.parent).toBe(call);
    const aside = await harness.block(c, "note", bob, { side: true });
    expect((await harness.kernel.conversation(c)) as object).toMatchObject({ head: next });
    expect((await harness.store.block(aside))?.side).toBe(true);
  });
});

describe("block.status", () => {
  it("[T33] moves forward only and patches metadata in the same step", async () => {
    const harness = new TestHarness();
    const c = await harness.conversation();
    const id = await harness.block(c, "");
    expect(await harness.ok("block.status", { block_id: id, status: "running" })).toEqual({
      version: 2,
      status: "running",
    });
    expect(await harness.ok("block.status", { block_id: id, metadata: { label: "x", notice: "n" } })).toEqual(
      {
        version: 3,
        status: "running",
      },
    );
    const end = { block_id: id, status: "error", metadata: { reason: "failed", label: null } };
    expect(await harness.ok("block.status", end)).toEqual({ version: 4, status: "error" });
    expect(await harness.ok("block.read", { block_id: id })).toMatchObject({
      metadata: { reason: "failed", notice: "n" },
    });
    expect(await harness.problem("block.status", { block_id: id, status: "done" })).toMatchObject({
      problem: "closed",
    });
    const skipped = await harness.block(c, "");
    expect(await harness.ok("block.status", { block_id: skipped, status: "done" })).toEqual({
      version: 2,
      status: "done",
    });
  });

  it("[T33] what was streamed is in the block before it ends", async () => {
    const harness = new TestHarness();
    const id = await harness.block(await harness.conversation(), "");
    await harness.ok("block.append", { block_id: id, text: "tail" });
    await harness.ok("block.status", { block_id: id, status: "done" });
    expect(await harness.text(id)).toBe("tail");
  });
});

describe("block.append", () => {
  it("[T34] is answered when accepted, and durable after the flush rule or when waited for", async () => {
    const harness = new TestHarness();
    const id = await harness.block(await harness.conversation(), "");
    expect(await harness.ok("block.append", { block_id: id, text: "a" })).toEqual({ accepted: true });
    expect(await harness.text(id)).toBe("");
    await harness.env.advance(100);
    expect(await harness.text(id)).toBe("a");
    expect(await harness.ok("block.append", { block_id: id, text: "b", wait: true })).toEqual({
      accepted: true,
      version: 3,
      durable_version: 3,
    });
    expect(await harness.ok("block.append", { block_id: id, text: "", wait: true })).toEqual({
      accepted: true,
      version: 3,
      durable_version: 3,
    });
    await harness.ok("block.append", { block_id: id, text: "c\n" });
    await harness.env.advance(0);
    expect(await harness.text(id)).toBe("abc\n");
    expect(await harness.store.block(id)).toMatchObject({ status: "running", version: 4, promoted: false });
  });

  it("[T66] whatever its caller does next sees what it has appended", async () => {
    const harness = new TestHarness();
    const c = await harness.conversation();
    const id = await harness.block(c, "one\n", bob, { status: "running" });
    const append = (text: string) => harness.ok("block.append", { block_id: id, text }, bob);
    await append("two");
    expect(await harness.ok("block.read", { block_id: id, line_numbers: false }, bob)).toMatchObject({
      content: "one\ntwo",
      version: 2,
    });
    await append(" three");
    const found = await harness.ok("block.search", { block_id: id, query: "three" }, bob);
    expect(found["matches"]).toHaveLength(1);
    await append(" four");
    const all = await harness.ok("kernel.search", { query: "four", kinds: "all" }, bob);
    expect(all["blocks"]).toHaveLength(1);
    await append(" five");
    const rows = await harness.ok("block.list", { conversation: c }, bob);
    expect((rows["blocks"] as { summary: string }[])[0]?.summary).toContain("five");
    await append(" six");
    const lines = [
      { op: "replace", start_line: 1, end_line: 2, content: "2", expected_text: "two three four five six" },
    ];
    await harness.ok("block.edit", { block_id: id, operations: lines }, bob);
    const other = await harness.block(c, "x\n", bob, { status: "running" });
    await harness.ok("block.append", { block_id: other, text: "y" }, bob);
    const patch = "@@ -1,2 +1,2 @@\n x\n-y\n+z\n";
    const planned = await harness.ok("block.apply_patch", { block_id: other, patch, dry_run: true }, bob);
    expect(planned).toMatchObject({ success: true });
  });

  it("[T66] half a character at the end of a stream goes on waiting while its caller looks", async () => {
    const harness = new TestHarness();
    const id = await harness.block(await harness.conversation(), "", bob);
    await harness.ok("block.append", { block_id: id, text: "a\ud83d" }, bob);
    expect(await harness.ok("block.read", { block_id: id, line_numbers: false }, bob)).toMatchObject({
      content: "a",
    });
    await harness.ok("block.append", { block_id: id, text: "\ude00", wait: true }, bob);
    expect(await harness.text(id)).toBe("a😀");
  });

  it("[T34] goes on behind the caller's own text, whoever writes around it", async () => {
    const harness = new TestHarness();
    const id = await harness.block(await harness.conversation(), "");
    await harness.ok("block.append", { block_id: id, text: "one ", wait: true });
    await harness.ok("block.splice", { block_id: id, offset: 4, insert: "(note)" }, bob);
    await harness.ok("block.append", { block_id: id, text: "two ", wait: true });
    await harness.ok("block.append", { block_id: id, text: "!", wait: true }, bob);
    await harness.ok("block.append", { block_id: id, text: "three", wait: true });
    expect(await harness.text(id)).toBe("one two three(note)!");
  });

  it("[T34] half a character waits for its other half; with a key, or to wait for it, it is refused", async () => {
    const harness = new TestHarness();
    const id = await harness.block(await harness.conversation(), "");
    await harness.ok("block.append", { block_id: id, text: "\n\ud83d" });
    await harness.ok("block.append", { block_id: id, text: "\ude00", wait: true });
    expect(await harness.text(id)).toBe("\n😀");
    const answer = (await harness.ask(
      "block.append",
      { block_id: id, text: "\ud83d" },
      ann,
      "key",
    )) as Problem;
    expect(answer).toMatchObject({ problem: "boundary", details: { chars: 1, whole_chars: 0 } });
    const waiting = await harness.problem("block.append", { block_id: id, text: "x\ud83d", wait: true });
    expect(waiting).toMatchObject({ problem: "boundary", details: { chars: 2, whole_chars: 1 } });
    expect(await harness.text(id)).toBe("\n😀");
    expect(await harness.ok("block.append", { block_id: id, text: "\r\n", wait: true }, ann, "k")).toEqual({
      accepted: true,
      version: 4,
      durable_version: 4,
    });
  });

  it("[K36] an append that is waited for and held is neither written nor refused, and there once in the end", async () => {
    const harness = new TestHarness();
    const id = await harness.block(await harness.conversation(), "");
    const { commit } = harness.store;
    harness.store.commit = () => Promise.reject(new Error("the disk is full"));
    const answer = await harness.problem("block.append", { block_id: id, text: "held\n", wait: true });
    expect(answer).toMatchObject({ problem: "uncertain", details: { accepted: true } });
    harness.store.commit = commit;
    await harness.ok("block.append", { block_id: id, text: "next\n", wait: true });
    expect(await harness.text(id)).toBe("held\nnext\n");
  });

  it("[T34] appends to 10 MB", async () => {
    const harness = new TestHarness();
    const id = await harness.block(await harness.conversation(), "x".repeat(10_000_000));
    for (let i = 0; i < 50; i++)
      await harness.ok("block.append", { block_id: id, text: `line ${i}\n`, wait: true });
    expect((await harness.text(id)).slice(-8)).toBe("line 49\n");
  });
});
