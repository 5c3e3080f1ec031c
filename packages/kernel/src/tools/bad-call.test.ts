/**
 * The table of bad calls, for every tool: a problem with a code and the numbers involved; no op, no version, no seq, no
 * crash. Each row is checked against everything that is stored, and a good call afterwards still works.
 */

import { expect, it } from "vitest";
import { limits } from "../model/limits.ts";
import { ann, bob, eve, TestHarness } from "../testing/harness.ts";
import { random32 } from "../testing/virtual-env.ts";
import { coreTools } from "./index.ts";
import type { Caller } from "./tool.ts";

interface World {
  readonly c: string;
  readonly other: string;
  /** "a\nb\nc\n", at version 1. */
  readonly t: string;
  /** Empty. */
  readonly e: string;
  /** "é😀\r\n日本\r\nend" */
  readonly u: string;
  /** Ended. */
  readonly d: string;
  /** A tool call of Bob's. */
  readonly call: string;
  /** Its result, on the side. */
  readonly result: string;
  readonly none: string;
}

async function build(harness: TestHarness): Promise<World> {
  const c = await harness.conversation("c");
  const other = await harness.conversation("other");
  const t = await harness.block(c, "a\nb\nc\n");
  const e = await harness.block(c, "");
  const u = await harness.block(c, "é😀\r\n日本\r\nend");
  const d = await harness.block(c, "done\n", ann, { status: "done" });
  const call = await harness.block(c, "", bob, {
    kind: "tool_call",
    role: "model",
    metadata: { toolUseId: "1", toolName: "x" },
  });
  const result = await harness.block(c, "r", bob, {
    kind: "tool_result",
    role: "tool",
    parent_id: call,
    metadata: { toolUseId: "1", toolName: "x" },
  });
  return { c, other, t, e, u, d, call, result, none: `${c}/ann/999` };
}

type Row = [tool: string, input: object, code: string, details?: object, caller?: Caller];

