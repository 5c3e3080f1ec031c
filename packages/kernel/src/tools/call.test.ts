/** The entry of all tools: names, schemas, roles, keys, and what callers see of a bug inside. */

import { describe, expect, it } from "vitest";
import { z } from "zod";
import { limits } from "../model/limits.ts";
import { isProblem } from "../model/problem.ts";
import { ann, bob, eve, TestHarness } from "../testing/harness.ts";
import { callIn, makeTable } from "./call.ts";
import { callTool, coreTools, toolSchemas } from "./index.ts";
import { tool } from "./tool.ts";

describe("names", () => {
  it("[T1] a tool is found by its name and by its name for models", async () => {
    const harness = new TestHarness();
    for (const name of ["conversation.create", "conversation_create"]) {
      expect(await harness.ask(name, { title: name })).toMatchObject({ conversation: expect.any(String) });
    }
  });

  it("[T1] an unknown tool is answered with the valid names", async () => {
    for (const name of ["block.erase", "", "toString", "__proto__", "x".repeat(10_000)]) {
      const answer = await new TestHarness().problem(name, {});
      expect(answer).toMatchObject({ problem: "unknown_tool" });
      expect(answer.details?.["valid_tools"]).toEqual(coreTools.map((each) => each.name));
      expect(answer.message.length).toBeLessThan(200);
    }
  });

  it("[T1] has every tool of the design but those that need a server", () => {
    expect(coreTools.map(({ name }) => name).sort()).toEqual(
      [
        ...["append", "apply_patch", "create", "edit", "history", "list", "read", "redo", "search", "splice"],
        ...["status", "subscribe", "sync", "undo"],
      ]
        .map((name) => `block.${name}`)
        .concat(
          [
            "changes",
            "create",
            "delete",
            "export",
            "fork",
            "include",
            "list",
            "prune",
            "read",
            "restore",
            "update",
          ].map((name) => `conversation.${name}`),
        )
        .concat(["cost.report", "cursor.set", "kernel.search", "turn.begin", "turn.end"]),
    );
  });
});

