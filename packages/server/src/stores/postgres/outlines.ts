/**
 * What the search thread knows of all blocks on the server, kept up from search to search: what has changed since is found by
 * the number of the transaction that wrote it. A number alone is no cursor, because transactions end in another order
 * than they begin; so it is asked for everything from the oldest one on that was under way at the last look.
 *
 * Rows of a BlockIndex have a number each; here it is given to a block when it is first seen.
 */

import type { Status } from "@blockyard/kernel";
import { isEnded, type Kind } from "@blockyard/kernel/plain";
import { BlockIndex, type Entry } from "../../search/block-index.ts";
import type { Connection } from "./connections.ts";
import { CHANGED_OUTLINE_ROWS, OUTLINE_ROWS } from "./limits.ts";

interface OutlineRow {
  readonly name: string;
  readonly conversation: number;
  readonly born: number;
  readonly created_at: number;
  readonly kind: Kind;
  readonly status: Status;
  readonly path: Buffer | null;
  readonly chars: number;
  readonly texted: number;
  readonly filter: Buffer | null;
}

const OUTLINE = `SELECT c.name, b.conversation, b.born, b.created_at, b.kind, b.status, b.path, b.chars, b.texted,
  f.body AS filter FROM blockyard.block b JOIN blockyard.conversation c ON c.id = b.conversation
  LEFT JOIN blockyard.filter f ON f.conversation = b.conversation AND f.born = b.born AND b.filtered >= b.texted`;

interface Known {
  readonly conversation: number;
  readonly born: number;
  chars: number;
  isEnded: boolean;
}

export class Outlines {
  #index = new BlockIndex();
  readonly #rows = new Map<string, number>();
  readonly #known: Known[] = [];
  /** The oldest transaction that was under way at the last look; none: there was none. */
  #since: number | undefined;

  get index(): BlockIndex {
    return this.#index;
  }

  known({ row }: Entry): Known {
    return this.#known[row] as Known;
  }

  /** Brings it up to the snapshot that the connection is in. */
  async refresh(connection: Connection): Promise<void> {
    const [now] = await connection.rows<{ oldest: number }>({
      text: "SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint AS oldest",
    });
    if (this.#since === undefined || !(await this.#readChanged(connection, this.#since)))
      await this.#readAll(connection);
    this.#since = now?.oldest;
  }

  /** False where so much has changed that reading everything in order is better. */
  async #readChanged(connection: Connection, since: number): Promise<boolean> {
    const rows = await connection.rows<OutlineRow>({
      text: `${OUTLINE} WHERE b.changed >= $1 LIMIT ${CHANGED_OUTLINE_ROWS}`,
      values: [since],
    });
    for (const row of rows) this.#put(row);
    return rows.length < CHANGED_OUTLINE_ROWS;
  }

  async #readAll(connection: Connection): Promise<void> {
    let after: Pick<OutlineRow, "conversation" | "born"> = { conversation: 0, born: 0 };
    for (;;) {
      const rows = await connection.rows<OutlineRow>({
        text: `${OUTLINE} WHERE (b.conversation, b.born) > ($1, $2) ORDER BY b.conversation, b.born LIMIT ${OUTLINE_ROWS}`,
        values: [after.conversation, after.born],
      });
      for (const row of rows) this.#put(row);
      const last = rows.at(-1);
      if (last === undefined || rows.length < OUTLINE_ROWS) return;
      after = last;
    }
  }

  /** By the version of the text: what else changes in a block does not make its filter and its text old. */
  #put({
    name,
    conversation,
    born,
    created_at: createdAt,
    kind,
    status,
    path,
    chars,
    texted,
    filter,
  }: OutlineRow): void {
    const key = `${conversation}/${born}`;
    const row = this.#rows.get(key) ?? this.#known.length;
    this.#rows.set(key, row);
    this.#known[row] = { conversation, born, chars, isEnded: isEnded(status) };
    this.#index.put({
      row,
      conversation: name,
      born,
      createdAt,
      kind,
      path: path === null ? null : path.toString(),
      version: texted,
      filter: filter ?? undefined,
    });
  }
}
