/**
 * Queries over many rows. The tables answer by index; what is in the memtable (memtable.ts) is newer than they know, so its
 * rows are taken out of their answer and the memtable ones that fit are put in.
 */

import type { Block, BlockQuery, Conversation, ConversationQuery } from "@blockyard/kernel";
import {
  type ConversationId,
  fitsQuery,
  newestFirst,
  oldestFirst,
  parseBlockId,
  STATUSES,
} from "@blockyard/kernel/plain";
import type { Memtable } from "./memtable.ts";
import {
  openBlock,
  openConversation,
  parentKey,
  type StoredBlock,
  type StoredConversation,
} from "./table-row.ts";
import type { Tables } from "./tables.ts";

export function queryBlocks(tables: Tables, memtable: Memtable, query: BlockQuery): Block[] {
  const newer = memtable.dirtyBlocks().filter((block) => inScope(block, query));
  const hidden = new Set(newer.map((block) => block.id));
  const stored = storedBlocks(tables, memtable, query, query.limit + newer.length);
  const direction = query.order === "last" ? -1 : 1;
  const order = oldestFirst(query);
  return stored
    .filter((block) => !hidden.has(block.id))
    .concat(newer.filter((block) => fitsQuery(block, query)))
    .sort((a, b) => direction * order(a, b))
    .slice(0, query.limit);
}

export function queryConversations(
  tables: Tables,
  memtable: Memtable,
  query: ConversationQuery,
): Conversation[] {
  const title = query.title?.toLowerCase();
  const fits = (record: Conversation) =>
    (query.before === undefined || record.updatedAt < query.before) &&
    !query.except?.includes(record.id) &&
    (title === undefined || record.title.toLowerCase().includes(title));
  const newer = memtable.dirtyConversations();
  const hidden = new Set(newer.map((record) => record.id));
  const stored: Conversation[] = [];
  const sql = "SELECT * FROM conversation WHERE updated_at < ? ORDER BY updated_at DESC, name";
  // No limit in the statement: titles are compared here, where case folds as in every store.
  for (const row of tables.each<StoredConversation>(sql, query.before ?? Number.MAX_VALUE)) {
    if (stored.length >= query.limit) break;
    const { record } = openConversation(row);
    if (!hidden.has(record.id) && fits(record)) stored.push(record);
  }
  return stored.concat(newer.filter(fits)).sort(newestFirst).slice(0, query.limit);
}

/** Whether a block of the memtable could also be among the stored rows that the query finds. */
function inScope(block: Block, query: BlockQuery): boolean {
  return query.conversation === undefined || block.conversation === query.conversation;
}

function storedBlocks(tables: Tables, memtable: Memtable, query: BlockQuery, limit: number): Block[] {
  const where: string[] = [];
  const values: (number | string | bigint)[] = [];
  const add = (condition: string, ...of: (number | string | bigint)[]) => {
    where.push(condition);
    values.push(...of);
  };
  if (query.conversation !== undefined) {
    const head = memtable.conversationHead(query.conversation);
    if (!head?.stored) return [];
    add("b.conversation = ?", head.row);
  }
  if (query.except !== undefined && query.conversation === undefined)
    add("c.name NOT IN (SELECT value FROM json_each(?))", JSON.stringify(query.except));
  if (query.parent !== undefined) addParent(add, memtable, query.parent);
  if (query.kinds !== undefined) add(`b.kind IN (${query.kinds.map(() => "?").join(", ")})`, ...query.kinds);
  if (query.status !== undefined) add(`b.status = '${STATUSES.find((status) => status === query.status)}'`);
  // SQLite uses a partial index only if the query contains its condition word for word.
  if (isOpen(query.status)) add(OPEN);
  if (query.changedSince !== undefined) add("b.seq > ?", query.changedSince);
  if (query.before !== undefined) add("b.born < ?", query.before);
  if (query.after !== undefined) add("b.born > ?", query.after);
  if (query.pathPrefix !== undefined) addPath(add, query.pathPrefix);
  const sql = `SELECT b.*, c.name AS conversation_name FROM block b ${indexFor(query)}
    JOIN conversation c ON c.id = b.conversation
    ${where.length > 0 ? `WHERE ${where.join(" AND ")}` : ""} ORDER BY ${orderOf(query)} LIMIT ?`;
  const rows = tables.all<StoredBlock & { conversation_name: ConversationId }>(sql, ...values, limit);
  return rows.map(({ conversation_name, ...row }) => openBlock(row, conversation_name).record);
}

const OPEN = "b.status IN ('pending', 'running')";

function isOpen(status: BlockQuery["status"]): boolean {
  return status === "pending" || status === "running";
}

type Add = (condition: string, ...values: (number | string | bigint)[]) => void;

function addParent(add: Add, memtable: Memtable, parent: string): void {
  const conversation = parseBlockId(parent)?.conversation;
  const head = conversation === undefined ? undefined : memtable.conversationHead(conversation);
  if (conversation === undefined || head === undefined) {
    add("b.parent = ?", parent);
    return;
  }
  const born = BigInt(parentKey(parent, conversation));
  add("((b.parent = ? AND b.conversation = ?) OR b.parent = ?)", born, head.row, parent);
}

function addPath(add: Add, prefix: string): void {
  add("b.path >= ? AND substr(b.path, 1, length(?)) = ?", prefix, prefix, prefix);
  // The end of the range, where the prefix's last character has a plain successor: then the index is left early.
  const last = prefix.charCodeAt(prefix.length - 1);
  if (last < 0xd7ff) add("b.path < ?", prefix.slice(0, -1) + String.fromCharCode(last + 1));
}

/**
 * Here SQLite, which has no statistics, would rather scan a whole conversation in the order of creation, or all blocks
 * in the order of age. Open blocks are few, however many there are.
 */
function indexFor(query: BlockQuery): string {
  const { conversation, changedSince, parent, pathPrefix, status } = query;
  if (parent === undefined && pathPrefix === undefined && isOpen(status)) return "INDEXED BY block_open";
  if (conversation === undefined || parent !== undefined || pathPrefix !== undefined) return "";
  return changedSince === undefined ? "" : "INDEXED BY block_by_change";
}

function orderOf({ conversation, order }: BlockQuery): string {
  const direction = order === "last" ? "DESC" : "ASC";
  return (conversation === undefined ? ["b.created_at", "c.name", "b.born"] : ["b.born"])
    .map((column) => `${column} ${direction}`)
    .join(", ");
}
