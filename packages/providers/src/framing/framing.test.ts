/** Framing on bytes that no provider should send, and some do. */
import { describe, expect, it } from "vitest";
import { bounds } from "../limits.ts";
import { isDeeper, parseJson, parseLine } from "./json.ts";
import { type Line, LineReader } from "./lines.ts";
import { type SseItem, SseReader } from "./sse.ts";

const encoder = new TextEncoder();

function linesOf(
  chunks: readonly Uint8Array[],
  options?: ConstructorParameters<typeof LineReader>[0],
): Line[] {
  const reader = new LineReader(options);
  return [...chunks.flatMap((chunk) => reader.push(chunk)), ...reader.end()];
}

/** The same bytes whole, in ones, and in threes: always the same lines. */
function check(bytes: Uint8Array, expected: readonly string[], splitsAtCr = false): void {
  for (const size of [bytes.length || 1, 1, 3]) {
    const chunks: Uint8Array[] = [];
    for (let at = 0; at < bytes.length; at += size) chunks.push(bytes.subarray(at, at + size));
    const lines = linesOf(chunks, { splitsAtCr });
    expect(lines.map((line) => (line.torn ? `${line.text}…` : line.text))).toEqual(expected);
  }
}

describe("lines", () => {
  it.each<[string, readonly string[]]>([
    ["", []],
    ["\n", [""]],
    ["a\nb\n", ["a", "b"]],
    ["a\nb", ["a", "b…"]],
    ["a\r\nb\r\n", ["a", "b"]],
    ["a\rb\n", ["a\rb"]],
    ["\ufeffa\n\ufeffb\n", ["a", "\ufeffb"]],
    ["a\u2028b\u0085c\n", ["a\u2028b\u0085c"]],
    ["é漢😀\n😀", ["é漢😀", "😀…"]],
    ["a\u0000b\n", ["a\u0000b"]],
    ["\n\n\na", ["", "", "", "a…"]],
  ])("[P11] of %j are %j", (text, expected) => check(encoder.encode(text), expected));

  it.each<[string, readonly string[]]>([
    ["a\rb\r", ["a", "b"]],
    ["a\r\rb\n", ["a", "", "b"]],
    ["a\r\nb\rc\nd", ["a", "b", "c", "d…"]],
  ])("[P11] of %j, split at a lone CR too, are %j", (text, expected) =>
    check(encoder.encode(text), expected, true),
  );

  it("[P12] replaces what is not UTF-8", () => {
    check(Uint8Array.from([0x61, 0xff, 0x62, 10, 0xe2, 0x82, 10, 0xc3]), ["a\ufffdb", "\ufffd", "\ufffd…"]);
  });

  it("[P13] cuts a line that is too long, and reads the next", () => {
    const maxBytes = 100_000;
    const long = new Uint8Array(250_000).fill(0x78);
    for (const size of [250_000, 70_000, 1_000]) {
      const reader = new LineReader({ maxBytes });
      const lines: Line[] = [];
      for (let at = 0; at < long.length; at += size) lines.push(...reader.push(long.subarray(at, at + size)));
      lines.push(...reader.push(encoder.encode("\nnext\n")), ...reader.end());
      expect(lines.map(({ text, omittedBytes }) => [text.length, omittedBytes])).toEqual([
        [bounds.keptLineBytes, 250_000 - bounds.keptLineBytes],
        [4, 0],
      ]);
    }
  });

  it("[P13] [R35] takes a line of 16 MB", () => {
    const line = `{"type":"x","text":"${"y".repeat(16 * 1024 * 1024)}"}`;
    const bytes = encoder.encode(`${line}\n{}\n`);
    const reader = new LineReader();
    const lines: Line[] = [];
    for (let at = 0; at < bytes.length; at += 65_536)
      lines.push(...reader.push(bytes.subarray(at, at + 65_536)));
    expect(lines.map(({ text, omittedBytes }) => [text.length, omittedBytes])).toEqual([
      [line.length, 0],
      [2, 0],
    ]);
    expect(parseJson(lines[0]?.text ?? "")).toMatchObject({ type: "x" });
  });

  it("[P13] [R34] holds 600 MB of one line in twice its bound", () => {
    const reader = new LineReader();
    const chunk = new Uint8Array(1024 * 1024).fill(0x78);
    const before = process.memoryUsage().arrayBuffers;
    let most = 0;
    for (let megabyte = 0; megabyte < 600; megabyte++) {
      expect(reader.push(chunk)).toEqual([]);
      most = Math.max(most, process.memoryUsage().arrayBuffers - before);
    }
    const lines = reader.push(encoder.encode("\n{}\n"));
    expect(lines[0]?.omittedBytes).toBe(600 * 1024 * 1024 - bounds.keptLineBytes);
    expect(lines[1]?.text).toBe("{}");
    expect(most).toBeLessThan(3 * bounds.lineBytes);
  });
});

