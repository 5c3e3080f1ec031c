/**
 * Frames: what the two ends of a connection say to each other. JSON, one value per message, in order.
 *
 * client → server
 *   hello {protocol}                        first, once
 *   subscribe {sub, conversation, since?, blocks?, brief?}
 *                                           brief: of results that are closed at first, what they show in place of their texts
 *   unsubscribe {sub}
 *   page {sub, before, limit}               older blocks of a window
 *   want {sub, blocks}                      texts that the window left out
 *   call {id, tool, input, key?}            a tool of the table; with a key it may be sent again
 *   sync {block, vector?}                   this block as a CRDT document, from now on
 *   update {id, block, update, key}         a CRDT update; answered like a call
 *   unsync {block}
 *   watch                                   every conversation's record, whenever it changes from now on
 *   ping {n}
 *
 * server → client
 *   hello {protocol, epoch, agent, role}
 *   verdict {sub, verdict, epoch, seq, record, turns, blocks, more, calls?, reason?}
 *   changes {sub, seq, record, ops, blocks, turns}
 *   refused {sub, of, problem, blocks?}     of "subscribe", "page" or "want"; one that can pass is asked for again
 *   page {sub, blocks, more}
 *   text {block, version, at, text, last}   one text, in pieces; ops that are newer than it apply behind its last piece
 *   answer {id, answer} | {id, problem}
 *   state {block, version, update}          answer to sync
 *   update {block, version, update}
 *   presence {sub, cursors}
 *   records {records}                       of conversations that have changed, for who watches
 *   pong {n}
 *   bye {code, message}                     the last one: `resumable` or not
 *
 * Versions of the protocol: 1. A client that names another one gets `bye`.
 */

import { z } from "zod";
import type { Change, Snapshot } from "../model/change.ts";
import type { Conversation, Turn } from "../model/conversation.ts";
import type { Cursor } from "../model/cursor.ts";
import type { BlockId, ConversationId } from "../model/ids.ts";
import type { Json } from "../model/json.ts";
import { limits } from "../model/limits.ts";
import type { Op, OpBody } from "../model/op.ts";
import type { Problem } from "../model/problem.ts";

export const PROTOCOL = 1;

/** An op on the wire: CRDT updates go only to those who merge. */
type WireOp = Omit<Op, "conversation" | "body"> & {
  readonly body: Exclude<OpBody, { type: "splice" }> | Omit<OpBody & { type: "splice" }, "update">;
};

const id = z.string().max(200);
const sub = z.number().int().nonnegative();
const call = z.number().int().nonnegative();

export const clientFrame = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("hello"), protocol: z.number(), client: z.string().max(100).optional() }),
  z.strictObject({
    type: z.literal("subscribe"),
    sub,
    conversation: id,
    since: z.strictObject({ epoch: z.string().max(100), seq: z.number().int().nonnegative() }).optional(),
    blocks: z.number().int().min(1).max(limits.pageBlocks).optional(),
    brief: z.boolean().optional(),
  }),
  z.strictObject({ type: z.literal("unsubscribe"), sub }),
  z.strictObject({
    type: z.literal("page"),
    sub,
    before: z.number().int().nonnegative(),
    limit: z.number().int().min(1).max(limits.pageBlocks),
  }),
  z.strictObject({ type: z.literal("want"), sub, blocks: z.array(id).max(limits.pageBlocks) }),
  z.strictObject({
    type: z.literal("call"),
    id: call,
    tool: z.string().max(100),
    input: z.unknown(),
    key: z.string().max(200).optional(),
  }),
  z.strictObject({ type: z.literal("sync"), block: id, vector: z.string().optional() }),
  z.strictObject({
    type: z.literal("update"),
    id: call,
    block: id,
    update: z.string(),
    key: z.string().max(200),
  }),
  z.strictObject({ type: z.literal("unsync"), block: id }),
  z.strictObject({ type: z.literal("watch") }),
  z.strictObject({ type: z.literal("ping"), n: z.number() }),
]);

export type ClientFrame = z.infer<typeof clientFrame>;

export type ByeCode = "protocol" | "slow" | "closing" | "invalid" | "silent" | "forbidden" | "fault";

/** Of what a subscription asks for. */
export type Refused = "subscribe" | "page" | "want";

export type ServerFrame =
  | { type: "hello"; protocol: number; epoch: string; agent: string; role: string }
  | {
      type: "verdict";
      sub: number;
      /** ok: what follows continues what the client has. reset: forget it, this is the conversation. */
      verdict: "ok" | "reset";
      epoch: string;
      seq: number;
      record: Conversation;
      turns: readonly Turn[];
      blocks: readonly Snapshot[];
      /** There are older blocks than these. */
      more: boolean;
      /** Tool calls that are older than these and have not ended; without their texts. */
      calls?: readonly Snapshot[];
      reason?: string;
    }
  /** `of`: what was asked for; `blocks`: those whose texts cannot be read. */
  | { type: "refused"; sub: number; of: Refused; problem: Problem; blocks?: readonly BlockId[] }
  | {
      type: "changes";
      sub: number;
      /** The client's cursor once it has applied this frame. */
      seq: number;
      ops: readonly WireOp[];
      /** Blocks that replace what the client has of them. */
      blocks: readonly Snapshot[];
      record?: Conversation;
      turns: readonly Turn[];
    }
  | { type: "page"; sub: number; blocks: readonly Snapshot[]; more: boolean }
  | { type: "text"; block: BlockId; version: number; at: number; text: string; last: boolean }
  | { type: "answer"; id: number; answer: Json }
  | { type: "answer"; id: number; problem: Problem }
  | { type: "state"; block: BlockId; version: number; update: string }
  | { type: "state"; block: BlockId; problem: Problem }
  | { type: "update"; block: BlockId; version: number; update: string }
  | { type: "presence"; sub: number; conversation: ConversationId; cursors: readonly Cursor[] }
  | { type: "records"; records: readonly Conversation[] }
  | { type: "pong"; n: number }
  | { type: "bye"; code: ByeCode; resumable: boolean; message: string };

function toWire(op: Op): WireOp {
  const { conversation: _conversation, body, ...rest } = op;
  if (body.type !== "splice") return { ...rest, body };
  const { update: _update, ...bare } = body;
  return { ...rest, body: bare };
}

/** What a frame says of a change. Of one change there is one, so that whoever encodes it does so once. */
export function changesOf(change: Change): ChangesBody {
  let body = bodies.get(change);
  if (!body) {
    const { seq, record, turns, whole = [] } = change;
    const ops = change.ops.filter(({ block }) => block !== null).map(toWire);
    body = { seq, ops, blocks: whole, record, turns };
    bodies.set(change, body);
  }
  return body;
}

type ChangesBody = Omit<ServerFrame & { readonly type: "changes" }, "type" | "sub">;

const bodies = new WeakMap<Change, ChangesBody>();

/** The op again; its CRDT update is empty, which a thin replica never looks at. */
export function fromWire(conversation: ConversationId, op: WireOp): Op {
  const body = op.body.type === "splice" ? { ...op.body, update: NO_BYTES } : op.body;
  return { ...op, conversation, body };
}

const NO_BYTES = new Uint8Array(0);

export { fromBase64, toBase64 } from "../model/base64.ts";