function rows(w: World): Row[] {
  const { c, other, t, e, u, d, call, result, none } = w;
  const edit = (block_id: string, ...operations: object[]) => ({ block_id, operations });
  const insert = (line: number, content = "x") => ({ op: "insert", line, content });
  const replace = (start_line: number, end_line: number, more = {}) => ({
    op: "replace",
    start_line,
    end_line,
    content: "x",
    ...more,
  });
  const create = { conversation: c, role: "user", kind: "text" };
  const unknownIds: Row[] = coreTools
    .filter(
      ({ name }) =>
        /^block\.|fork|prune|include|cursor/.test(name) && !/create|list|sync|subscribe/.test(name),
    )
    .flatMap(({ name }) => {
      const rest: Record<string, object> = {
        "block.append": { text: "x" },
        "block.edit": { operations: [insert(0)] },
        "block.splice": { offset: 0 },
        "block.apply_patch": { patch: "@@\n-a\n+b\n" },
        "block.search": { query: "x" },
        "block.status": { status: "done" },
        "conversation.include": { conversation: c },
      };
      return [none, "nonsense", "a/b/c", `${c}/ann/1e3`, `../${t}`, "\ud800/\0/1"].map(
        (block_id): Row => [name, { block_id, ...rest[name] }, "not_found"],
      );
    });
  return [
    ...unknownIds,
    // block.create
    ["block.create", { role: "user", kind: "text" }, "invalid"],
    ["block.create", { ...create, conversation: "nowhere" }, "not_found"],
    ["block.create", { ...create, parent_id: none }, "not_found"],
    ["block.create", { ...create, parent_id: "nonsense" }, "not_found"],
    ["block.create", { ...create, conversation: other, parent_id: t }, "invalid", { parent_conversation: c }],
    ["block.create", { ...create, kind: "poem" }, "invalid", { field: "kind" }],
    [
      "block.create",
      { ...create, kind: "tool_call" },
      "invalid",
      { valid_keys: expect.arrayContaining(["toolUseId"]) },
    ],
    ["block.create", { ...create, metadata: { paht: "x" } }, "invalid", { valid_keys: expect.any(Array) }],
    ["block.create", { ...create, metadata: { extra: "x" } }, "invalid"],
    [
      "block.create",
      { ...create, metadata: { label: "x".repeat(limits.metadataChars) } },
      "too_large",
      { max_chars: limits.metadataChars },
    ],
    ["block.create", { ...create, content: 7 }, "invalid", { field: "content", expected: "string" }],
    ["block.create", create, "forbidden", {}, eve],
    // block.status
    ["block.status", { block_id: t }, "invalid", { valid_fields: ["block_id", "status", "metadata"] }],
    ["block.status", { block_id: t, status: "pending" }, "transition", { from: "running", to: "pending" }],
    ["block.status", { block_id: t, status: "running" }, "transition"],
    ["block.status", { block_id: t, status: "streaming" }, "invalid", { field: "status" }],
    ["block.status", { block_id: d, status: "error" }, "closed", { from: "done", to: "error" }],
    ["block.status", { block_id: d, status: "running" }, "closed"],
    [
      "block.status",
      { block_id: t, status: "done", metadata: { nope: 1 } },
      "invalid",
      { valid_keys: expect.any(Array) },
    ],
    ["block.status", { block_id: t, metadata: { stage: "running" } }, "invalid"],
    ["block.status", { block_id: call, metadata: { stage: "end" } }, "transition"],
    ["block.status", { block_id: call, metadata: { stage: "start" } }, "transition"],
    ["block.status", { block_id: call, metadata: { toolUseId: null } }, "invalid"],
    ["block.status", { block_id: t, status: "done" }, "forbidden", { agent: "ann" }, bob],
    // block.append
    ["block.append", { block_id: d, text: "x" }, "closed", { status: "done", version: 1 }],
    ["block.append", { block_id: t }, "invalid", { field: "text" }],
    ["block.append", { block_id: t, text: ["x"] }, "invalid", { field: "text" }],
    ["block.append", { block_id: t, text: "x", wait: "yes" }, "invalid", { field: "wait" }],
    // block.edit
    ["block.edit", edit(t, insert(4)), "out_of_range", { line: 4, line_count: 3 }],
    ["block.edit", edit(e, insert(1)), "out_of_range", { line_count: 0 }],
    ["block.edit", edit(u, insert(4)), "out_of_range", { line_count: 3 }],
    ["block.edit", edit(t, replace(2, 4)), "out_of_range", { start_line: 2, end_line: 4, line_count: 3 }],
    ["block.edit", edit(t, replace(2, 2)), "out_of_range"],
    ["block.edit", edit(t, replace(2, 1)), "out_of_range"],
    ["block.edit", edit(t, replace(0, 2), replace(1, 3)), "overlap", { operations: [0, 1] }],
    ["block.edit", edit(t, replace(0, 3), insert(1)), "overlap", { operations: [0, 1] }],
    [
      "block.edit",
      edit(t, replace(0, 1, { expected_text: "b" })),
      "mismatch",
      { actual: "a", expected: "b", version: 1 },
    ],
    ["block.edit", edit(t, insert(0), replace(0, 1, { expected_text: "b" })), "mismatch", { operation: 1 }],
    [
      "block.edit",
      { ...edit(t, insert(0)), base_version: 2 },
      "out_of_range",
      { base_version: 2, version: 1 },
    ],
    ["block.edit", { ...edit(t, insert(0)), base_version: 0 }, "invalid", { field: "base_version", min: 1 }],
    [
      "block.edit",
      edit(t, { op: "insert", line: "0", content: "x" }),
      "invalid",
      { field: "operations.0.line" },
    ],
    [
      "block.edit",
      edit(t, { op: "insert", line: 2 ** 53, content: "x" }),
      "invalid",
      { field: "operations.0.line" },
    ],
    [
      "block.edit",
      edit(t, { op: "insert", line: 0, content: null }),
      "invalid",
      { field: "operations.0.content" },
    ],
    // block.splice
    ["block.splice", { block_id: u, offset: 1 }, "boundary", { byte: 1, before: 0, after: 2 }],
    ["block.splice", { block_id: u, offset: 3, insert: "x" }, "boundary", { byte: 3, before: 2, after: 6 }],
    ["block.splice", { block_id: u, offset: 4 }, "boundary", { before: 2, after: 6 }],
    [
      "block.splice",
      { block_id: u, offset: 0, delete_count: 5 },
      "boundary",
      { byte: 5, before: 2, after: 6 },
    ],
    [
      "block.splice",
      { block_id: u, offset: 9, delete_count: 1 },
      "boundary",
      { byte: 9, before: 8, after: 11 },
    ],
    ["block.splice", { block_id: t, offset: 7 }, "out_of_range", { byte: 7, byte_length: 6 }],
    ["block.splice", { block_id: t, offset: 0, delete_count: 7 }, "out_of_range", { byte_length: 6 }],
    ["block.splice", { block_id: e, offset: 1 }, "out_of_range", { byte_length: 0 }],
    ["block.splice", { block_id: t, offset: -1 }, "invalid", { field: "offset", min: 0 }],
    ["block.splice", { block_id: t, offset: 0.5 }, "invalid", { field: "offset" }],
    ["block.splice", { block_id: t, offset: 0, base_version: 9 }, "out_of_range", { version: 1 }],
    // block.apply_patch
    [
      "block.apply_patch",
      { block_id: t, patch: "@@ -1 +1 @@\n-x\n+y\n" },
      "patch",
      { errors: [expect.objectContaining({ hunk: 0 })] },
    ],
    [
      "block.apply_patch",
      { block_id: t, patch: "@@ -1 +1 @@\n-a\n+y\n@@ -3 +3 @@\n-x\n+y\n" },
      "patch",
      { version: 1 },
    ],
    ["block.apply_patch", { block_id: t, patch: "nonsense" }, "patch"],
    ["block.apply_patch", { block_id: t, patch: "" }, "patch"],
    ["block.apply_patch", { block_id: t, patch: 5 }, "invalid", { field: "patch" }],
    // block.read
    ["block.read", { block_id: t, range: { start: 2, end: 1 } }, "out_of_range"],
    ["block.read", { block_id: u, range: { start: 0, column: 2 } }, "boundary", { before: 1, after: 3 }],
    ["block.read", { block_id: t, range: { start: 0, column: 9 } }, "out_of_range", { line_chars: 2 }],
    ["block.read", { block_id: t, range: { start: 3, column: 0 } }, "out_of_range"],
    // search
    ["block.search", { block_id: t, query: "(" }, "pattern"],
    ["block.search", { block_id: t, query: "" }, "pattern"],
    ["block.search", { block_id: t, query: "(?=a)" }, "pattern"],
    ["block.search", { block_id: t, query: "x".repeat(limits.patternChars + 1) }, "pattern"],
    [
      "block.search",
      { block_id: t, query: "a", context_lines: limits.contextLines + 1 },
      "invalid",
      { max: limits.contextLines },
    ],
    ["kernel.search", { query: "(" }, "pattern"],
    ["kernel.search", { query: "a", kinds: ["poem"] }, "invalid"],
    ["kernel.search", { query: "a", max_blocks: 0 }, "invalid", { min: 1 }],
    ["kernel.search", { query: "a", after: "yesterday" }, "invalid"],
    // block.list
    ["block.list", { conversation: "nowhere" }, "not_found"],
    ["block.list", { parent_id: none }, "not_found"],
    ["block.list", { conversation: other, after: t }, "invalid"],
    ["block.list", { depth: 65 }, "invalid", { max: limits.listDepth }],
    ["block.list", { depth: 0 }, "invalid", { min: 1 }],
    ["block.list", { limit: limits.listRows + 1 }, "invalid"],
    // sync
    ["block.sync", {}, "invalid", { valid_fields: expect.arrayContaining(["versions", "conversation"]) }],
    ["block.sync", { versions: [{ block_id: none, version: 1 }] }, "not_found"],
    ["block.sync", { versions: [{ block_id: t, version: -1 }] }, "invalid", { field: "versions.0.version" }],
    ["block.sync", { conversation: "nowhere" }, "not_found"],
    [
      "block.sync",
      { conversation: c, wait_ms: limits.syncWaitMs + 1 },
      "invalid",
      { max: limits.syncWaitMs },
    ],
    [
      "block.sync",
      { versions: Array.from({ length: limits.syncBlocks + 1 }, () => ({ block_id: t, version: 1 })) },
      "invalid",
    ],
    ["block.subscribe", { block_ids: [none] }, "not_found"],
    ["block.subscribe", { conversation: "nowhere" }, "not_found"],
    ["block.subscribe", { from_versions: [{ block_id: none, version: 1 }] }, "not_found"],
    // undo, redo, history
    ["block.undo", { block_id: t }, "nothing", { agent: "bob" }, bob],
    ["block.redo", { block_id: t }, "nothing", { agent: "ann" }],
    ["block.undo", { block_id: t, count: 0 }, "invalid", { min: 1 }],
    ["block.history", { block_id: t, version: 2 }, "out_of_range", { present_version: 1 }],
    ["block.history", { block_id: t, version: 0 }, "invalid"],
    // conversation
    ["conversation.create", { title: 7 }, "invalid", { field: "title" }],
    ["conversation.create", { metadata: [] }, "invalid", { field: "metadata" }],
    ["conversation.create", { metadata: { cwd: 7 } }, "invalid", { field: "metadata.cwd" }],
    ["conversation.read", { conversation: "nowhere" }, "not_found"],
    ["conversation.read", { conversation: "../etc" }, "not_found"],
    ["conversation.changes", { conversation: "nowhere" }, "not_found"],
    ["conversation.list", { limit: 0 }, "invalid"],
    ["conversation.fork", { block_id: result }, "invalid", { parent_id: call }],
    ["conversation.prune", { block_id: t, pruned: 1 }, "invalid"],
    ["conversation.prune", { block_id: t }, "forbidden", {}, bob],
    ["conversation.include", { conversation: "nowhere", block_id: t }, "not_found"],
    ["conversation.update", { conversation: "nowhere", title: "x" }, "not_found"],
    ["conversation.update", { conversation: c, title: "x" }, "forbidden", { created_by: "ann" }, bob],
    ["conversation.update", { conversation: c, archived: "yes" }, "invalid", { field: "archived" }],
    ["conversation.delete", { conversation: "nowhere" }, "not_found"],
    ["conversation.delete", { conversation: c }, "forbidden", { role: "agent" }, bob],
    ["conversation.restore", { conversation: "nowhere" }, "not_found"],
    ["conversation.restore", { conversation: c }, "nothing"],
    ["conversation.export", { conversation: "nowhere" }, "not_found"],
    ["cost.report", { by: ["week"] }, "invalid", { field: "by.0" }],
    ["cost.report", { time_zone: "Mars/Base" }, "invalid", { field: "time_zone" }],
    // cursor
    ["cursor.set", { block_id: t, head: { line: 4 } }, "out_of_range", { line_count: 3 }],
    ["cursor.set", { block_id: t, head: { line: 0, column: 2 } }, "out_of_range", { line_chars: 1 }],
    ["cursor.set", { block_id: t, head: { offset: 7 } }, "out_of_range", { length: 6 }],
    ["cursor.set", { block_id: u, head: { offset: 2 } }, "boundary", { before: 1, after: 3 }],
    ["cursor.set", { block_id: u, head: { offset: 0 }, anchor: { line: 0, column: 2 } }, "boundary"],
    ["cursor.set", { block_id: t, base_version: 2 }, "out_of_range", { version: 1 }],
    // turns
    ["turn.begin", { conversation: "nowhere" }, "not_found"],
    ["turn.begin", { conversation: c, model: "" }, "invalid", { field: "model" }],
    ["turn.end", { conversation: c, turn: "none" }, "not_found", { turn: "none" }],
    [
      "turn.end",
      { conversation: c, turn: "x", usage: { input: -1 } },
      "invalid",
      { field: "usage.input", min: 0 },
    ],
    [
      "turn.end",
      { conversation: c, turn: "x", usage: { tokens: 1 } },
      "invalid",
      { unknown_fields: ["tokens"] },
    ],
  ];
}

