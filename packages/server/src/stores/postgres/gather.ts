/**
 * Gathering: merges the many small chunks of a stream into few large ones, and gives a finished block its search
 * filter. In the background, a few blocks and one short transaction at a time, by whichever node gets there first. The
 * block's `loose` records the pending work, so nothing is forgotten if a node ends. It does not wait for the device:
 * work that a crash undoes is done again.
 *
 * A full chunk is left alone, so every byte is rewritten a bounded number of times. It never changes a block: the same
 * ops are returned, appends of one undo step as runs.
 */

import { FULL_CHUNK_BYTES } from "../encoding/limits.ts";
import type { Connection, Connections } from "./connections.ts";
import { isDropped, isTransient } from "./fault.ts";
import { type At, FIRST, gatherBlocks, type Place } from "./gather-blocks.ts";
import { GATHER_WAIT_MS, LOOSE_CHUNKS, STUCK_BLOCKS } from "./limits.ts";
import { type Packed, pack, unpack } from "./rows.ts";

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

/** Gathers a few behind `after`, except those that are stuck; the last one, if there was any. */
type Work = (
  connection: Connection,
  after: Place,
  stuck: ReadonlySet<string>,
  at: At,
) => Promise<Place | undefined>;

/** Puts one chunk in the place of the last small ones of a raw run. One run at a time: its rows are larger. */
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
