// Words between nodes as bytes, there and back, and what is none.

import type { Word } from "@blockyard/kernel";
import { describe, expect, it } from "vitest";
import { decodeWord, encodeWord } from "./word.ts";

describe("[N12] words between nodes", () => {
  it("come back as they were sent, many hints in several pieces", () => {
    const hints = Array.from({ length: 2_500 }, (_, seq) => ({ conversation: `c${seq}`, seq }));
    const parts = encodeWord({ type: "hints", hints }).map(decodeWord);
    expect(parts).toHaveLength(3);
    expect(parts.flatMap((part) => (part?.type === "hints" ? part.hints : []))).toEqual(hints);
    const cursor = { agent: "ann", block: "c/ann/1", anchor: 1, head: 2 };
    const word: Word = { type: "cursor", at: { cursor, conversation: "c", version: 3 } };
    expect(encodeWord(word).map(decodeWord)).toEqual([word]);
  });

  for (const text of [
    "",
    "{",
    "null",
    "[]",
    '{"type":"hints"}',
    '{"type":"hints","hints":[{"conversation":"c"}]}',
    '{"type":"hints","hints":[{"conversation":"c","seq":-1}]}',
    '{"type":"hints","hints":[{"conversation":"","seq":1}]}',
    '{"type":"hints","hints":[{"conversation":"c","seq":1,"ops":[]}]}',
    '{"type":"cursor","at":{"conversation":"c","version":1}}',
    '{"type":"order","turn":"t"}',
    `{"type":"hints","hints":[],"x":"${"x".repeat(600_000)}"}`,
  ]) {
    it(`are nothing where they are none: ${text.slice(0, 70)}`, () => {
      expect(decodeWord(Buffer.from(text))).toBeUndefined();
    });
  }
});
