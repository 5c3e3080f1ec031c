/** From bytes to events, on a provider small enough to see through: the joints between framing and adapter. */
import type { BlockEvent, Json } from "@blockyard/kernel";
import { describe, expect, it } from "vitest";
import type { Adapter } from "./adapter.ts";
import { bounded } from "./bounded.ts";
import { bounds } from "./limits.ts";
import { Normalizer, normalize } from "./normalize.ts";
import { type Provider, providers } from "./registry.ts";
import { NOISE, noiseBlock, unknownEvent } from "./unknown.ts";

/** Every event becomes a block of its own: this counts what the normalizer passes to adapters. */
const echo: Adapter<{ count: number }> = {
  provider: "echo",
  start: () => ({ count: 0 }),
  step: (state, event) => [state, unknownEvent({ key: `e${state.count++}`, provider: "echo" }, event)],
  noise: (state, line) => [state, noiseBlock({ key: `e${state.count++}`, provider: "echo" }, line)],
  end: () => [],
};
const lines: Provider = { name: "echo", adapter: echo, framing: "lines" };
const sse: Provider = { name: "echo", adapter: echo, framing: "sse" };

const encoder = new TextEncoder();

function heard(provider: Provider, text: string): readonly unknown[] {
  const { blocks, torn } = normalize(provider, [encoder.encode(text)]);
  const said = blocks.map((block) =>
    block.metadata.type === NOISE ? block.text : (JSON.parse(block.text) as Json),
  );
  return torn === undefined ? said : [...said, { torn }];
}

describe("what an adapter receives", () => {
  it.each<[string, Provider, string, readonly unknown[]]>([
    ["lines", lines, '{"a":1}\n\n  \n{"a":2}\n', [{ a: 1 }, { a: 2 }]],
    ["a whole last line without its end", lines, '{"a":1}', [{ a: 1 }]],
    ["a torn last line", lines, '{"a":1}\n{"a":', [{ a: 1 }, { torn: '{"a":' }]],
    ["noise", lines, 'npm warn\n{"a":1}\nError: x', ["npm warn", { a: 1 }, "Error: x"]],
    ["other values", lines, 'null\n42\n"x"\n', [null, 42, "x"]],
    ["an array of events", lines, '[{"a":1},{"a":2}]', [{ a: 1 }, { a: 2 }]],
    ["a document", lines, '[\n  {\n    "a": 1\n  },\n  { "a": 2 }\n]\n', [{ a: 1 }, { a: 2 }]],
    [
      "objects over lines, one after the other",
      lines,
      '{\n  "a": 1\n}\n{\n  "a": {\n    "b": "}"\n  }\n}\n',
      [{ a: 1 }, { a: { b: "}" } }],
    ],
    [
      "the same, each with its first name",
      lines,
      '{ "a": 1,\n  "b": [\n    2 ] }\n{"a":3}\n',
      [{ a: 1, b: [2] }, { a: 3 }],
    ],
    [
      "a document behind noise and lines",
      lines,
      'npm warn\n{"a":1}\n{\n "a": 2\n}\n',
      ["npm warn", { a: 1 }, { a: 2 }],
    ],
    ["a line that was cut where a value could go on", lines, '{"a":1,\n{"a":2}\n', ['{"a":1,', { a: 2 }]],
    ["an object over lines that was cut", lines, '{\n "a": 1\n}\n{\n "a"', [{ a: 1 }, { torn: '{\n "a"' }]],
    ["words in brackets", lines, '[info: x,\n{"a":1}\n', ["[info: x,", { a: 1 }]],
    ["one object over lines", sse, '{\n  "a": 1\n}\n', [{ a: 1 }]],
    ["a cut document", lines, '[\n{"a":1},\n{"a":2},\n{"a"', [{ a: 1 }, { a: 2 }, { torn: '[\n{"a"' }]],
    ["SSE", sse, 'event: x\ndata: {"a":1}\n\ndata: [DONE]\n\n', [{ type: "x", a: 1 }, "[DONE]"]],
    ["SSE that names its type", sse, 'event: x\ndata: {"type":"y"}\n\n', [{ type: "y" }]],
    ["SSE with an error body", sse, ': hi\n\n{"error":{}}\n', [{ error: {} }]],
    ["torn SSE", sse, 'data: {"a":1}\n\ndata: {"a', [{ a: 1 }, { torn: '{"a' }]],
    ["SSE torn in a field's name", sse, 'data: {"a":1}\n\neve', [{ a: 1 }, { torn: "eve" }]],
    ["SSE whose last event has no blank line", sse, 'data: {"a":1}\n', [{ a: 1 }]],
    ["JSON lines where SSE was expected", sse, '{"a":1}\n{"a":2}\n', [{ a: 1 }, { a: 2 }]],
  ])("[P15] [P16] [P17] %s", (_, provider, text, expected) =>
    expect(heard(provider, text)).toEqual(expected),
  );

  it("[P13] [R34] goes on after a line that is too long", () => {
    const normalizer = new Normalizer(lines);
    const chunk = new Uint8Array(8 * 1024 * 1024).fill(0x78);
    for (let i = 0; i < 8; i++) normalizer.push(chunk);
    const events = [...normalizer.push(encoder.encode('\n{"a":1}\n')), ...normalizer.end()];
    const starts = events.filter((event) => event.type === "block-start");
    expect(starts.map((event) => event.metadata.type)).toEqual([NOISE, "(no type)"]);
    expect(starts[0]?.text).toMatch(/\[\d+ more bytes left out\]$/);
  });

  it("[P14] [R34] continues after a bomb, wide objects and equal keys", () => {
    const wide = JSON.stringify(Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`k${i}`, i])));
    const bomb = "[".repeat(1_000_000);
    const result = normalize(lines, [encoder.encode(`${bomb}\n${wide}\n{"a":1,"a":2}\n`)]);
    expect(result.unknown).toEqual({ [NOISE]: 1, "(no type)": 2 });
  });

  it("[R34] keeps strange characters as they are", () => {
    const text = "a\u0000b\u2028c\ufffdd\ud83d";
    expect(heard(lines, `${JSON.stringify({ text })}\n`)).toEqual([{ text }]);
  });

  it("[P4] returns raw lines", () => {
    const raw: string[] = [];
    normalize(sse, [encoder.encode("event: x\r\ndata: {}\r\n\r\n")], { raw: (line) => raw.push(line) });
    expect(raw).toEqual(["event: x", "data: {}", ""]);
  });
});

