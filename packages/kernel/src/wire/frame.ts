/**
 * Frames: the messages between the two ends of a connection. JSON, one value per message, in order.
 *
 * client → server
 *   hello {protocol}                        first, once
 *   subscribe {sub, conversation, since?, blocks?, brief?}
 *                                           brief: initially closed results without text, only with what they show
 *   unsubscribe {sub}
 *   page {sub, before, limit}               older blocks of a window
 *   want {sub, blocks}                      texts that the window left out
 *   call {id, tool, input, key?}            a tool of the table; with a key it may be sent again
 *   sync {block, vector?}                   opens a block as a CRDT document
 *   update {id, block, update, key}         a CRDT update; answered like a call
 *   unsync {block}
 *   watch                                   from now on, the record of every conversation that changes
 *   ping {n}
 *
 * server → client
 *   hello {protocol, epoch, agent, role}
 *   verdict {sub, verdict, epoch, seq, record, turns, blocks, more, calls?, reason?}
 *   changes {sub, seq, record, ops, blocks, turns}
 *   refused {sub, of, problem, blocks?}     of "subscribe", "page" or "want"; retried if the problem is temporary
 *   page {sub, blocks, more}
 *   text {block, version, at, text, last}   one text, in pieces; newer ops apply after its last piece
 *   answer {id, answer} | {id, problem}
 *   state {block, version, update}          answer to sync
 *   update {block, version, update}
 *   presence {sub, cursors}
 *   records {records}                       answer to watch
 *   pong {n}
 *   bye {code, resumable, message}          the last frame
 *
 * The protocol version is 1. A client that sends another one gets `bye`.
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

/** An op on the wire, without its CRDT update: only clients that opened the block as a document get updates. */
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

/** The requests that can be refused. */
export type Refused = "subscribe" | "page" | "want";

export type ServerFrame =
  | { type: "hello"; protocol: number; epoch: string; agent: string; role: string }
  | {
      type: "verdict";
      sub: number;
      /** ok: changes follow that continue the client's copy. reset: this frame replaces it. */
      verdict: "ok" | "reset";
      epoch: string;
      seq: number;
      record: Conversation;
      turns: readonly Turn[];
      blocks: readonly Snapshot[];
      /** There are older blocks. */
      more: boolean;
      /** Open tool calls that are older than these blocks; without texts. */
      calls?: readonly Snapshot[];
      reason?: string;
    }
  /** `of`: the request; `blocks`: those whose texts cannot be read. */
  | { type: "refused"; sub: number; of: Refused; problem: Problem; blocks?: readonly BlockId[] }
  | {
      type: "changes";
      sub: number;
      /** The client's seq after this frame. */
      seq: number;
      ops: readonly WireOp[];
      /** Blocks that replace the client's copies. */
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

/** A change as a frame's body: one object per change, so that it is encoded once. */
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

/** Restores an op, with an empty CRDT update: thin replicas never read it. */
export function fromWire(conversation: ConversationId, op: WireOp): Op {
  const body = op.body.type === "splice" ? { ...op.body, update: NO_BYTES } : op.body;
  return { ...op, conversation, body };
}

const NO_BYTES = new Uint8Array(0);

export { fromBase64, toBase64 } from "../model/base64.ts";