describe("schemas", () => {
  it("[T2] a wrong field is named, with the expected type and the valid fields", async () => {
    const harness = new TestHarness();
    const edit = (operation: unknown) => ({ block_id: "c/a/1", operations: [operation] });
    const rows: [string, unknown, object][] = [
      [
        "block.read",
        {},
        { field: "block_id", expected: "string", valid_fields: ["block_id", "line_numbers", "range"] },
      ],
      ["block.read", { block_id: 7 }, { field: "block_id", expected: "string" }],
      [
        "block.read",
        { block_id: "c/a/1", range: { begin: 1 } },
        { field: "range.start", valid_fields: ["start", "end", "column"] },
      ],
      [
        "block.read",
        { block_id: "c/a/1", lines: 3 },
        { unknown_fields: ["lines"], valid_fields: ["block_id", "line_numbers", "range"] },
      ],
      ["block.edit", edit({ op: "insert", line: -1, content: "" }), { field: "operations.0.line", min: 0 }],
      ["block.edit", edit({ op: "insert", line: 1.5, content: "" }), { field: "operations.0.line" }],
      [
        "block.edit",
        edit({ op: "insert", at: 1, content: "" }),
        { field: "operations.0.line", valid_fields: ["op", "line", "content"] },
      ],
      [
        "block.edit",
        edit({ op: "delete", start_line: 0, end_line: 1, content: "" }),
        { unknown_fields: ["content"], valid_fields: ["op", "start_line", "end_line", "expected_text"] },
      ],
      ["block.edit", edit({ op: "move" }), { field: "operations.0.op" }],
      ["block.edit", { block_id: "c/a/1", operations: [] }, { field: "operations", min: 1 }],
      [
        "block.create",
        { role: "boss", kind: "text" },
        { field: "role", expected: ["user", "model", "system", "tool"] },
      ],
      ["block.create", { role: "user", kind: "text", agent: "bob" }, { unknown_fields: ["agent"] }],
    ];
    for (const [name, input, details] of rows) {
      expect(await harness.problem(name, input), JSON.stringify(input)).toMatchObject({
        problem: "invalid",
        details,
      });
    }
    for (const input of [[], "text", 7, true, () => 1, Symbol("x")]) {
      expect(await harness.problem("block.read", input)).toMatchObject({ problem: "invalid" });
    }
  });

  it("[T3] nesting beyond the limit and keys that reach a prototype are refused, everywhere", async () => {
    const harness = new TestHarness();
    let deep: unknown = 1;
    for (let i = 0; i < 100_000; i++) deep = [deep];
    const conversation = await harness.conversation();
    const before = await harness.everything();
    const create = { conversation, role: "model", kind: "text" };
    expect(await harness.problem("block.create", { ...create, metadata: { extra: { deep } } })).toMatchObject(
      {
        problem: "invalid",
        details: { max_depth: limits.jsonDepth },
      },
    );
    const rows = [
      '{"__proto__": {"polluted": 1}}',
      '{"metadata": {"__proto__": {"polluted": 1}}}',
      '{"metadata": {"extra": {"constructor": {"prototype": {"polluted": 1}}}}}',
      '{"metadata": {"extra": [{"prototype": 1}]}}',
    ];
    for (const { name } of coreTools) {
      for (const row of rows) {
        const answer = await harness.problem(name, { ...JSON.parse(row), ...create });
        // A spread drops an own "__proto__" key that came from JSON: send it as parsed, too.
        expect(await harness.problem(name, JSON.parse(row))).toMatchObject({ problem: "invalid" });
        expect(answer.problem).toMatch(/invalid|not_found/);
      }
    }
    expect(await harness.problem("block.create", JSON.parse(rows[1] as string))).toMatchObject({
      details: { field: "metadata.__proto__" },
    });
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
    expect(await harness.everything()).toBe(before);
  });

  it("[T4] a text over its bound is too large, with both numbers", async () => {
    const harness = new TestHarness();
    const conversation = await harness.conversation();
    const id = await harness.block(conversation, "x");
    const text = "x".repeat(limits.writeTextChars + 1);
    const details = { chars: text.length, max_chars: limits.writeTextChars };
    const patch = "x".repeat(limits.patchChars + 1);
    const before = await harness.everything();
    const rows: [string, object, object][] = [
      ["block.append", { block_id: id, text }, { field: "text", ...details }],
      [
        "block.create",
        { conversation, role: "model", kind: "text", content: text },
        { field: "content", ...details },
      ],
      ["block.splice", { block_id: id, offset: 0, insert: text }, { field: "insert", ...details }],
      [
        "block.edit",
        { block_id: id, operations: [{ op: "insert", line: 0, content: text }] },
        { field: "operations.0.content", ...details },
      ],
      ["block.apply_patch", { block_id: id, patch }, { chars: patch.length, max_chars: limits.patchChars }],
      ["conversation.create", { title: "x".repeat(301) }, { chars: 301, max_chars: 300 }],
    ];
    for (const [name, input, expected] of rows) {
      expect(await harness.problem(name, input)).toMatchObject({ problem: "too_large", details: expected });
    }
    const many = Array.from({ length: limits.editOperations + 1 }, () => ({
      op: "insert",
      line: 0,
      content: "",
    }));
    expect(await harness.problem("block.edit", { block_id: id, operations: many })).toMatchObject({
      problem: "invalid",
      details: { field: "operations", max: limits.editOperations },
    });
    expect(await harness.everything()).toBe(before);
  });

  it("[T9] JSON Schemas of inputs and answers come from the one definition, once", () => {
    const schemas = toolSchemas();
    expect(toolSchemas()).toBe(schemas);
    expect(schemas).toHaveLength(coreTools.length);
    for (const { name, modelName, input, output, description } of schemas) {
      expect(modelName).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
      expect(input, name).toMatchObject({ type: "object", additionalProperties: false });
      expect(output, name).toMatchObject(
        name === "block.subscribe" || name === "conversation.export" ? {} : { type: "object" },
      );
      expect(description.length, name).toBeLessThan(700);
      expect(JSON.stringify(input).length).toBeLessThan(8_000);
    }
    const edit = schemas.find(({ name }) => name === "block.edit");
    expect(edit?.input).toMatchObject({
      required: ["block_id", "operations"],
      properties: { base_version: { type: "integer", minimum: 1 } },
    });
  });
});