it("[T11] a bad call is a problem with a code and the numbers, and changes nothing", async () => {
  const harness = new TestHarness();
  const world = await build(harness);
  const before = await harness.everything();
  const tried = new Set<string>();
  for (const [name, input, code, details, caller] of rows(world)) {
    const answer = await harness.problem(name, input, caller ?? ann);
    const what = `${name} ${JSON.stringify(input).slice(0, 200)}`;
    expect({ what, problem: answer.problem }).toEqual({ what, problem: code });
    expect(answer.message.length, what).toBeGreaterThan(10);
    if (details) expect(answer.details, what).toMatchObject(details);
    expect(JSON.stringify(answer).length, what).toBeLessThan(20_000);
    await harness.env.advance(1_000); // what a timer would still write
    expect(await harness.everything(), what).toBe(before);
    tried.add(name);
  }
  const unbreakable = ["kernel.search"];
  expect(
    coreTools.map(({ name }) => name).filter((name) => !tried.has(name) && !unbreakable.includes(name)),
  ).toEqual([]);
  expect(harness.faults).toEqual([]);
  // The kernel still works.
  await harness.ok("block.edit", {
    block_id: world.t,
    operations: [{ op: "insert", line: 3, content: "d" }],
  });
  expect(await harness.text(world.t)).toBe("a\nb\nc\nd\n");
});

