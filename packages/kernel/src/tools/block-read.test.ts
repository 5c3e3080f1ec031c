/** block.read, block.search, block.list and kernel.search: what reading gives, and how it is bounded. */

import { describe, expect, it } from "vitest";
import { limits } from "../model/limits.ts";
import { ann, bob, eve, TestHarness } from "../testing/harness.ts";

describe("block.read", () => {
  it("[T35] gives the text with 0-based line numbers, or bare", async () => {
    const harness = new TestHarness();
    const c = await harness.conversation();
    const rows: [string, object | undefined, string, string][] = [
      ["a\nb\nc\n", undefined, "    0\ta\n    1\tb\n    2\tc\n", "a\nb\nc\n"],
      ["a\nb", undefined, "    0\ta\n    1\tb", "a\nb"],
      ["", undefined, "", ""],
      ["\n", undefined, "    0\t\n", "\n"],
      ["a\r\nb\r\n", undefined, "    0\ta\r\n    1\tb\r\n", "a\r\nb\r\n"],
      ["é😀\n", undefined, "    0\té😀\n", "é😀\n"],
      ["a\nb\nc\n", { start: 1, end: 2 }, "    1\tb\n", "b\n"],
      ["a\nb\nc\n", { start: 1 }, "    1\tb\n    2\tc\n", "b\nc\n"],
      ["a\nb\nc\n", { start: 3 }, "", ""],
      ["a\nb\nc\n", { start: 0, end: 0 }, "", ""],
      ["a\nb\nc\n", { start: 2, end: 3 }, "    2\tc\n", "c\n"],
      ["abc\n", { start: 0, column: 2 }, "    0\tc\n", "c\n"],
    ];
    for (const [text, range, numbered, bare] of rows) {
      const block_id = await harness.block(c, text);
      const given = range ? { block_id, range } : { block_id };
      expect(await harness.ok("block.read", given, eve)).toMatchObject({
        content: numbered,
        truncated: false,
        version: 1,
      });
      expect(await harness.ok("block.read", { ...given, line_numbers: false })).toMatchObject({
        content: bare,
      });
    }
  });

  it("[T65] a range past the end is clamped, and the answer says to which lines", async () => {
    const harness = new TestHarness();
    const c = await harness.conversation();
    const rows: [string, object, string, object | undefined][] = [
      ["a\nb\nc\n", { start: 1, end: 9 }, "b\nc\n", { start: 1, end: 3 }],
      ["a\nb\nc\n", { start: 7, end: 9 }, "", { start: 3, end: 3 }],
      ["a\nb\nc\n", { start: 4 }, "", { start: 3, end: 3 }],
      ["", { start: 0, end: 200 }, "", { start: 0, end: 0 }],
      ["a\nb\nc\n", { start: 0, end: 3 }, "a\nb\nc\n", undefined],
      ["a\nb\nc\n", { start: 3 }, "", undefined],
    ];
    for (const [text, range, content, clamped] of rows) {
      const given = { block_id: await harness.block(c, text), range, line_numbers: false };
      const read = await harness.ok("block.read", given, eve);
      expect(read).toMatchObject({ content, truncated: false });
      expect(read["clamped"]).toEqual(clamped);
    }
  });

  it("[T35] the numbers are those that block.edit takes", async () => {
    const harness = new TestHarness();
    const block_id = await harness.block(await harness.conversation(), "x\ny\nneedle\nz\n");
    const { content, version } = await harness.ok("block.read", { block_id });
    const line = Number(/(\d+)\tneedle/.exec(content as string)?.[1]);
    const operations = [
      { op: "replace", start_line: line, end_line: line + 1, content: "thread", expected_text: "needle" },
    ];
    await harness.ok("block.edit", { block_id, base_version: version, operations });
    expect(await harness.text(block_id)).toBe("x\ny\nthread\nz\n");
  });

  it("[T36] too many lines or bytes are cut, with the range that reads on", async () => {
    const harness = new TestHarness();
    const c = await harness.conversation();
    const texts = [
      "\n".repeat(limits.readLines + 5),
      `${"é".repeat(100)}\n`.repeat(12_000),
      `short\n${"😀".repeat(900_000)}\nend`,
    ];
    for (const text of texts) {
      const block_id = await harness.block(c, text);
      let whole = "";
      let range: object = { start: 0 };
      let calls = 0;
      for (; ; calls++) {
        const answer = await harness.ok("block.read", { block_id, range, line_numbers: false });
        const content = answer["content"] as string;
        expect(Buffer.byteLength(content)).toBeLessThan(limits.readBytes + 300);
        const next = answer["next"] as { start: number; column?: number } | undefined;
        if (!next) {
          whole += content;
          break;
        }
        expect(answer["truncated"]).toBe(true);
        const marker = content.lastIndexOf("… cut here");
        expect(JSON.parse(content.slice(content.indexOf("{", marker)))).toMatchObject(next);
        // A line cut in its middle ends in a newline that is not its own.
        whole += content.slice(0, next.column === undefined ? marker : marker - 1);
        range = next;
      }
      expect(calls).toBeGreaterThan(0);
      expect(whole === text).toBe(true);
    }
  });

  it("[T36] a range of 10 MB costs the range", async () => {
    const harness = new TestHarness();
    const block_id = await harness.block(
      await harness.conversation(),
      "0123456789012345678901234567890123456789012345678\n".repeat(200_000),
    );
    const answer = await harness.ok("block.read", { block_id, range: { start: 123_456, end: 123_458 } });
    expect((answer["content"] as string).split("\n")[0]).toBe(
      "123456\t0123456789012345678901234567890123456789012345678",
    );
    expect(await harness.ok("block.read", { block_id })).toMatchObject({
      truncated: true,
      line_count: 200_000,
    });
  });
});

