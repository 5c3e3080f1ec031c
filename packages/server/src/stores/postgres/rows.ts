/** How values stand in rows: names as bytes, ops and raw bytes packed. No SQL here. */

import { createHash } from "node:crypto";
import type { Block, Conversation, Op, Status } from "@blockyard/kernel";
import { type BlockId, type ConversationId, type Kind, parseBlockId } from "@blockyard/kernel/plain";
import { compress, decompress, packBlock, packJson, unpackBlock, unpackJson } from "../encoding/codec.ts";
import { decodeOps, encodeOps } from "../encoding/runs.ts";
import { INDEXED_PATH_BYTES, KEY_BYTES, PACK_BYTES } from "./limits.ts";

const HASH_BYTES = 32;

export interface Packed {
  readonly plain: number;
  readonly body: Buffer;
}

export interface ChunkRow extends Packed {
  readonly first: number;
  readonly last: number;
  readonly seq: number;
}

export interface BlockRow {
  readonly name: ConversationId;
  readonly born: number;
  readonly seq: number;
  readonly version: number;
  readonly created_at: number;
  readonly kind: Kind;
  readonly status: Status;
  readonly body: Buffer;
}

/** The columns that openBlock needs, of `b` and its conversation `c`. */
export const BLOCK_COLUMNS = "c.name, b.born, b.seq, b.version, b.created_at, b.kind, b.status, b.body";

export function openBlock({ name, created_at: createdAt, body, ...row }: BlockRow): Block {
  return unpackBlock({ ...row, conversation: name, createdAt }, body);
}

export function packedBlock(block: Block): Buffer {
  return asBuffer(packBlock(block));
}

export function packed(value: unknown): Buffer {
  return asBuffer(packJson(value));
}

export function openRecord(body: Uint8Array): Conversation {
  return unpackJson<Conversation>(body);
}

/** The place of a block in the tables. */
export function placeOf(id: BlockId): { readonly name: ConversationId; readonly born: number } | undefined {
  const parts = parseBlockId(id);
  return parts && { name: parts.conversation, born: parts.seq };
}

/** The path that a block can be found by, if it has one. */
export function pathOf({ metadata }: Block): Buffer | null {
  const path = metadata.path;
  return typeof path === "string" ? Buffer.from(path) : null;
}

/** The range of all paths that begin with `prefix`, as far as the index has them; none for no prefix. */
export function pathRange(prefix: string): { readonly from: Buffer; readonly to: Buffer } | undefined {
  const from = Buffer.from(prefix).subarray(0, INDEXED_PATH_BYTES);
  if (from.length === 0) return undefined;
  const to = Buffer.from(from);
  to.writeUInt8(to.readUInt8(to.length - 1) + 1, to.length - 1); // no byte of UTF-8 is 255
  return { from, to };
}

/** A name as an index can hold it: unchanged, or, if it is long, its beginning and its hash, which no short one resembles. */
export function keyOf(name: string): Buffer {
  const bytes = Buffer.from(name);
  if (bytes.length <= KEY_BYTES) return bytes;
  const hash = createHash("sha256").update(bytes).digest();
  return Buffer.concat([bytes.subarray(0, KEY_BYTES + 1 - HASH_BYTES), hash]);
}

/** Whether PostgreSQL's text can hold it. A name that it cannot hold does not exist. */
export function isText(name: string): boolean {
  return !name.includes("\u0000");
}

export function pack(plain: Uint8Array): Packed {
  const body = plain.length < PACK_BYTES ? plain : compress(plain);
  // A copy if it is stored unchanged: the input may be the writer's own memory.
  return { plain: plain.length, body: body.length < plain.length ? asBuffer(body) : Buffer.from(plain) };
}

export function unpack({ plain, body }: Packed): Buffer {
  return body.length === plain ? body : decompress(body);
}

/** One chunk of ops that follow each other: by version where they are a block's. */
export function packOps(ops: readonly Op[]): ChunkRow {
  const first = ops[0] as Op;
  const last = ops[ops.length - 1] as Op;
  const isBlock = first.block !== null;
  return {
    first: isBlock ? first.versionFrom : first.seqFrom,
    last: isBlock ? last.version : last.seq,
    seq: last.seq,
    ...pack(encodeOps(ops)),
  };
}

export function unpackOps(chunk: Packed, conversation: ConversationId, block: BlockId | null): Op[] {
  return decodeOps(unpack(chunk), conversation, block);
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