it("[R30] 2,000 batches with one bad operation change nothing: document, version, log", async () => {
  const random = random32(30);
  const below = (n: number) => random() % n;
  const texts = [
    "",
    "\n",
    "a",
    "a\nb",
    "a\nb\nc\n",
    "a\r\nb\r\n",
    "a\r\nb",
    "😀\né\n日本",
    "x\n".repeat(40),
    "👩‍👩‍👧\r\n\r\nz\r\n",
  ];
  const harness = new TestHarness();
  const c = await harness.conversation();
  const blocks: { id: string; text: string; lines: number }[] = [];
  for (const text of texts) {
    const id = await harness.block(c, text);
    // Half of them promoted, with a history.
    if (blocks.length % 2 === 0) {
      await harness.ok("block.splice", { block_id: id, offset: 0, insert: "tmp" }, bob);
      await harness.ok("block.splice", { block_id: id, offset: 0, delete_count: 3 }, bob);
    }
    const lines = (await harness.ok("block.read", { block_id: id }))["line_count"] as number;
    blocks.push({ id, text, lines });
  }
  const before = await harness.everything();
  const codes = new Map<string, number>();
  for (let round = 0; round < 2_000; round++) {
    const block = blocks[below(blocks.length)] as (typeof blocks)[number];
    const good = goodBatch(block.lines, below);
    const bad = badOperation(block.lines, good, below);
    const operations = good.toSpliced(below(good.length + 1), 0, bad);
    const input = { block_id: block.id, operations, ...(below(3) === 0 ? { base_version: 1 } : {}) };
    const answer = await harness.problem("block.edit", input, below(2) === 0 ? ann : bob);
    codes.set(answer.problem, (codes.get(answer.problem) ?? 0) + 1);
    if (round % 50 === 49) {
      expect(await harness.everything()).toBe(before);
      for (const { id, text } of blocks) expect(await harness.text(id)).toBe(text);
    }
  }
  for (const code of ["out_of_range", "overlap", "mismatch"])
    expect(codes.get(code), code).toBeGreaterThan(100);
  // The same batches without the bad operation are valid.
  const some = blocks[4] as (typeof blocks)[number];
  await harness.ok("block.edit", { block_id: some.id, operations: goodBatch(some.lines, below) });
});