describe("block.search", () => {
  it("[T37] gives lines, columns and context; no match is an empty list", async () => {
    const harness = new TestHarness();
    const block_id = await harness.block(await harness.conversation(), "a\nfoo(1)\nb\r\nFoo(2)\né😀foo");
    expect(await harness.ok("block.search", { block_id, query: "foo\\(", context_lines: 0 })).toEqual({
      matches: [{ line: 1, content: "foo(1)", content_line: 1, match_start: 0, match_end: 4 }],
      more: false,
      version: 1,
    });
    expect(
      await harness.ok("block.search", {
        block_id,
        query: "foo(",
        literal: true,
        ignore_case: true,
        context_lines: 1,
      }),
    ).toMatchObject({
      matches: [
        { line: 1, content_line: 0, content: "a\nfoo(1)\nb\r" },
        { line: 3, content_line: 2 },
      ],
    });
    expect(await harness.ok("block.search", { block_id, query: "foo$" })).toMatchObject({
      matches: [{ line: 4, match_start: 3, match_end: 6 }],
    });
    expect(await harness.ok("block.search", { block_id, query: "nowhere" })).toMatchObject({
      matches: [],
      more: false,
    });
    expect(await harness.ok("block.search", { block_id, query: "o", max_matches: 2 })).toMatchObject({
      more: true,
    });
    const empty = await harness.block(await harness.conversation(), "");
    expect(await harness.ok("block.search", { block_id: empty, query: "x*" })).toMatchObject({ matches: [] });
  });

  it("[T37] searches 10 MB", async () => {
    const harness = new TestHarness();
    const block_id = await harness.block(
      await harness.conversation(),
      `${"hay ".repeat(12)}\n`.repeat(200_000).concat("needle"),
    );
    expect(
      await harness.ok("block.search", { block_id, query: "needle", literal: true, context_lines: 0 }),
    ).toMatchObject({
      matches: [{ line: 200_000, match_start: 0 }],
    });
  });
});

describe("kernel.search", () => {
  it("[T38] searches files by default, elsewhere on request, narrowed by path and conversation", async () => {
    const harness = new TestHarness();
    const c = await harness.conversation();
    const other = await harness.conversation();
    const a = await harness.file(c, "src/a.ts", "needle in src\n");
    const b = await harness.file(other, "lib/b.ts", "needle in lib\nneedle\n");
    const text = await harness.block(c, "a needle said", bob);
    const ids = async (input: object) =>
      ((await harness.ok("kernel.search", { query: "needle", ...input }))["blocks"] as { block_id: string }[])
        .map((hit) => hit.block_id)
        .sort();
    expect(await ids({})).toEqual([a, b].sort());
    expect(await harness.problem("kernel.search", { query: "needle", conversation: "none" })).toMatchObject({
      problem: "not_found",
    });
    expect(await ids({ kinds: "all" })).toEqual([a, b, text].sort());
    expect(await ids({ kinds: ["text"] })).toEqual([text]);
    expect(await ids({ path_prefix: "src/" })).toEqual([a]);
    expect(await ids({ conversation: other })).toEqual([b]);
    expect(await ids({ query: "nowhere" })).toEqual([]);
    expect(await harness.ok("kernel.search", { query: "said" })).toMatchObject({
      blocks: [],
      hint: expect.stringContaining('kinds: "all"'),
    });
    expect(await harness.ok("kernel.search", { query: "nowhere", kinds: "all" })).not.toHaveProperty("hint");
    expect(await harness.ok("kernel.search", { query: "^needle$", context_lines: 0 })).toEqual({
      blocks: [
        {
          block_id: b,
          conversation: other,
          kind: "file",
          path: "lib/b.ts",
          version: 1,
          matches: [{ line: 1, content: "needle", content_line: 1, match_start: 0, match_end: 6 }],
          more: false,
        },
      ],
      more: false,
    });
  });

  it("[Q32] reads on with the next of the answer before", async () => {
    const harness = new TestHarness();
    const c = await harness.conversation();
    const ids: string[] = [];
    for (let i = 0; i < 5; i++) ids.unshift(await harness.block(c, `needle ${i}`));
    const found: string[] = [];
    const input = { query: "needle", kinds: "all", max_blocks: 2 };
    let answer = await harness.ok("kernel.search", input);
    for (;;) {
      found.push(...(answer["blocks"] as { block_id: string }[]).map((hit) => hit.block_id));
      if (answer["next"] === undefined) break;
      answer = await harness.ok("kernel.search", { ...input, after: answer["next"] });
    }
    expect(found).toEqual(ids);
    expect(answer["more"]).toBe(false);
  });
});

