/** Partial JSON against JSON.parse: every cut, random chunking, and the time it takes. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Json } from "../model/json.ts";
import { PartialJson } from "./partial-json.ts";

function read(...pieces: readonly string[]): PartialJson {
  const reader = new PartialJson();
  for (const piece of pieces) reader.push(piece);
  return reader;
}

describe("[P22] the value so far", () => {
  it.each<[string, Json | undefined]>([
    ["", undefined],
    ["  ", undefined],
    ["{", {}],
    ['{"a', {}],
    ['{"a"', {}],
    ['{"a":', {}],
    ['{"a":"', { a: "" }],
    ['{"a":"x', { a: "x" }],
    ['{"a":"x\\', { a: "x" }],
    ['{"a":"x\\n', { a: "x\n" }],
    ['{"a":"x\\u00', { a: "x" }],
    ['{"a":"x\\u00e9', { a: "xé" }],
    ['{"a":"\\ud83d', { a: "" }],
    ['{"a":"\\ud83d\\ude00', { a: "😀" }],
    ['{"a":1', {}],
    ['{"a":1,', { a: 1 }],
    ['{"a":tru', {}],
    ['{"a":true}', { a: true }],
    ['{"a":[1,{"b":"c', { a: [1, { b: "c" }] }],
    ['{"a":1,"a":"x', { a: "x" }],
    ['["x","y', ["x", "y"]],
    ['"abc', "abc"],
  ])("of %j is %j", (text, expected) => {
    const reader = read(text);
    expect(reader.value()).toEqual(expected);
    expect(reader.broken).toBe(false);
  });

  it("yields half a surrogate pair only once it is known to be alone", () => {
    expect(read('"a\ud83d').value()).toBe("a");
    expect(read('"a\ud83d', "\ude00").value()).toBe("a😀");
    expect(read('"a\\ud83d"').value()).toBe("a\ud83d");
    expect(read('"a\\ud83dx').value()).toBe("a\ud83dx");
  });

  it.each(["}", "{,", '{"a" 1', "[1 2", '{"a":01}', "nul]", '"a\nb"', "{} x", '{"a":"\\x"}', "[1,]", "+1 "])(
    "%j is broken, and stays so",
    (text) => {
      const reader = read(text);
      expect(reader.end()).toBe("broken");
      reader.push('{"a":1}');
      expect(reader.state).toBe("broken");
    },
  );

  it("keeps its value when the input breaks", () => {
    expect(read('{"a":"whole","b":"par\\q').value()).toEqual({ a: "whole", b: "par" });
  });

  it("[P18] reaches no prototype", () => {
    const reader = read('{"__proto__":{"polluted":true},"a":{"__proto__":"x"}}');
    expect(reader.complete).toBe(true);
    expect(reader.value()).toEqual({ a: {} });
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });

  it("refuses nesting beyond its bound", () => {
    expect(read("[".repeat(1_000_000)).state).toBe("broken");
    expect(read("[".repeat(88), "]".repeat(88)).state).toBe("complete");
  });
});

describe("[P22] against JSON.parse", () => {
  it("equals it in random pieces", () => {
    const pieces = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), pieces, fc.boolean(), (value, sizes, isPretty) => {
        const text = JSON.stringify(value, null, isPretty ? 2 : undefined);
        const reader = new PartialJson();
        for (let at = 0, i = 0; at < text.length; i++) {
          const size = sizes[i % sizes.length] as number;
          reader.push(text.slice(at, at + size));
          at += size;
        }
        expect(reader.end()).toBe("complete");
        expect(JSON.stringify(reader.value())).toBe(JSON.stringify(withoutProto(JSON.parse(text) as Json)));
      }),
      { numRuns: 2_000, seed: 7 },
    );
  });

  it("is a beginning of it at every cut", () => {
    const text = JSON.stringify({
      a: 'é😀\n"\\',
      list: [1, -2.5e3, true, null, "x"],
      deep: { er: [{ s: "漢字" }] },
    });
    for (let cut = 0; cut <= text.length; cut++) {
      const reader = read(text.slice(0, cut));
      expect(reader.broken).toBe(false);
      const value = reader.value();
      expect(isBeginning(value, JSON.parse(text) as Json), `cut at ${cut}`).toBe(true);
      expect(JSON.stringify(value ?? null).isWellFormed()).toBe(true);
      reader.push(text.slice(cut));
      expect(reader.value()).toEqual(JSON.parse(text));
    }
  });
});

describe("[P23] a growing string", () => {
  it("returns the added part", () => {
    const reader = read('{"path":"a.ts","content":"one');
    expect(reader.openPath()).toEqual(["content"]);
    expect(reader.string(["path"])).toMatchObject({ length: 4, complete: true });
    const before = reader.string(["content"]);
    expect(before?.text()).toBe("one");
    reader.push(" two");
    reader.push("\\nthree");
    const after = reader.string(["content"]);
    expect(after?.since(3)).toBe(" two\nthree");
    expect(after?.since(0)).toBe("one two\nthree");
    expect(after?.since(99)).toBe("");
    expect(before?.since(1)).toBe("ne");
    reader.push('"}');
    expect(reader.string(["content"])?.complete).toBe(true);
    expect(reader.string(["content"])?.since(3)).toBe(" two\nthree");
    expect(reader.string(["missing"])).toBeUndefined();
    expect(reader.openPath()).toBeUndefined();
  });

  it("[P23] costs linear time: ten times the input, far from a hundred times the work", () => {
    const small = timeFor(300_000);
    const large = timeFor(3_000_000);
    // Quadratic work would be a factor of 100. Processor time: what else runs does not count.
    expect(large / Math.max(small, 1)).toBeLessThan(40);
  });
});

/** Milliseconds of the processor. */
function timeFor(chars: number): number {
  const text = JSON.stringify({ file_path: "a", content: "line of text\n".repeat(chars / 13) });
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 3; round++) {
    const start = process.threadCpuUsage();
    const reader = new PartialJson();
    let shown = 0;
    for (let at = 0; at < text.length; at += 4) {
      reader.push(text.slice(at, at + 4));
      shown += reader.string(["content"])?.since(shown).length ?? 0;
      reader.value();
    }
    expect(shown).toBe((JSON.parse(text) as { content: string }).content.length);
    const { user, system } = process.threadCpuUsage(start); // which of them it was is a guess of the system's
    best = Math.min(best, (user + system) / 1_000);
  }
  return best;
}

function withoutProto(value: Json): Json {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(withoutProto);
  const entries = Object.entries(value).filter(([key]) => key !== "__proto__");
  return Object.fromEntries(entries.map(([key, item]) => [key, withoutProto(item)]));
}

function isBeginning(part: Json | undefined, whole: Json): boolean {
  if (part === undefined) return true;
  if (typeof part === "string") return typeof whole === "string" && whole.startsWith(part);
  if (typeof part !== "object" || part === null) return part === whole;
  return Object.entries(part).every(([key, item]) =>
    isBeginning(item, (whole as Record<string, Json>)[key] ?? null),
  );
}