describe("callers", () => {
  it("[T5] a viewer reads and shows its cursor, and writes nothing", async () => {
    const harness = new TestHarness();
    const conversation = await harness.conversation();
    const id = await harness.block(conversation, "a\nb\n");
    const before = await harness.everything();
    const good: Record<string, object> = {
      "block.create": { conversation, role: "model", kind: "text" },
      "block.status": { block_id: id, status: "done" },
      "block.append": { block_id: id, text: "x" },
      "block.edit": { block_id: id, operations: [{ op: "insert", line: 0, content: "x" }] },
      "block.splice": { block_id: id, offset: 0, insert: "x" },
      "block.apply_patch": { block_id: id, patch: "@@ -1 +1 @@\n-a\n+b\n" },
      "block.read": { block_id: id },
      "block.search": { block_id: id, query: "a" },
      "block.list": { conversation },
      "block.sync": { versions: [{ block_id: id, version: 0 }] },
      "block.subscribe": { block_ids: [id] },
      "block.undo": { block_id: id },
      "block.redo": { block_id: id },
      "block.history": { block_id: id },
      "kernel.search": { query: "a" },
      "conversation.create": {},
      "conversation.list": {},
      "conversation.read": { conversation },
      "conversation.fork": { block_id: id, content: "x" },
      "conversation.prune": { block_id: id },
      "conversation.include": { conversation, block_id: id },
      "conversation.export": { conversation },
      "conversation.update": { conversation, title: "x" },
      "conversation.delete": { conversation },
      "conversation.restore": { conversation },
      "conversation.changes": { conversation },
      "cost.report": {},
      "cursor.set": { block_id: id },
      "turn.begin": { conversation },
      "turn.end": { conversation, turn: "t" },
    };
    expect(Object.keys(good).sort()).toEqual(coreTools.map(({ name }) => name).sort());
    for (const { name, access } of coreTools) {
      const answer = await harness.ask(name, good[name], eve);
      if (access !== "read") {
        expect(answer, name).toMatchObject({ problem: "forbidden", details: { tool: name, role: "viewer" } });
      } else expect(isProblem(answer) && answer.problem === "forbidden", name).toBe(false);
    }
    expect(await harness.everything()).toBe(before);
    expect(harness.faults).toEqual([]);
  });

  it("[T6] an agent decides over its own blocks, edits any text", async () => {
    const harness = new TestHarness();
    const conversation = await harness.conversation();
    const hers = await harness.block(conversation, "a\n", ann);
    const his = await harness.block(conversation, "b\n", bob);
    const before = await harness.everything();
    const refused: [string, object][] = [
      ["block.status", { block_id: hers, status: "done" }],
      ["block.status", { block_id: hers, metadata: { label: "x" } }],
      ["conversation.prune", { block_id: hers }],
    ];
    for (const [name, input] of refused) {
      expect(await harness.problem(name, input, bob)).toMatchObject({
        problem: "forbidden",
        details: { agent: "ann", caller: "bob" },
      });
    }
    expect(await harness.everything()).toBe(before);
    await harness.ok(
      "block.edit",
      { block_id: hers, operations: [{ op: "replace", start_line: 0, end_line: 1, content: "A" }] },
      bob,
    );
    await harness.ok("block.append", { block_id: hers, text: "more", wait: true }, bob);
    await harness.ok("block.status", { block_id: his, status: "done", metadata: { model: "x" } }, bob);
    await harness.ok("conversation.prune", { block_id: his }, bob);
    await harness.ok("block.status", { block_id: hers, status: "done" }, ann);
    await harness.ok("conversation.prune", { block_id: his, pruned: false }, ann);
  });

  it("[T7] the agent is the caller's, whatever a request says", async () => {
    const harness = new TestHarness();
    const conversation = await harness.conversation();
    for (const { name, access } of coreTools) {
      if (access === "owner") continue; // not examined for an agent
      for (const field of ["agent", "agent_id", "caller", "unit"]) {
        if ((name === "block.history" || name === "cost.report") && field === "agent") continue; // a filter there
        expect(await harness.problem(name, { [field]: "ann" }, bob), name).toMatchObject({
          problem: "invalid",
        });
      }
    }
    const id = await harness.block(conversation, "x\n", bob);
    expect(id).toMatch(/\/bob\/\d+$/);
    await harness.ok(
      "block.edit",
      { block_id: id, operations: [{ op: "insert", line: 0, content: "y" }] },
      ann,
    );
    const log = await harness.store.log(id, { version: 0 });
    expect(log.ops.map(({ agent }) => agent)).toEqual(["bob", "ann", "ann"]);
    // Bob cannot undo as Ann, and has edited nothing himself.
    expect(await harness.problem("block.undo", { block_id: id }, bob)).toMatchObject({ problem: "nothing" });
    expect(await harness.text(id)).toBe("y\nx\n");
  });

  it("[T8] a bug inside a tool is unavailable outside, and reported to the transport", async () => {
    const harness = new TestHarness();
    const broken = tool({
      name: "test.broken",
      description: "",
      input: z.strictObject({}),
      output: z.object({}),
      access: "read",
      run: () => Promise.reject(new Error("secret /home/path")),
    });
    const sync = tool({
      ...broken,
      name: "test.sync",
      run: () => {
        throw new Error("secret");
      },
    });
    const table = makeTable([...coreTools, broken, sync]);
    for (const name of ["test.broken", "test.sync"]) {
      const answer = await callIn(table, harness.as(ann), name, {});
      expect(answer).toMatchObject({ problem: "unavailable", details: { tool: name } });
      expect(JSON.stringify(answer)).not.toContain("secret");
    }
    expect(harness.faults).toHaveLength(2);
  });
});

