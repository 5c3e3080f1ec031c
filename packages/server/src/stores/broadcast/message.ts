/**
 * Messages between nodes as bytes. What comes in is from the outside: it is checked and bounded, and what is not a message is
 * nothing. Nothing of it is believed: a hint makes a node read, a cursor is shown for a minute.
 */

import { createHmac, timingSafeEqual } from "node:crypto";
import type { BroadcastMessage } from "@blockyard/kernel";
import { isAgentId, isConversationId, limits, parseBlockId } from "@blockyard/kernel";
import { z } from "zod";
import { HINTS_PER_WORD, WORD_BYTES } from "./limits.ts";

const SIGNATURE_BYTES = 32;

const count = z.number().int().nonnegative().max(Number.MAX_SAFE_INTEGER);
const conversation = z.string().refine(isConversationId);

const message: z.ZodType<BroadcastMessage> = z.discriminatedUnion("type", [
  z.strictObject({
    type: z.literal("hints"),
    hints: z.array(z.strictObject({ conversation, seq: count })).max(HINTS_PER_WORD),
  }),
  z.strictObject({
    type: z.literal("cursor"),
    at: z
      .strictObject({
        cursor: z.strictObject({
          agent: z.string().max(limits.agentChars).refine(isAgentId),
          block: z.string().refine((id) => parseBlockId(id) !== undefined),
          anchor: count.max(limits.blockTextChars),
          head: count.max(limits.blockTextChars),
        }),
        conversation,
        version: count,
      })
      .refine((at) => parseBlockId(at.cursor.block)?.conversation === at.conversation),
  }),
]);

/** `secret`: what the nodes share and the broker does not know; a message is then signed with it. */
export function encodeMessage(said: BroadcastMessage, secret?: string): readonly Uint8Array[] {
  if (said.type !== "hints") return [bytesOf(said, secret)];
  const parts: Uint8Array[] = [];
  for (let at = 0; at < said.hints.length; at += HINTS_PER_WORD)
    parts.push(bytesOf({ type: "hints", hints: said.hints.slice(at, at + HINTS_PER_WORD) }, secret));
  return parts;
}

/** Undefined: not a message, or not one of a node that has the secret. */
export function decodeMessage(bytes: Uint8Array, secret?: string): BroadcastMessage | undefined {
  if (bytes.byteLength > WORD_BYTES) return undefined;
  const text = secret === undefined ? Buffer.from(bytes) : signedText(Buffer.from(bytes), secret);
  if (text === undefined) return undefined;
  try {
    const parsed = message.safeParse(JSON.parse(text.toString("utf8")));
    return parsed.success ? parsed.data : undefined;
  } catch {
    return undefined;
  }
}

/** The text behind its signature; undefined where that is not right. */
function signedText(bytes: Buffer, secret: string): Buffer | undefined {
  const text = bytes.subarray(SIGNATURE_BYTES);
  const signature = bytes.subarray(0, SIGNATURE_BYTES);
  const isRight =
    signature.length === SIGNATURE_BYTES && timingSafeEqual(signature, signatureOf(text, secret));
  return isRight ? text : undefined;
}

function bytesOf(said: BroadcastMessage, secret: string | undefined): Uint8Array {
  const text = Buffer.from(JSON.stringify(said));
  return secret === undefined ? text : Buffer.concat([signatureOf(text, secret), text]);
}

function signatureOf(text: Uint8Array, secret: string): Buffer {
  return createHmac("sha256", secret).update(text).digest();
}
