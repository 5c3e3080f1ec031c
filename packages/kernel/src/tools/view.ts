/**
 * Blocks, conversations and turns in the answers of tools: snake_case JSON, one form everywhere. `export` is lossless,
 * so a view has every field of its record. Metadata keeps the keys that its kind defines.
 */

import { z } from "zod";
import type { Block, WholeBlock } from "../model/block.ts";
import { type Conversation, type MessageUsage, openAsks, type Turn } from "../model/conversation.ts";
import type { Usage } from "../model/event.ts";
import { defined } from "../model/json.ts";
import { type Kind, REASONS } from "../model/kind.ts";
import type { Metadata } from "../model/metadata.ts";
import type { AnswerOf } from "./calls.ts";
import { conversationMetadataField, kindField, metadataField, roleField, statusField } from "./tool.ts";

const count = z.number().int();

export const blockSchema = z.object({
  block_id: z.string(),
  conversation: z.string(),
  agent: z.string(),
  kind: kindField,
  role: roleField,
  status: statusField,
  parent_id: z.string().nullable(),
  side: z.boolean(),
  version: count,
  seq: count,
  born: count,
  created_at: z.number(),
  updated_at: z.number(),
  chars: count,
  newlines: count,
  pruned: z.boolean(),
  promoted: z.boolean(),
  /** Keys as the kind of the block defines them. */
  metadata: metadataField as z.ZodType<Metadata<Kind>>,
});

/** A block with its text. */
export const snapshotSchema = blockSchema.extend({ content: z.string() });

type BlockView = AnswerOf<typeof blockSchema>;
export type BlockSnapshot = AnswerOf<typeof snapshotSchema>;

export function blockView(block: Block): BlockView {
  return {
    block_id: block.id,
    conversation: block.conversation,
    agent: block.agent,
    kind: block.kind,
    role: block.role,
    status: block.status,
    parent_id: block.parent,
    side: block.side,
    version: block.version,
    seq: block.seq,
    born: block.born,
    created_at: block.createdAt,
    updated_at: block.updatedAt,
    chars: block.chars,
    newlines: block.newlines,
    pruned: block.pruned,
    promoted: block.promoted,
    metadata: block.metadata,
  };
}

export function snapshotView(block: WholeBlock): BlockSnapshot {
  return { ...blockView(block), content: block.text };
}

const usageSchema = z.object({
  input: z.number(),
  cache_read: z.number(),
  cache_write: z.number(),
  output: z.number(),
  reasoning: z.number(),
});

export const conversationSchema = z.object({
  conversation: z.string(),
  title: z.string(),
  created_by: z.string(),
  created_at: z.number(),
  updated_at: z.number(),
  seq: count,
  blocks: count,
  head: z.string().nullable(),
  running: z.array(z.string()),
  ended: z
    .enum(REASONS)
    .optional()
    .describe("Why its last turn ended: failed, cancelled or interrupted; absent if it succeeded"),
  asking: z.array(z.string()).optional().describe("Tool calls waiting for the owner's answer"),
  late_asks: z
    .array(z.string())
    .optional()
    .describe("Requests that a restart cut off and that the owner can still answer"),
  provider: z.string().optional(),
  model: z.string().optional(),
  sessions: z.record(z.string(), z.string()),
  included: z.array(z.string()),
  forked_from: z.string().optional(),
  usage: usageSchema,
  cost_usd: z.number().nullable(),
  uncounted: count.optional().describe("Turns that used more than reported, because an answer was cut off"),
  turns: count,
  metadata: conversationMetadataField,
});

export type ConversationView = AnswerOf<typeof conversationSchema>;

export function conversationView(record: Conversation): ConversationView {
  const late = openAsks(record).slice(record.asking?.length ?? 0);
  return {
    conversation: record.id,
    title: record.title,
    created_by: record.createdBy,
    created_at: record.createdAt,
    updated_at: record.updatedAt,
    seq: record.seq,
    blocks: record.blocks,
    head: record.head,
    running: [...record.running],
    ...(record.ended === undefined ? {} : { ended: record.ended }),
    ...(record.asking === undefined ? {} : { asking: [...record.asking] }),
    ...(late.length === 0 ? {} : { late_asks: late }),
    ...(record.provider === undefined ? {} : { provider: record.provider }),
    ...(record.model === undefined ? {} : { model: record.model }),
    sessions: { ...record.sessions },
    included: [...record.included],
    ...(record.forkedFrom === undefined ? {} : { forked_from: record.forkedFrom }),
    usage: usageView(record.usage),
    cost_usd: record.costUsd,
    ...(record.uncounted === undefined ? {} : { uncounted: record.uncounted }),
    turns: record.turns,
    metadata: record.metadata,
  };
}

export const turnSchema = z.object({
  turn: z.string(),
  provider: z.string(),
  agent: z.string(),
  model: z.string().optional(),
  session_id: z.string().optional(),
  status: z.enum(["running", "done", "error"]),
  reason: z.enum(REASONS).optional(),
  stop_reason: z.string().optional(),
  error: z.string().optional(),
  started_at: z.number(),
  ended_at: z.number().optional(),
  duration_ms: z.number().optional(),
  usage: usageSchema.optional(),
  cost_usd: z.number().optional(),
  uncounted: z.literal(true).optional().describe("It used more than reported, because an answer was cut off"),
  messages: z
    .record(
      z.string(),
      z.object({ usage: usageSchema, model: z.string().optional(), parent_id: z.string().optional() }),
    )
    .optional(),
  native: metadataField.optional(),
});

export type TurnView = AnswerOf<typeof turnSchema>;
type MessageView = NonNullable<TurnView["messages"]>[string];

export function turnView(turn: Turn): TurnView {
  const { id, provider, agent, status, startedAt, messages } = turn;
  return defined({
    turn: id,
    provider,
    agent,
    model: turn.model,
    session_id: turn.sessionId,
    status,
    reason: turn.reason,
    stop_reason: turn.stopReason,
    error: turn.error,
    started_at: startedAt,
    ended_at: turn.endedAt,
    duration_ms: turn.durationMs,
    usage: turn.usage && usageView(turn.usage),
    cost_usd: turn.costUsd,
    uncounted: turn.uncounted,
    messages:
      messages &&
      Object.fromEntries(Object.entries(messages).map(([message, used]) => [message, messageView(used)])),
    native: turn.native,
  });
}

function messageView({ usage, model, parent }: MessageUsage): MessageView {
  return defined({ usage: usageView(usage), model, parent_id: parent });
}

function usageView(usage: Usage): z.infer<typeof usageSchema> {
  return {
    input: usage.input,
    cache_read: usage.cacheRead,
    cache_write: usage.cacheWrite,
    output: usage.output,
    reasoning: usage.reasoning,
  };
}
