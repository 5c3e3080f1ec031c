/**
 * Deleted conversations on PostgreSQL: a table of entries, which stay when the conversation is gone. Removing is one
 * transaction under the lock of the conversation's row. Blobs that no block names any more are removed afterwards, by
 * whichever node gets there first. PostgreSQL itself cleans deleted rows from its pages (vacuum) and its log.
 */

import type { Deletion, DeletionLog } from "@blockyard/kernel";
import { blobsIn, type ConversationId } from "@blockyard/kernel/plain";
import { packedMetadata } from "../encoding/codec.ts";
import type { Connection } from "./connections.ts";
import { BLOB_GRACE_MS, DELETED_BLOCKS } from "./limits.ts";
import { isText, keyOf } from "./rows.ts";

type Work = <T>(doing: string, work: (connection: Connection) => Promise<T>) => Promise<T>;

interface Row {
  readonly conversation: ConversationId;
  readonly at: number;
  readonly agent: string;
  readonly removed_at: number | null;
}

export function postgresDeletions(work: Work, blobGraceMs = BLOB_GRACE_MS): DeletionLog {
  return {
    note: ({ conversation, at, by }) =>
      work("note a deletion", async (connection) => {
        await connection.run({
          text: `INSERT INTO blockyard.deletion (conversation, at, agent) VALUES ($1, $2, $3)
            ON CONFLICT (conversation) DO NOTHING`,
          values: [conversation, at, by],
        });
      }),
    withdraw: (conversation) =>
      work("withdraw a deletion", async (connection) => {
        await connection.run({
          text: "DELETE FROM blockyard.deletion WHERE conversation = $1 AND removed_at IS NULL",
          values: [conversation],
        });
      }),
    waiting: () =>
      work("deletions", async (connection) => {
        const rows = await connection.rows<Row>({
          name: "deletions",
          text: "SELECT conversation, at, agent, removed_at FROM blockyard.deletion WHERE removed_at IS NULL",
        });
        return rows.map(deletionOf);
      }),
    find: async (conversation) => {
      if (!isText(conversation)) return undefined;
      return work("deletion", async (connection) => {
        const [row] = await connection.rows<Row>({
          name: "deletion",
          text: "SELECT conversation, at, agent, removed_at FROM blockyard.deletion WHERE conversation = $1",
          values: [conversation],
        });
        return row && deletionOf(row);
      });
    },
    remove: (conversation, expectedSeq, at) =>
      work("remove a conversation", (connection) => remove(connection, conversation, expectedSeq, at)),
    clear: () => clear(work, blobGraceMs),
  };
}

/** May run twice: the second time the conversation is not there. */
async function remove(
  connection: Connection,
  conversation: ConversationId,
  expectedSeq: number,
  at: number,
): Promise<"removed" | "moved"> {
  await connection.script("BEGIN ISOLATION LEVEL READ COMMITTED");
  const [entry] = await connection.rows<Row>({
    text: "SELECT conversation, at, agent, removed_at FROM blockyard.deletion WHERE conversation = $1 FOR UPDATE",
    values: [conversation],
  });
  const [head] = await connection.rows<{ id: number; seq: number }>({
    text: "SELECT id, seq FROM blockyard.conversation WHERE name = $1 FOR UPDATE",
    values: [conversation],
  });
  const isRemoved = entry?.removed_at !== null && entry !== undefined;
  if (entry !== undefined && head?.seq === expectedSeq) {
    const blobs = await blobsOf(connection, head.id);
    for (const table of ["block", "chunk", "fold", "filter", "turn", "answer"])
      await connection.run({
        text: `DELETE FROM blockyard.${table} WHERE conversation = $1`,
        values: [head.id],
      });
    await connection.run({
      text: "DELETE FROM blockyard.raw_chunk WHERE raw IN (SELECT id FROM blockyard.raw WHERE conversation = $1)",
      values: [conversation],
    });
    await connection.run({
      text: "DELETE FROM blockyard.raw WHERE conversation = $1",
      values: [conversation],
    });
    await connection.run({ text: "DELETE FROM blockyard.conversation WHERE id = $1", values: [head.id] });
    await connection.run({
      text: "UPDATE blockyard.deletion SET removed_at = $2, blobs = $3 WHERE conversation = $1",
      values: [conversation, at, blobs.length === 0 ? null : blobs],
    });
    await connection.commit();
    return "removed";
  }
  await connection.commit();
  return isRemoved ? "removed" : "moved";
}

async function blobsOf(connection: Connection, conversation: number): Promise<string[]> {
  const blobs = new Set<string>();
  for (let after = 0; ; ) {
    const rows = await connection.rows<{ born: number; body: Buffer }>({
      text: `SELECT born, body FROM blockyard.block WHERE conversation = $1 AND born > $2 ORDER BY born
        LIMIT ${DELETED_BLOCKS}`,
      values: [conversation, after],
    });
    for (const { body } of rows) for (const blob of blobsIn(packedMetadata(body))) blobs.add(blob);
    after = rows.at(-1)?.born ?? after;
    if (rows.length < DELETED_BLOCKS) return [...blobs].filter(isText);
  }
}

async function clear(work: Work, blobGraceMs: number): Promise<void> {
  const named = await work("deletions", (connection) =>
    connection.rows<{ conversation: string; blobs: string[] }>({
      name: "deleted blobs",
      text: "SELECT conversation, blobs FROM blockyard.deletion WHERE blobs IS NOT NULL",
    }),
  );
  if (named.length === 0) return;
  const unused = new Set(named.flatMap(({ blobs }) => blobs));
  await forgetNamed(work, unused);
  await work("remove blobs", async (connection) => {
    await connection.run({
      text: `DELETE FROM blockyard.blob WHERE key = ANY($1::bytea[]) AND put_at <= now() - $2 * interval '1 millisecond'`,
      values: [[...unused].map(keyOf), blobGraceMs],
    });
    const left = await connection.rows<{ key: Buffer }>({
      text: "SELECT key FROM blockyard.blob WHERE key = ANY($1::bytea[])",
      values: [[...unused].map(keyOf)],
    });
    const isLeft = (blob: string) => left.some(({ key }) => key.equals(keyOf(blob)));
    for (const { conversation, blobs } of named) {
      const memtable = blobs.filter((blob) => unused.has(blob) && isLeft(blob));
      await connection.run({
        text: "UPDATE blockyard.deletion SET blobs = $2 WHERE conversation = $1",
        values: [conversation, memtable.length === 0 ? null : memtable],
      });
    }
  });
}

/** Takes the blobs out that a block names: every block is looked at, since nothing counts who names a blob. */
async function forgetNamed(work: Work, unused: Set<string>): Promise<void> {
  let after = { conversation: 0, born: 0 };
  while (unused.size > 0) {
    const from = after;
    const rows = await work("look for blobs", (connection) =>
      connection.rows<{ conversation: number; born: number; body: Buffer }>({
        name: "look for blobs",
        text: `SELECT conversation, born, body FROM blockyard.block WHERE (conversation, born) > ($1, $2)
          ORDER BY conversation, born LIMIT ${DELETED_BLOCKS}`,
        values: [from.conversation, from.born],
      }),
    );
    for (const { body } of rows) for (const blob of blobsIn(packedMetadata(body))) unused.delete(blob);
    const last = rows.at(-1);
    if (last === undefined || rows.length < DELETED_BLOCKS) return;
    after = last;
  }
}

function deletionOf({ conversation, at, agent, removed_at: removedAt }: Row): Deletion {
  return { conversation, at, by: agent, ...(removedAt === null ? {} : { removedAt }) };
}