describe("[P20] bounds of an event", () => {
  const start = (metadata: Record<string, Json>, text = ""): BlockEvent => ({
    type: "block-start",
    key: "k",
    kind: "tool_call",
    role: "model",
    metadata,
    text,
  });

  it("leaves an ordinary event alone", () => {
    const event = start({ toolUseId: "t", toolName: "n", input: { a: [1, "x", null] } });
    expect(bounded(event)).toBe(event);
  });

  it("drops the largest keys and names them", () => {
    const big = "x".repeat(limit);
    const event = bounded(start({ toolUseId: "t", toolName: "n", input: { big }, compactParams: "p" }));
    expect(event).toMatchObject({
      metadata: { toolUseId: "t", toolName: "n", compactParams: "p", extra: { omitted: ["input"] } },
    });
    expect(event).not.toHaveProperty("metadata.input");
  });

  it("keeps what a kind requires, smaller", () => {
    const big = "x".repeat(limit);
    const changes = [{ path: "a", kind: "add", diff: big }];
    expect(bounded(start({ changes }))).toMatchObject({
      metadata: { changes: [{ path: "a", kind: "add" }] },
    });
    const cut = bounded(start({ command: big })) as Extract<BlockEvent, { type: "block-start" }>;
    expect(String(cut.metadata.command).length).toBeLessThan(100_000);
  });

  it("cuts a text and says by how much", () => {
    const event = bounded(start({}, "x".repeat(bounds.textChars + 5)));
    expect(event).toMatchObject({ metadata: { truncatedChars: 5 } });
  });

  it("[R35] a 16 MB output stays whole through an adapter", () => {
    const codex = providers.get("codex");
    if (codex === undefined) throw new Error("no provider codex");
    const output = "y".repeat(16 * 1024 * 1024);
    const item = {
      id: "item_0",
      type: "command_execution",
      command: "cat",
      aggregated_output: output,
      exit_code: 0,
      status: "completed",
    };
    const { blocks, faults } = normalize(codex, [
      encoder.encode(`${JSON.stringify({ type: "item.completed", item })}\n`),
    ]);
    expect(faults).toEqual([]);
    expect(blocks.find((block) => block.kind === "command")?.text.length).toBe(output.length);
  });
});

const limit = bounds.metadataChars + 1;