describe("keys", () => {
  it("[T63] a key that is reused for another call is refused, and nothing is done", async () => {
    const harness = new TestHarness();
    const c = await harness.conversation();
    const input = {
      conversation: c,
      role: "model",
      kind: "error",
      content: "a",
      metadata: { code: "1", details: "2" },
    };
    const first = await harness.ok("block.create", input, ann, "k");
    const before = await harness.everything();
    const others: [string, object][] = [
      ["block.create", { ...input, content: "b" }],
      ["block.append", { block_id: first["block_id"], text: "b" }],
    ];
    for (const [name, other] of others) {
      expect(await harness.ask(name, other, ann, "k")).toMatchObject({
        problem: "conflict",
        details: { key: "k", first_tool: "block.create" },
      });
    }
    // The same call, with its keys in another order.
    const turned = { ...input, metadata: { details: "2", code: "1" } };
    expect(await harness.ok("block.create", turned, ann, "k")).toEqual(first);
    expect(await harness.everything()).toBe(before);
    // Another conversation, another agent.
    const elsewhere = { ...input, conversation: await harness.conversation(), content: "b" };
    await harness.ok("block.create", elsewhere, ann, "k");
    await harness.ok("block.create", { ...input, content: "b" }, bob, "k");
    // A call that was refused may be corrected.
    const wrong = { block_id: first["block_id"], operations: [{ op: "insert", line: 9, content: "x" }] };
    expect(await harness.ask("block.edit", wrong, ann, "e")).toMatchObject({ problem: "out_of_range" });
    await harness.ok(
      "block.edit",
      { ...wrong, operations: [{ op: "insert", line: 0, content: "x" }] },
      ann,
      "e",
    );
  });

  it("[T63] a tool that does more than write does it once, also while the first call is under way", async () => {
    const harness = new TestHarness();
    let runs = 0;
    const once = {
      name: "test.once",
      description: "",
      access: "owner" as const,
      input: z.strictObject({ n: z.number() }),
      output: z.object({ runs: z.number() }),
      run: async () => {
        await Promise.resolve();
        return { runs: ++runs };
      },
    };
    const table = makeTable([...coreTools, once]);
    const ask = (n: number, key?: string) =>
      callIn(table, harness.as(ann, key ? { key } : {}), "test.once", { n });
    expect(await Promise.all([ask(1, "k"), ask(1, "k")])).toEqual([{ runs: 1 }, { runs: 1 }]);
    expect(await ask(1, "k")).toEqual({ runs: 1 });
    expect(await ask(1, "l")).toEqual({ runs: 2 });
    expect(await ask(1)).toEqual({ runs: 3 });
    for (let i = 0; i < limits.keysPerConversation; i++) await ask(i, `other ${i}`);
    expect(await ask(1, "k")).toEqual({ runs: 4 + limits.keysPerConversation }); // forgotten
  });

  it("[T10] a call that is sent again with its key is answered again and applied once", async () => {
    const harness = new TestHarness();
    const create = await harness.ok("conversation.create", { title: "t" }, ann, "k1");
    expect(await harness.ok("conversation.create", { title: "t" }, ann, "k1")).toEqual(create);
    const conversation = create["conversation"] as string;
    expect((await harness.ok("conversation.create", { title: "t" }, bob, "k1"))["conversation"]).not.toBe(
      conversation,
    );
    const rows: [string, (id: string) => object][] = [
      ["block.create", () => ({ conversation, role: "model", kind: "text", content: "a\n" })],
      ["block.append", (id) => ({ block_id: id, text: "b\n" })],
      ["block.edit", (id) => ({ block_id: id, operations: [{ op: "insert", line: 0, content: "x" }] })],
      [
        "block.edit",
        (id) => ({ block_id: id, base_version: 1, operations: [{ op: "insert", line: 1, content: "x" }] }),
      ],
      ["block.splice", (id) => ({ block_id: id, offset: 0, insert: "x" })],
      ["block.apply_patch", (id) => ({ block_id: id, patch: "@@ -0,0 +1 @@\n+new\n" })],
      ["block.undo", (id) => ({ block_id: id })],
      ["block.redo", (id) => ({ block_id: id })],
      ["conversation.fork", (id) => ({ block_id: id, content: "q" })],
      ["conversation.fork", (id) => ({ block_id: id, into_new: true })],
      ["conversation.prune", (id) => ({ block_id: id })],
      ["conversation.include", (id) => ({ conversation, block_id: id })],
      ["block.status", (id) => ({ block_id: id, status: "done" })],
    ];
    const id = await harness.block(conversation, "a\n");
    for (const [i, [name, input]] of rows.entries()) {
      const first = await harness.ok(name, input(id), ann, `row ${i}`);
      const after = await harness.everything();
      expect(await harness.ok(name, input(id), ann, `row ${i}`), name).toEqual(first);
      if (i % 3 === 0) harness.restart();
      expect(await harness.ok(name, input(id), ann, `row ${i}`), name).toEqual(first);
      expect(await harness.everything(), name).toBe(after);
    }
  });
});

