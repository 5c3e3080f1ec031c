/**
 * Words between nodes as bytes. What comes in is from the outside: it is checked and bounded, and what is not a word is
 * nothing. Nothing of it is believed: a hint makes a node read, a cursor is shown for a minute.
 */

import type { Word } from "@blockyard/kernel";
import { limits } from "@blockyard/kernel";
import { z } from "zod";

/** Hints in one word: it must fit into what a broker takes as one message. */
const HINTS_PER_WORD = 1_000;
const MAX_BYTES = 512 * 1024;

const count = z.number().int().nonnegative();
const name = z.string().min(1).max(200);

const word: z.ZodType<Word> = z.discriminatedUnion("type", [
  z.strictObject({
    type: z.literal("hints"),
    hints: z.array(z.strictObject({ conversation: name, seq: count })).max(HINTS_PER_WORD),
  }),
  z.strictObject({
    type: z.literal("cursor"),
    at: z.strictObject({
      cursor: z.strictObject({
        agent: z.string().min(1).max(limits.agentChars),
        block: name,
        anchor: count,
        head: count,
      }),
      conversation: name,
      version: count,
    }),
  }),
]);

export function encodeWord(said: Word): readonly Uint8Array[] {
  if (said.type !== "hints") return [bytesOf(said)];
  const parts: Uint8Array[] = [];
  for (let at = 0; at < said.hints.length; at += HINTS_PER_WORD)
    parts.push(bytesOf({ type: "hints", hints: said.hints.slice(at, at + HINTS_PER_WORD) }));
  return parts;
}

/** Undefined: not a word. */
export function decodeWord(bytes: Uint8Array): Word | undefined {
  if (bytes.byteLength > MAX_BYTES) return undefined;
  try {
    const parsed = word.safeParse(JSON.parse(Buffer.from(bytes).toString("utf8")));
    return parsed.success ? parsed.data : undefined;
  } catch {
    return undefined;
  }
}

function bytesOf(said: Word): Uint8Array {
  return Buffer.from(JSON.stringify(said));
}
