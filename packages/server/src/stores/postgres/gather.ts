/**
 * Gathering: what a stream has left in many small chunks becomes few large ones, and a finished block gets its search
 * filter. In the background, a few blocks and one short transaction at a time, by whichever node comes first; the block's
 * `loose` says what is to be done, so that nothing is forgotten where a node ends. Nobody waits for the device here: what
 * a crash undoes of it is done again.
 *
 * A chunk that is full is left alone, so that every byte is rewritten a bounded number of times. Never changes what a
 * block is: ops come back as before, appends of one unit as runs.
 */

import type { Fold, Op, Status } from "@blockyard/kernel";
import { type BlockId, type ConversationId, isEnded } from "@blockyard/kernel/plain";
import { filterOf } from "@blockyard/kernel/search";
import { unpackFold } from "../encoding/flush.ts";
import { FULL_CHUNK_BYTES } from "../encoding/limits.ts";
import { mergeRuns } from "../encoding/runs.ts";
import { textOf } from "../encoding/text.ts";
import type { Connection, Connections } from "./connections.ts";
import { isDropped, isTransient } from "./fault.ts";
import { addChunks } from "./group-parts.ts";
import {
  GATHER_WAIT_MS,
  GATHERED_BLOCKS,
  GATHERED_FILTER_CHARS,
  LOOSE_CHUNKS,
  STUCK_BLOCKS,
} from "./limits.ts";
import {
  BLOCK_COLUMNS,
  type BlockRow,
  type ChunkRow,
  openBlock,
  type Packed,
  pack,
  unpack,
  unpackOps,
} from "./rows.ts";

/** The lock of whoever gathers: "Gthr". No other one of this program has its number (schema.ts). */
const GATHERING = 0x47746872;

export class Gatherer {
  readonly #connections: Connections;
  readonly #stuck = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #wanted = false;
  #closed = false;

  constructor(connections: Connections) {
    this.#connections = connections;
  }

  /** Says that there may be something to do. */
  wake(): void {
    this.#wanted = true;
    if (this.#closed || this.#timer !== undefined || this.#running !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#running = this.run().finally(() => {
        this.#running = undefined;
        if (this.#wanted) this.wake();
      });
    }, GATHER_WAIT_MS);
    this.#timer.unref();
  }

  /** Gathers everything that is worth it. Never throws: nobody waits for it. */
  async run(): Promise<void> {
    this.#wanted = false;
    for (const work of [gatherBlocks, gatherRaw])
      for (let after: Place | undefined = FIRST; after; ) after = await this.#some(work, after);
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#running;
  }

  /** Gathers some of what is loose behind a place. Where to go on, if there may be more. */
  async #some(work: Work, after: Place): Promise<Place | undefined> {
    if (this.#closed || this.#stuck.size >= STUCK_BLOCKS) return undefined;
    const at: At = {};
    try {
      return await this.#connections.once(async (connection) => {
        const [turn] = await connection.script<{ free: boolean }>(
          `BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL synchronous_commit = off;
          SELECT pg_try_advisory_xact_lock(${GATHERING}) AS free`,
        );
        // One node at a time: several would only take the time of those who write.
        const last = turn?.free ? await work(connection, after, this.#stuck, at) : undefined;
        await connection.commit();
        return last;
      });
    } catch (error) {
      // Housekeeping: a later round does it, or another node. What is damaged is told to whoever reads it.
      if (at.name === undefined || isDropped(error) || isTransient(error)) return undefined;
      this.#stuck.add(at.name);
      return after;
    }
  }
}

/** The key of a row: blocks by conversation and birth, runs by their number. */
type Place = readonly [number, number];

const FIRST: Place = [0, 0];

/** What is being gathered, for the case that it fails. */
interface At {
  name?: string;
}

/** Gathers a few behind `after`, except those that are stuck; the last one, if there was any. */
type Work = (
  connection: Connection,
  after: Place,
  stuck: ReadonlySet<string>,
  at: At,
) => Promise<Place | undefined>;

interface LooseRow extends BlockRow {
  readonly conversation: number;
  readonly texted: number;
  readonly filtered: number;
}

/**
 * Locks a few loose blocks that nobody else has at hand. In order, and from where the last few ended: what was gathered
 * before has left its traces in the index, and they are not to be walked over again and again.
 */
async function gatherBlocks(
  connection: Connection,
  after: Place,
  stuck: ReadonlySet<string>,
  at: At,
): Promise<Place | undefined> {
  const rows = await connection.rows<LooseRow>({
    text: `SELECT b.conversation, b.texted, b.filtered, ${BLOCK_COLUMNS} FROM blockyard.block b
      JOIN blockyard.conversation c ON c.id = b.conversation
      WHERE (b.loose >= ${LOOSE_CHUNKS} OR (b.status IN ('done', 'error') AND (b.loose > 1 OR b.filtered < b.texted)))
        AND (b.conversation, b.born) > ($1, $2) AND NOT (b.conversation || '/' || b.born) = ANY($3)
      ORDER BY b.conversation, b.born LIMIT ${GATHERED_BLOCKS} FOR UPDATE OF b SKIP LOCKED`,
    values: [...after, [...stuck]],
  });
  for (const { conversation, texted, filtered, ...columns } of rows) {
    at.name = `${conversation}/${columns.born}`;
    const block = openBlock(columns);
    await gatherOps(connection, conversation, block);
    const isFiltered = isEnded(block.status) && filtered < texted;
    if (isFiltered) await putFilter(connection, conversation, block);
    await connection.run({
      name: "gathered",
      text: `UPDATE blockyard.block SET loose = 0, filtered = $3, changed = pg_current_xact_id()::text::bigint
        WHERE conversation = $1 AND born = $2`,
      values: [conversation, block.born, isFiltered ? texted : filtered],
    });
  }
  delete at.name;
  const last = rows.at(-1);
  return last && [last.conversation, last.born];
}