describe("server-sent events", () => {
  function sse(text: string): SseItem[] {
    const lines = new LineReader({ splitsAtCr: true });
    const reader = new SseReader();
    const found: (SseItem | undefined)[] = [];
    for (const line of [...lines.push(encoder.encode(text)), ...lines.end()]) found.push(reader.push(line));
    found.push(reader.end());
    return found.filter((item) => item !== undefined);
  }

  it.each<[string, readonly unknown[]]>([
    ["data: a\n\n", [{ event: undefined, data: "a", torn: false }]],
    ["event: x\ndata: a\n\n", [{ event: "x", data: "a", torn: false }]],
    ["data:a\r\n\r\ndata: b\r\r", [{ data: "a" }, { data: "b" }]],
    ["data: a\ndata: b\n\n", [{ data: "a\nb" }]],
    ["data:  two\n\n", [{ data: " two" }]],
    [": keep-alive\n\nid: 1\nretry: 5\ndata: a\n\n", [{ data: "a" }]],
    ["data\n\n", [{ data: "" }]],
    ["event: only\n\ndata: a\n\n", [{ event: undefined, data: "a" }]],
    ["data: a", [{ data: "a", torn: true }]],
    ["data: a\n", [{ data: "a", torn: true }]],
    ['{"error":1}\n', [{ stray: { text: '{"error":1}' } }]],
    ["<html>\ndata: a\n\n", [{ stray: { text: "<html>" } }, { data: "a" }]],
    [
      'data: {"a":1}\ndata: {"a":2}\ndata: [DONE]\n',
      [{ data: '{"a":1}' }, { data: '{"a":2}' }, { data: "[DONE]" }],
    ],
    [
      'event: x\ndata: {"a":1}\nevent: y\ndata: {"a":2}\n\n',
      [
        { event: "x", data: '{"a":1}' },
        { event: "y", data: '{"a":2}' },
      ],
    ],
    ['data: {"a":1}\nevent: x\n\n', [{ event: "x", data: '{"a":1}' }]],
    ['data: {\ndata: "a":1}\ndata: \n\n', [{ data: '{\n"a":1}\n' }]],
  ])("[P16] of %j", (text, expected) => expect(sse(text)).toMatchObject(expected));
});

describe("JSON", () => {
  it.each<[string, boolean]>([
    ["[".repeat(96) + "]".repeat(96), false],
    ["[".repeat(97) + "]".repeat(97), true],
    [`${'{"a":'.repeat(97)}1${"}".repeat(97)}`, true],
    [`${'{"":'.repeat(96)}{}${"}".repeat(96)}`, true],
    [`${'{"":'.repeat(95)}{}${"}".repeat(95)}`, false],
    [`${'[{"":'.repeat(48)}[]${"}]".repeat(48)}`, true],
    [`"${"[".repeat(500)}"`, false],
    [`["${'\\"['.repeat(500)}"]`, false],
    [`[${"[],".repeat(500)}[]]`, false],
    [`{"a":"${"\\\\".repeat(3)}","b":${"[".repeat(97)}${"]".repeat(97)}}`, true],
  ])("[P14] %s", (text, expected) => {
    expect(isDeeper(text, 96)).toBe(expected);
    expect(parseJson(text) === undefined).toBe(expected);
  });

  it("[P14] [R34] refuses a bomb at once", () => {
    expect(parseJson("[".repeat(1_000_000))).toBeUndefined();
    expect(parseJson('{"a":'.repeat(1_000_000))).toBeUndefined();
  });

  it("[P18] keeps the last of equal keys and pollutes nothing", () => {
    expect(parseJson('{"id":"item_1","id":"ws_1"}')).toEqual({ id: "ws_1" });
    parseJson('{"__proto__":{"polluted":1}}');
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });

  it("[P15] tells noise from JSON", () => {
    expect(parseLine('\ufeff{"a":1}')).toEqual({ json: { a: 1 } });
    expect(parseLine("null")).toEqual({ json: null });
    expect(parseLine('\0\0{"a":1}\0')).toEqual({ json: { a: 1 } });
    expect(parseLine("warning: x")).toEqual({ noise: "warning: x" });
  });
});
