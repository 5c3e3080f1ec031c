/**
 * What the search thread knows of all blocks on the server, kept up from search to search: what has changed since is found by
 * the number of the transaction that wrote it. A number alone is no cursor, because transactions end in another order
 * than they begin; so it is asked for everything from the oldest one on that was under way at the last look.
 *
 * At first everything has to be read, which takes some seconds for each gigabyte of text. It is read page by page, the newest
 * conversations first, during searches and between them; until then, searches find what has been read.
 *
 * Invariant: what has been read is as new as the last snapshot.
 *
 * Rows of a BlockIndex have a number each; here it is given to a block when it is first seen.
 */

import type { SearchIndexing, Status } from "@blockyard/kernel";
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

type Place = Pick<OutlineRow, "conversation" | "born">;

/** Behind every block. */
const END: Place = { conversation: Number.MAX_SAFE_INTEGER, born: 0 };

export class Outlines {
  #index = new BlockIndex();
  readonly #rows = new Map<string, number>();
  readonly #known: Known[] = [];
  /** The oldest transaction that was open at the last check; none: there was none. */
  #since: number | undefined;
  /** All blocks from here on have been read; none: all of them. */
  #from: Place | undefined = END;
  #progress: SearchIndexing | undefined;

  get index(): BlockIndex {
    return this.#index;
  }

  /** The conversations that have been read, until all have been. */
  get progress(): SearchIndexing | undefined {
    return this.#progress;
  }

  known({ row }: Entry): Known {
    return this.#known[row] as Known;
  }

  /**
   * Brings what has been read up to the snapshot that the connection is in, and reads on for so long: at least one page, if
   * there is one.
   */
  async refresh(connection: Connection, forMs: number): Promise<void> {
    const endMs = performance.now() + forMs;
    const [now] = await connection.rows<{ oldest: number }>({
      text: "SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint AS oldest",
    });
    if (this.#since !== undefined && !(await this.#readChanged(connection, this.#since))) this.#startAgain();
    this.#since = now?.oldest;
    while (this.#from !== undefined) {
      await this.#readOlder(connection, this.#from);
      if (performance.now() >= endMs) break;
    }
    this.#progress = this.#from && (await countConversations(connection, this.#from));
  }

  /** False if so much has changed that a full read in order is better. */
  async #readChanged(connection: Connection, since: number): Promise<boolean> {
    const rows = await connection.rows<OutlineRow>({
      text: `${OUTLINE} WHERE b.changed >= $1 LIMIT ${CHANGED_OUTLINE_ROWS}`,
      values: [since],
    });
    for (const row of rows) this.#put(row);
    return rows.length < CHANGED_OUTLINE_ROWS;
  }

  /** What has been read is old, and nobody knows which part of it. Blocks keep their numbers: texts are cached by them. */
  #startAgain(): void {
    this.#index = new BlockIndex();
    this.#from = END;
  }

  async #readOlder(connection: Connection, from: Place): Promise<void> {
    const rows = await connection.rows<OutlineRow>({
      text: `${OUTLINE} WHERE (b.conversation, b.born) < ($1, $2)
        ORDER BY b.conversation DESC, b.born DESC LIMIT ${OUTLINE_ROWS}`,
      values: [from.conversation, from.born],
    });
    for (const row of rows) this.#put(row);
    this.#from = rows.length < OUTLINE_ROWS ? undefined : rows.at(-1);
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

/** A conversation counts when the last of its blocks has been read. */
async function countConversations(connection: Connection, { conversation }: Place): Promise<SearchIndexing> {
  const [counts] = await connection.rows<SearchIndexing>({
    text: `SELECT count(*) FILTER (WHERE id > $1) AS indexed, count(*) AS total FROM blockyard.conversation`,
    values: [conversation],
  });
  return counts ?? { indexed: 0, total: 0 };
}