it("[T96] an edit of the wrong shape is answered with a right one, in one line", async () => {
  const harness = new TestHarness();
  const block = await harness.block(await harness.conversation(), "old line\n");
  const flat = { block_id: block, start_line: 0, end_line: 1, content: "x", expected_text: "old line" };
  for (const input of [flat, { block_id: block, operations: [{ line: 0, text: "x" }] }]) {
    const { message } = await harness.problem("block.edit", input);
    expect(message).not.toContain("\n");
    const right = JSON.parse(/Right: (\{.*\})$/.exec(message)?.[1] ?? "null");
    await harness.ok("block.edit", { ...right, block_id: block, base_version: undefined });
    expect(await harness.text(block)).toBe("new line\n");
    await harness.ok("block.undo", { block_id: block });
  }
});

it("[T12] half characters and NUL become visible in every incoming text", async () => {
  const harness = new TestHarness();
  const conversation = await harness.conversation("a\0b\ud800");
  const record = await harness.kernel.conversation(conversation);
  expect(isProblem(record) || record.title).toBe("a␀b\ufffd");
  const bad = "\ud800\0x\udc00";
  const clean = "\ufffd␀x\ufffd";
  const id = await harness.block(conversation, bad);
  expect(await harness.text(id)).toBe(clean);
  await harness.ok("block.append", { block_id: id, text: `\n${bad}`, wait: true });
  await harness.ok("block.edit", { block_id: id, operations: [{ op: "insert", line: 0, content: bad }] });
  await harness.ok("block.splice", { block_id: id, offset: 0, insert: bad });
  await harness.ok("block.apply_patch", { block_id: id, patch: `@@ -0,0 +1 @@\n+${bad}\n` });
  expect(await harness.text(id)).toBe(`${clean}\n${clean}${clean}\n${clean}\n${clean}`);
  // The comparison uses text that was sanitized the same way.
  const expected_text = `${bad}${bad}`;
  await harness.ok("block.edit", {
    block_id: id,
    operations: [{ op: "delete", start_line: 1, end_line: 2, expected_text }],
  });
  await harness.ok("conversation.fork", { block_id: id, content: bad });
  const search = await harness.problem("block.search", { block_id: id, query: "\ud800", literal: true });
  expect(search).toMatchObject({ problem: "pattern" });
});

it("[T11] callTool never rejects", async () => {
  const harness = new TestHarness();
  for (const { name } of coreTools) {
    for (const input of [null, undefined, [], {}, { block_id: null }, { conversation: {} }, NaN]) {
      expect(await callTool(harness.as(ann), name, input)).toBeTypeOf("object");
    }
  }
});