type Below = (n: number) => number;

/** Operations that do not overlap, on existing lines. */
function goodBatch(lines: number, below: Below): object[] {
  const batch: object[] = [];
  for (let line = 0; line < lines && batch.length < 4; line += 1 + below(4)) {
    const kind = below(3);
    if (kind === 0) batch.push({ op: "insert", line, content: "in" });
    else if (kind === 1) batch.push({ op: "delete", start_line: line, end_line: line + 1 });
    else batch.push({ op: "replace", start_line: line, end_line: line + 1, content: "re\nplaced" });
  }
  batch.push({ op: "insert", line: lines, content: "end" });
  return batch;
}

function badOperation(lines: number, good: readonly object[], below: Below): object {
  const range = good.find((each) => "start_line" in each) as { start_line: number } | undefined;
  const kind = below(4);
  if (kind === 0 || lines === 0) return { op: "insert", line: lines + 1 + below(5), content: "x" };
  if (kind === 1) return { op: "delete", start_line: below(lines), end_line: lines + 1 + below(5) };
  if (kind === 2 && range)
    return { op: "replace", start_line: range.start_line, end_line: lines, content: "x" };
  const start_line = below(lines);
  const free = good.every(
    (each) => !("start_line" in each) || (each as { start_line: number }).start_line !== start_line,
  );
  if (!free) return { op: "delete", start_line, end_line: start_line };
  return { op: "replace", start_line, end_line: start_line + 1, content: "x", expected_text: "not this" };
}
