/**
 * Compacting: replaces a block's first ops by their result, in one transaction under the lock of the block's row.
 * Chunks after the compaction do not change.
 */

import type { Compacted } from "@blockyard/kernel";
import { assert, type BlockId } from "@blockyard/kernel/plain";
import { packCompacted, unpackCompacted } from "../encoding/flush.ts";
import { cutRun } from "../encoding/runs.ts";
import type { Connection } from "./connections.ts";
import { addChunks } from "./group-parts.ts";
import { type ChunkRow, placeOf, unpackOps } from "./rows.ts";

/** May run twice: one that comes again is late, and is ignored. */
export async function compactBlock(
  connection: Connection,
  block: BlockId,
  compacted: Compacted,
): Promise<void> {
  await connection.script("BEGIN ISOLATION LEVEL READ COMMITTED");
  const place = placeOf(block);
  const [head] = await connection.rows<{ conversation: number; version: number }>({
    text: `SELECT b.conversation, b.version FROM blockyard.block b JOIN blockyard.conversation c ON c.id = b.conversation
      WHERE c.name = $1 AND b.born = $2 FOR UPDATE OF b`,
    values: [place?.name ?? "", place?.born ?? 0],
  });
  assert(head !== undefined && place !== undefined, `compaction of ${block}, which does not exist`);
  assert(
    compacted.version <= head.version,
    `compaction of ${block} at ${compacted.version} is past its last version`,
  );
  const key = [head.conversation, place.born];
  const older = await lockedCompacted(connection, head.conversation, place.born);
  // A compaction that came late is older than what is kept: its ops are gone already, and so is its use.
  if (older === undefined || compacted.version > older.version) {
    const chunks = await connection.rows<ChunkRow>({
      text: `SELECT first, last, seq, plain, body FROM blockyard.chunk
        WHERE conversation = $1 AND born = $2 AND first <= $3 ORDER BY last`,
      values: [...key, compacted.version],
    });
    const ops = chunks.flatMap((chunk) => unpackOps(chunk, place.name, block));
    // Of a run that the compaction cuts, only the last number is known: history before it is better given twice than never.
    const seq = ops.findLast((op) => op.versionFrom <= compacted.version)?.seq ?? 0;
    const kept = ops.filter((op) => op.version > compacted.version);
    await connection.run({
      text: "DELETE FROM blockyard.chunk WHERE conversation = $1 AND born = $2 AND first <= $3",
      values: [...key, compacted.version],
    });
    if (kept.length > 0) {
      const cut = kept.map((op) => cutRun(op, compacted.version, compacted.text.length));
      await addChunks(connection, [{ id: head.conversation, born: place.born, ops: cut }]);
    }
    await connection.run({
      text: `INSERT INTO blockyard.fold (conversation, born, version, seq, body) VALUES ($1, $2, $3, $4, $5)
        ON CONFLICT (conversation, born) DO UPDATE SET version = excluded.version, seq = excluded.seq,
          body = excluded.body`,
      values: [...key, compacted.version, seq, Buffer.from(packCompacted(compacted))],
    });
  }
  await connection.commit();
}

/** What has replaced the first ops of a block whose row is locked. */
async function lockedCompacted(
  connection: Connection,
  row: number,
  born: number,
): Promise<Compacted | undefined> {
  const [compacted] = await connection.rows<{ version: number; seq: number; body: Buffer }>({
    name: "locked compacted",
    text: "SELECT version, seq, body FROM blockyard.fold WHERE conversation = $1 AND born = $2",
    values: [row, born],
  });
  return compacted && unpackCompacted({ id: 0, ...compacted });
}