describe("block.list", () => {
  it("[T39] walks down from a parent to a depth, or lists flat", async () => {
    const harness = new TestHarness();
    const c = await harness.conversation();
    const ids: string[] = [];
    for (const text of ["zero", "one", "two", "three"]) ids.push(await harness.block(c, text));
    const fork = await harness.block(c, "fork", ann, { parent_id: ids[0], kind: "thinking" });
    const list = async (input: object) =>
      ((await harness.ok("block.list", input))["blocks"] as { block_id: string }[]).map(
        (row) => row.block_id,
      );
    expect(await list({ conversation: c })).toEqual([...ids, fork]);
    expect(await list({ parent_id: ids[0] })).toEqual([ids[1], fork]);
    expect(await list({ parent_id: ids[0], depth: 2 })).toEqual([ids[1], ids[2], fork]);
    expect(await list({ parent_id: ids[0], depth: 64 })).toEqual([ids[1], ids[2], ids[3], fork]);
    expect(await list({ parent_id: ids[3], depth: 64 })).toEqual([]);
    expect(await list({ parent_id: ids[0], depth: 64, kind: "thinking" })).toEqual([fork]);
    expect(await list({ conversation: c, status: "done" })).toEqual([]);
    // Binary data that does not fit passes unchanged.
    await harness.ok("block.status", { block_id: ids[2], status: "done" });
    expect(await list({ parent_id: ids[0], depth: 3, status: "done" })).toEqual([ids[2]]);
    // In pages.
    const paged: string[] = [];
    for (let after: string | undefined; ; after = paged.at(-1)) {
      const answer = await harness.ok("block.list", {
        conversation: c,
        limit: 2,
        ...(after ? { after } : {}),
      });
      paged.push(...(answer["blocks"] as { block_id: string }[]).map((row) => row.block_id));
      if (!answer["more"]) break;
    }
    expect(paged).toEqual([...ids, fork]);
    const below = { parent_id: ids[0], depth: 64, limit: 2 };
    expect(await list({ ...below, after: ids[2] })).toEqual([ids[3], fork]);
    expect(await harness.ok("block.list", below)).toMatchObject({ more: true });
  });

  it("[T39] reads on over all conversations", async () => {
    const harness = new TestHarness();
    const conversations = [
      await harness.conversation(),
      await harness.conversation(),
      await harness.conversation(),
    ];
    for (let i = 0; i < 12; i++) {
      if (i % 5 === 0) await harness.env.advance(3);
      await harness.block(conversations[i % 3] as string, `${i}`, ann, i === 7 ? { kind: "thinking" } : {});
    }
    const ids = (answer: object) =>
      (answer as { blocks: { block_id: string }[] }).blocks.map((row) => row.block_id);
    for (const narrow of [{}, { kind: "text" }]) {
      const all = ids(await harness.ok("block.list", narrow));
      for (const limit of [1, 2, 5, 11, 12]) {
        const paged: string[] = [];
        for (let after: string | undefined; ; after = paged.at(-1)) {
          const page = await harness.ok("block.list", { ...narrow, limit, ...(after ? { after } : {}) });
          paged.push(...ids(page));
          if (!page["more"]) break;
        }
        expect(paged).toEqual(all);
      }
    }
  });

  it("[T40] rows have a one-line summary, and say whether a file is newer than the disk", async () => {
    const harness = new TestHarness();
    const c = await harness.conversation();
    const rows: [string, string][] = [
      ["", ""],
      ["hello", "hello"],
      ["\n\n  hello\nworld\n", "hello world"],
      ["😀".repeat(100), `${"😀".repeat(80)}…`],
      ["x".repeat(300_000), "(0 newlines, 300000 characters)"],
      ["a\r\n\tb", "a b"],
    ];
    for (const [text, summary] of rows) {
      const id = await harness.block(c, text);
      const { blocks } = await harness.ok("block.list", { conversation: c });
      expect((blocks as { block_id: string }[]).find((row) => row.block_id === id)).toMatchObject({
        summary,
        dirty: false,
      });
    }
    const file = await harness.file(c, "src/a.ts", "x\n", { persistedVersion: 1 });
    const dirty = async () =>
      ((await harness.ok("block.list", { path_prefix: "src/" }))["blocks"] as object[])[0];
    expect(await dirty()).toMatchObject({ path: "src/a.ts", dirty: false });
    await harness.ok("block.append", { block_id: file, text: "y\n", wait: true }, bob);
    expect(await dirty()).toMatchObject({ dirty: true, version: 3 });
  });
});
