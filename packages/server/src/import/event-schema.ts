/**
 * Block events as they may come in over HTTP: the shapes that ingest relies on, checked; what a block may hold is checked
 * by the kernel when it is written. Times are bounded, since they are shown to people and sort their lists.
 */

import { type BlockEvent, KINDS, REASONS, ROLES } from "@blockyard/kernel";
import { z } from "zod";
import { time } from "./imported-time.ts";

const name = z.string().min(1).max(1_000);
const object = z.record(z.string(), z.json());
const tokens = z.number().nonnegative();
const usage = z.object({
  input: tokens,
  cacheRead: tokens,
  cacheWrite: tokens,
  output: tokens,
  reasoning: tokens,
});
const at = time.optional();
const text = z.string().optional();

const event = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("session"),
    provider: name,
    sessionId: text,
    model: text,
    cwd: text,
    version: text,
    title: text,
    details: object.optional(),
  }),
  z.object({ type: z.literal("turn-start"), turn: name, provider: name, model: text, sessionId: text, at }),
  z.object({
    type: z.literal("turn-end"),
    turn: name,
    status: z.enum(["done", "error"]),
    reason: z.enum(REASONS).optional(),
    stopReason: text,
    usage: usage.optional(),
    costUsd: z.number().optional(),
    uncounted: z.literal(true).optional(),
    durationMs: z.number().nonnegative().optional(),
    models: z.array(z.string()).optional(),
    native: object.optional(),
    error: text,
    at,
  }),
  z.object({
    type: z.literal("message-usage"),
    messageId: name,
    turn: text,
    parent: text,
    model: text,
    usage,
    native: object.optional(),
  }),
  z.object({
    type: z.literal("block-start"),
    key: name,
    parent: text,
    // Files belong to a workspace, and no log has one.
    kind: z.enum(KINDS).exclude(["file"]),
    role: z.enum(ROLES),
    metadata: object,
    text,
    at,
  }),
  z.object({ type: z.literal("block-append"), key: name, text: z.string() }),
  z.object({ type: z.literal("block-meta"), key: name, metadata: object }),
  z.object({
    type: z.literal("block-end"),
    key: name,
    status: z.enum(["done", "error"]),
    reason: z.enum(REASONS).optional(),
    text,
    metadata: object.optional(),
    at,
  }),
]);

/** The event, or its error in a sentence. */
export function checkEvent(value: unknown): BlockEvent | string {
  const parsed = event.safeParse(value);
  if (parsed.success) return parsed.data as BlockEvent;
  const [issue] = parsed.error.issues;
  return `not a block event: ${issue?.path.map(String).join(".") || "type"}: ${issue?.message ?? "unknown"}`;
}
