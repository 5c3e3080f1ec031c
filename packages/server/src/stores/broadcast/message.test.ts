// Messages between nodes as bytes, there and back, and what is none.

import type { BroadcastMessage } from "@blockyard/kernel";
import { describe, expect, it } from "vitest";
import { decodeMessage, encodeMessage } from "./message.ts";

describe("[N12] words between nodes", () => {
  it("come back as they were sent, many hints in several pieces", () => {
    const hints = Array.from({ length: 2_500 }, (_, seq) => ({ conversation: `c${seq}`, seq }));
    const parts = encodeMessage({ type: "hints", hints }).map((bytes) => decodeMessage(bytes));
    expect(parts).toHaveLength(3);
    expect(parts.flatMap((part) => (part?.type === "hints" ? part.hints : []))).toEqual(hints);
    const cursor = { agent: "ann", block: "c/ann/1", anchor: 1, head: 2 };
    const message: BroadcastMessage = { type: "cursor", at: { cursor, conversation: "c", version: 3 } };
    expect(encodeMessage(message).map((bytes) => decodeMessage(bytes))).toEqual([message]);
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
      expect(decodeMessage(Buffer.from(text))).toBeUndefined();
    });
  }
});

describe("words of others", () => {
  const good = {
    type: "cursor",
    at: { cursor: { agent: "ann", block: "c/ann/1", anchor: 0, head: 0 }, conversation: "c", version: 1 },
  };
  const at = (change: object, cursor: object = {}) => ({
    ...good,
    at: { ...good.at, ...change, cursor: { ...good.at.cursor, ...cursor } },
  });
  it.each([
    ["an agent that is none", at({}, { agent: "Ann Smith\n" })],
    ["an agent without end", at({}, { agent: "a".repeat(1_000) })],
    ["a block that is none", at({}, { block: "c/ann" })],
    ["a block of another conversation", at({}, { block: "d/ann/1" })],
    ["a conversation that is none", at({ conversation: "../etc" })],
    ["a place behind every text", at({}, { head: 1e15 })],
    ["a version that is no number", at({ version: 1.5 })],
    ["a hint of no conversation", { type: "hints", hints: [{ conversation: "C C", seq: 1 }] }],
    ["a hint beyond all numbers", { type: "hints", hints: [{ conversation: "c", seq: 1e300 }] }],
  ])("[N19] %s is no message", (_, said) => {
    expect(decodeMessage(Buffer.from(JSON.stringify(good)))).toEqual(good);
    expect(decodeMessage(Buffer.from(JSON.stringify(said)))).toBeUndefined();
  });

  it("[N19] with a secret only signed words are heard, and only as they were signed", () => {
    const [signed] = encodeMessage(good as never, "secret");
    const bytes = Buffer.from(signed as Uint8Array);
    expect(decodeMessage(bytes, "secret")).toEqual(good);
    expect(decodeMessage(bytes, "another")).toBeUndefined();
    expect(decodeMessage(Buffer.from(JSON.stringify(good)), "secret")).toBeUndefined();
    for (let i = 0; i < bytes.length; i += 7) {
      const changed = Buffer.from(bytes);
      changed[i] = (changed[i] ?? 0) ^ 1;
      expect(decodeMessage(changed, "secret")).toBeUndefined();
    }
    for (const length of [0, 1, 31, 32])
      expect(decodeMessage(bytes.subarray(0, length), "secret")).toBeUndefined();
  });
});
