/**
 * The rows of the tables as values: their columns, and how a stored row is opened. A row whose checksum is not that of its
 * columns is not opened: it is damage. Statements are tables.ts.
 */

import type { Block, BlockId, Conversation, ConversationId, Kind, Status } from "@blockyard/kernel";
import { unpackBlock, unpackJson } from "../encoding/codec.ts";
import { checkSum, type SumPart } from "../encoding/fault.ts";

export interface ConversationRow {
  readonly id: number;
  readonly record: Conversation;
  readonly ops: number;
  readonly journal: number;
}

export interface BlockRow {
  readonly id: number;
  /** The conversation's row. */
  readonly conversation: number;
  readonly record: Block;
  readonly journal: number;
}

export interface ChunkRow {
  readonly id: number;
  readonly owner: number;
  readonly first: number;
  readonly last: number;
  readonly seq: number;
  readonly dictionary: number;
  readonly plain: number;
  readonly sum: number;
  readonly body: Uint8Array;
}

export interface RawRow {
  readonly id: number;
  readonly conversation: ConversationId;
  readonly run: string;
  readonly bytes: number;
  readonly journal: number;
}

export interface CompactedRow {
  readonly id: number;
  readonly version: number;
  readonly seq: number;
  readonly body: Uint8Array;
}

export interface StoredBlock {
  readonly id: number;
  readonly conversation: number;
  readonly born: number;
  readonly seq: number;
  readonly version: number;
  readonly created_at: number;
  readonly parent: number | string | null;
  readonly kind: Kind;
  readonly status: Status;
  readonly path: string | null;
  readonly journal: number;
  readonly sum: number;
  readonly body: Uint8Array;
}

export interface StoredConversation {
  readonly id: number;
  readonly name: string;
  readonly updated_at: number;
  readonly seq: number;
  readonly ops: number;
  readonly journal: number;
  readonly sum: number;
  readonly body: Uint8Array;
}

export interface NamedRow {
  readonly id: number;
  readonly conversation: number;
  readonly name: string;
  readonly sum: number;
  readonly body: Uint8Array;
}

export function openConversation(row: StoredConversation): ConversationRow {
  const { id, name, updated_at, seq, ops, journal, sum, body } = row;
  checkSum(`conversation ${name}`, sum, [id, name, updated_at, seq, ops, journal], body);
  return { id, ops, journal, record: unpackJson<Conversation>(body) };
}

export function openBlock(row: StoredBlock, name: ConversationId): BlockRow {
  const { id, conversation, born, seq, version, created_at, parent, kind, status, path, journal, sum, body } =
    row;
  const columns: SumPart[] = [
    id,
    conversation,
    born,
    seq,
    version,
    created_at,
    parent,
    kind,
    status,
    path,
    journal,
  ];
  checkSum(`block ${name}/…/${born}`, sum, columns, body);
  const record = unpackBlock(
    { conversation: name, born, seq, version, createdAt: created_at, kind, status },
    body,
  );
  return { id, conversation, journal, record };
}

/** A parent's form in the `parent` column: its creation number if it is in the same conversation. */
export function parentKey(parent: BlockId, conversation: ConversationId): number | string {
  return parent.startsWith(`${conversation}/`) ? Number(parent.slice(parent.lastIndexOf("/") + 1)) : parent;
}

export function parentColumn({ parent, conversation }: Block): number | string | null {
  return parent === null ? null : parentKey(parent, conversation);
}

export function pathColumn({ metadata }: Block): string | null {
  const path = metadata.path;
  return typeof path === "string" ? path : null;
}

export function checkChunk({ id, owner, first, last, seq, dictionary, plain, sum, body }: ChunkRow): void {
  checkSum(`chunk ${id}`, sum, [owner, first, last, seq, dictionary, plain], body);
}

export function openNamed<T>(table: string, { id, conversation, name, sum, body }: NamedRow): T {
  checkSum(`${table} ${name}`, sum, [id, conversation, name], body);
  return unpackJson<T>(body);
}

export function openRaw({ sum, ...row }: RawRow & { sum: number }): RawRow {
  checkSum(`raw run ${row.run}`, sum, [row.id, row.conversation, row.run, row.bytes, row.journal]);
  return row;
}
