/**
 * How ops and records are written in the tables and in the journal.
 *
 * An op, without its conversation and its block, which whoever holds it knows:
 *   string type · varint seq, seq - seqFrom, version, version - versionFrom · string agent · varint unit · number at ·
 *   body, by type:
 *     append   varint at · string text
 *     splice   varint count · count x (varint at · string del · string ins) · bytes update · json of all other fields
 *     others   json of the whole body
 * Ops follow each other without anything between them.
 *
 * A block's record is a JSON array of the fields that have no column of their own; a conversation's and a turn's are
 * the JSON of the whole. From PACK_BYTES on, a record is compressed; its first byte tells which (0x28 begins a zstd
 * frame and no JSON).
 */

import { constants } from "node:zlib";
import type { Block, Op, OpBody, Role, Splice, Status } from "@blockyard/kernel";
import {
  type BlockId,
  blockOf,
  type ConversationId,
  type JsonObject,
  type Kind,
} from "@blockyard/kernel/plain";
import { zstdCompress, zstdDecompress } from "../../system/zstd.ts";
import type { ByteReader, ByteWriter } from "./bytes.ts";
import { PACK_BYTES } from "./limits.ts";

const ZSTD_FIRST_BYTE = 0x28;
const ZSTD = { params: { [constants.ZSTD_c_compressionLevel]: 3 } };

export function writeOp(writer: ByteWriter, op: Op): void {
  const { body } = op;
  writer.string(body.type);
  writer.varint(op.seq);
  writer.varint(op.seq - op.seqFrom);
  writer.varint(op.version);
  writer.varint(op.version - op.versionFrom);
  writer.string(op.agent);
  writer.varint(op.unit);
  writer.number(op.at);
  if (body.type === "append") {
    writer.varint(body.at);
    writer.string(body.text);
  } else if (body.type === "splice") {
    writeSplices(writer, body);
  } else {
    writer.json(body);
  }
}

export function readOp(reader: ByteReader, conversation: ConversationId, block: BlockId | null): Op {
  const type = reader.string() as OpBody["type"];
  const seq = reader.varint();
  const seqFrom = seq - reader.varint();
  const version = reader.varint();
  const versionFrom = version - reader.varint();
  const agent = reader.string();
  const unit = reader.varint();
  const at = reader.number();
  const body = readBody(reader, type);
  return { conversation, seq, seqFrom, block, version, versionFrom, agent, unit, at, body };
}

/** The columns of a block's row that queries look at; everything else is in the record. */
interface BlockColumns {
  readonly id: BlockId;
  readonly conversation: ConversationId;
  readonly born: number;
  readonly seq: number;
  readonly version: number;
  readonly createdAt: number;
  readonly kind: Kind;
  readonly status: Status;
}

type BlockRecord = [
  agent: string,
  /** `agent/born` for a parent in the same conversation, its whole id for one elsewhere. */
  parent: string | null,
  role: Role,
  side: 0 | 1,
  updatedAt: number,
  chars: number,
  newlines: number,
  pruned: 0 | 1,
  promoted: 0 | 1,
  metadata: JsonObject,
];

type Recorded =
  | "agent"
  | "parent"
  | "role"
  | "side"
  | "updatedAt"
  | "chars"
  | "newlines"
  | "pruned"
  | "promoted"
  | "metadata";
// Does not compile when a block gets a field that is written nowhere.
({}) satisfies Record<Exclude<keyof Block, Recorded | keyof BlockColumns>, never>;

export function packBlock(block: Block): Uint8Array {
  const { agent, role, side, updatedAt, chars, newlines, pruned, promoted, metadata } = block;
  const record: BlockRecord = [
    agent,
    shortParent(block),
    role,
    side ? 1 : 0,
    updatedAt,
    chars,
    newlines,
    pruned ? 1 : 0,
    promoted ? 1 : 0,
    metadata,
  ];
  return packJson(record);
}

export function unpackBlock(columns: Omit<BlockColumns, "id">, bytes: Uint8Array): Block {
  const [agent, parent, role, side, updatedAt, chars, newlines, pruned, promoted, metadata] =
    unpackJson<BlockRecord>(bytes);
  const { conversation, born, seq, version, createdAt, kind, status } = columns;
  // In the order in which a new block has them: objects of one shape are faster.
  return blockOf({
    id: `${conversation}/${agent}/${born}`,
    conversation,
    agent,
    kind,
    role,
    status,
    parent: parent === null || parent.split("/").length === 3 ? parent : `${conversation}/${parent}`,
    side: side === 1,
    version,
    seq,
    born,
    createdAt,
    updatedAt,
    chars,
    newlines,
    pruned: pruned === 1,
    promoted: promoted === 1,
    metadata,
  });
}

/** The metadata of a packed block. */
export function packedMetadata(bytes: Uint8Array): JsonObject {
  return unpackJson<BlockRecord>(bytes)[9];
}

export function packJson(value: unknown): Uint8Array {
  const json = Buffer.from(JSON.stringify(value));
  return json.length < PACK_BYTES ? json : smaller(json, compress(json));
}

export function unpackJson<T>(bytes: Uint8Array): T {
  const json = bytes[0] === ZSTD_FIRST_BYTE ? zstdDecompress(bytes) : Buffer.from(bytes);
  return JSON.parse(json.toString()) as T;
}

export function compress(bytes: Uint8Array): Buffer {
  return zstdCompress(bytes, ZSTD);
}

export function decompress(bytes: Uint8Array): Buffer {
  return zstdDecompress(bytes);
}

function shortParent({ conversation, parent }: Block): string | null {
  return parent?.startsWith(`${conversation}/`) ? parent.slice(conversation.length + 1) : parent;
}

function smaller(plain: Uint8Array, compressed: Uint8Array): Uint8Array {
  return compressed.length < plain.length ? compressed : plain;
}

function writeSplices(writer: ByteWriter, body: OpBody & { type: "splice" }): void {
  const { type: _, splices, update, ...others } = body;
  writer.varint(splices.length);
  for (const { at, del, ins } of splices) {
    writer.varint(at);
    writer.string(del);
    writer.string(ins);
  }
  writer.bytes(update);
  writer.json(others);
}

function readBody(reader: ByteReader, type: OpBody["type"]): OpBody {
  if (type === "append") return { type, at: reader.varint(), text: reader.string() };
  if (type !== "splice") return reader.json<OpBody>();
  const splices: Splice[] = [];
  for (let count = reader.varint(); count > 0; count--) {
    splices.push({ at: reader.varint(), del: reader.string(), ins: reader.string() });
  }
  const update = reader.bytes();
  return { type, splices, update, ...reader.json<object>() };
}