interface Of {
  readonly id: BlockId;
  readonly conversation: ConversationId;
  readonly born: number;
  readonly chars: number;
  readonly status: Status;
}

/** Puts one chunk in the place of the last ones that are small. */
async function gatherOps(connection: Connection, row: number, { id, conversation, born }: Of): Promise<void> {
  const small = await connection.rows<ChunkRow>({
    name: "small chunks",
    text: `SELECT first, last, seq, plain, body FROM blockyard.chunk WHERE conversation = $1 AND born = $2
      AND last > coalesce((SELECT max(last) FROM blockyard.chunk
        WHERE conversation = $1 AND born = $2 AND plain >= ${FULL_CHUNK_BYTES}), 0) ORDER BY last`,
    values: [row, born],
  });
  if (small.length < 2) return;
  const ops = mergeRuns(small.flatMap((chunk) => unpackOps(chunk, conversation, id)));
  await connection.run({
    text: "DELETE FROM blockyard.chunk WHERE conversation = $1 AND born = $2 AND last >= $3",
    values: [row, born, (small[0] as ChunkRow).last],
  });
  await addChunks(connection, [{ id: row, born, ops }]);
}

async function putFilter(
  connection: Connection,
  row: number,
  { id, conversation, born, chars }: Of,
): Promise<void> {
  if (chars > GATHERED_FILTER_CHARS) {
    await connection.run({
      text: "DELETE FROM blockyard.filter WHERE conversation = $1 AND born = $2",
      values: [row, born],
    });
    return;
  }
  const fold = await lockedFold(connection, row, born);
  const ops = await lockedOps(connection, row, born, id, conversation);
  await connection.run({
    name: "put filter",
    text: `INSERT INTO blockyard.filter (conversation, born, body) VALUES ($1, $2, $3)
      ON CONFLICT (conversation, born) DO UPDATE SET body = excluded.body`,
    values: [row, born, Buffer.from(filterOf(textOf(fold?.text ?? "", ops)))],
  });
}

/** What has replaced the first ops of a block whose row is locked. */
export async function lockedFold(
  connection: Connection,
  row: number,
  born: number,
): Promise<Fold | undefined> {
  const [fold] = await connection.rows<{ version: number; seq: number; body: Buffer }>({
    name: "locked fold",
    text: "SELECT version, seq, body FROM blockyard.fold WHERE conversation = $1 AND born = $2",
    values: [row, born],
  });
  return fold && unpackFold({ id: 0, ...fold });
}

/** All ops of a block whose row is locked. */
export async function lockedOps(
  connection: Connection,
  row: number,
  born: number,
  id: BlockId,
  conversation: ConversationId,
): Promise<Op[]> {
  const chunks = await connection.rows<ChunkRow>({
    name: "locked chunks",
    text: `SELECT first, last, seq, plain, body FROM blockyard.chunk WHERE conversation = $1 AND born = $2 ORDER BY last`,
    values: [row, born],
  });
  return chunks.flatMap((chunk) => unpackOps(chunk, conversation, id));
}

/** The same for a raw run, one at a time: its rows are larger. */
async function gatherRaw(
  connection: Connection,
  after: Place,
  stuck: ReadonlySet<string>,
  at: At,
): Promise<Place | undefined> {
  const [run] = await connection.rows<{ id: number }>({
    text: `SELECT id FROM blockyard.raw WHERE loose >= ${LOOSE_CHUNKS} AND id > $1 AND NOT ('raw/' || id) = ANY($2)
      ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED`,
    values: [after[0], [...stuck]],
  });
  if (run === undefined) return undefined;
  at.name = `raw/${run.id}`;
  const small = await connection.rows<Packed & { at: number }>({
    text: `SELECT at, plain, body FROM blockyard.raw_chunk WHERE raw = $1
      AND at > coalesce((SELECT max(at) FROM blockyard.raw_chunk WHERE raw = $1 AND plain >= ${FULL_CHUNK_BYTES}), -1)
      ORDER BY at`,
    values: [run.id],
  });
  const [first] = small;
  if (first !== undefined && small.length > 1) {
    await connection.run({
      text: "DELETE FROM blockyard.raw_chunk WHERE raw = $1 AND at >= $2",
      values: [run.id, first.at],
    });
    const { plain, body } = pack(Buffer.concat(small.map(unpack)));
    await connection.run({
      text: "INSERT INTO blockyard.raw_chunk (raw, at, plain, body) VALUES ($1, $2, $3, $4)",
      values: [run.id, first.at, plain, body],
    });
  }
  await connection.run({ text: "UPDATE blockyard.raw SET loose = 0 WHERE id = $1", values: [run.id] });
  return [run.id, 0];
}
