/** Text values and sanitizing, compared with plain strings. */

import { describe, expect, it } from "vitest";
import type { Splice } from "../model/op.ts";
import { random32 } from "../testing/virtual-env.ts";
import { cleanText, splitsPair, splitTail } from "./sanitize.ts";
import { mapOffset, Text, utf8Length } from "./text.ts";

const SAMPLES = [
  "",
  "\n",
  "a",
  "a\n",
  "a\nb",
  "\r\n",
  "a\r\nb\r\n",
  "é😀\n日本\n",
  "\n\n\n",
  "x".repeat(5_000),
  "l\n".repeat(3_000),
  "\ufeffa\u2028b\u0085c\vd",
];

describe("text values", () => {
  it("[K24] come back unchanged, by lines, offsets and bytes", () => {
    for (const sample of SAMPLES) {
      const text = Text.of(sample);
      const lines = sample.split("\n");
      if (lines.at(-1) === "") lines.pop();
      expect(text.toString()).toBe(sample);
      expect(text.length).toBe(sample.length);
      expect(text.lineCount).toBe(lines.length);
      expect(text.lines(0, text.lineCount)).toEqual(lines);
      expect(text.endsWithNewline).toBe(sample.endsWith("\n"));
      expect([...text.pieces()].join("")).toBe(sample);
      expect(text.byteLength).toBe(Buffer.byteLength(sample));
      expect(utf8Length(sample)).toBe(Buffer.byteLength(sample));
      let start = 0;
      for (const [i, line] of lines.entries()) {
        expect(text.lineStart(i)).toBe(start);
        if (i < 50) expect(text.lines(i, i + 1)).toEqual([line]);
        expect(text.isLineBoundary(start)).toBe(true);
        start += line.length + 1;
      }
      expect(text.lineStart(lines.length)).toBe(sample.length);
      expect(text.lineStart(lines.length + 5)).toBe(sample.length);
      expect(text.lines(lines.length, lines.length + 3)).toEqual([]);
    }
  });

  it("[K24] find the offset of every byte that starts a character", () => {
    for (const sample of ["aé日😀b\n\r\nz", "", "😀😀", "é\né"]) {
      const text = Text.of(sample);
      const starts = new Map<number, number>();
      let byte = 0;
      let offset = 0;
      for (const character of sample) {
        starts.set(byte, offset);
        byte += Buffer.byteLength(character);
        offset += character.length;
      }
      starts.set(byte, offset);
      for (let at = 0; at <= byte + 3; at++)
        expect(text.offsetOfByte(at), `${sample} ${at}`).toBe(starts.get(at));
    }
  });

  it("[K24] splices applied and reverted agree with those of a string", () => {
    const random = random32(24);
    for (let round = 0; round < 300; round++) {
      let string = SAMPLES[random() % 9] as string;
      const before = Text.of(string);
      const splices: Splice[] = [];
      for (let i = random() % 6; i >= 0; i--) {
        const at = random() % (string.length + 1);
        const del = string.slice(at, at + (random() % 5));
        const ins = ["", "x", "\n", "é\r\n", "long text\n"][random() % 5] as string;
        splices.push({ at, del, ins });
        string = string.slice(0, at) + ins + string.slice(at + del.length);
      }
      const after = before.apply(splices);
      expect(after.toString()).toBe(string);
      expect(after.revert(splices).equals(before)).toBe(true);
      expect(after.lineCount).toBe(Text.of(string).lineCount);
      expect(before.toString()).toBe(before.toString());
    }
    expect(() => Text.of("abc").apply([{ at: 0, del: "x", ins: "" }])).toThrow();
    expect(() => Text.of("abc").replace(2, 9, "")).toThrow();
  });

  it("[K24] offsets are mapped over splices, before or after what is inserted there", () => {
    const insert = [{ at: 2, del: "", ins: "xyz" }];
    expect([1, 2, 3].map((at) => mapOffset(at, insert, -1))).toEqual([1, 2, 6]);
    expect([1, 2, 3].map((at) => mapOffset(at, insert, 1))).toEqual([1, 5, 6]);
    const replaced = [{ at: 2, del: "abc", ins: "X" }];
    expect([1, 2, 3, 4, 5, 6].map((at) => mapOffset(at, replaced, -1))).toEqual([1, 2, 2, 2, 3, 4]);
    expect([1, 2, 3, 4, 5, 6].map((at) => mapOffset(at, replaced, 1))).toEqual([1, 3, 3, 3, 3, 4]);
    expect(mapOffset(5, [...insert, { at: 0, del: "ab", ins: "" }], -1)).toBe(6);
  });

  it("[K24] know where a character would be cut", () => {
    const text = Text.of("a😀b");
    expect([0, 1, 2, 3, 4].map((at) => text.isCharacterBoundary(at))).toEqual([
      true,
      true,
      false,
      true,
      true,
    ]);
    expect(splitsPair("a\ud83d", "\ude00")).toBe(true);
    expect(splitsPair("a", "\ude00")).toBe(false);
    expect(splitsPair("", "\ude00")).toBe(false);
  });
});

describe("sanitize", () => {
  it("[K14] replaces what no store can keep, visibly, and nothing else", () => {
    const rows: [string, string][] = [
      ["plain", "plain"],
      ["a\0b", "a␀b"],
      ["\ud800", "\ufffd"],
      ["\udc00\ud800", "\ufffd\ufffd"],
      ["😀\ud83d", "😀\ufffd"],
      ["\u0001\u001b\ufeff\uffff", "\u0001\u001b\ufeff\uffff"],
      ["é\u2028\r\n", "é\u2028\r\n"],
    ];
    for (const [given, kept] of rows) {
      expect(cleanText(given)).toBe(kept);
      expect(cleanText(kept)).toBe(kept);
    }
  });

  it("[K18] holds back a first half only at the very end", () => {
    expect(splitTail("ab")).toEqual({ ready: "ab", held: "" });
    expect(splitTail("a\ud83d")).toEqual({ ready: "a", held: "\ud83d" });
    expect(splitTail("\ud83d")).toEqual({ ready: "", held: "\ud83d" });
    expect(splitTail("a😀")).toEqual({ ready: "a😀", held: "" });
    expect(splitTail("\ude00")).toEqual({ ready: "\ude00", held: "" });
    expect(splitTail("")).toEqual({ ready: "", held: "" });
  });
});
