/**
 * The audit log: what was allowed, run, granted, imported and revoked, by whom and when. Entries are durable before the
 * action they record; they are added and read, never changed or removed.
 */

import type { JsonObject } from "../model/json.ts";

export interface NewAuditEntry {
  /** Wall clock, milliseconds. */
  readonly at: number;
  readonly agent: string;
  readonly role: string;
  /** How it came in: a page, a token, a command, the server itself. */
  readonly by: string;
  /** What was done, as a tool is named: `command.run`. */
  readonly action: string;
  readonly details: JsonObject;
}

export interface AuditEntry extends NewAuditEntry {
  readonly id: number;
}

export interface AuditQuery {
  readonly action?: string;
  readonly agent?: string;
  /** Only entries of this moment or later. */
  readonly since?: number;
  /** Only entries with a smaller id. */
  readonly before?: number;
  /** Only entries with a greater id. */
  readonly after?: number;
  /** Newest first (`last`) or oldest first; at most `limit`. */
  readonly order: "first" | "last";
  readonly limit: number;
}

export interface AuditLog {
  /**
   * Adds an entry; its id. `once`: a word that one entry can have, whoever adds it; undefined where another has it, and
   * nothing is added then.
   */
  append(entry: NewAuditEntry, once?: string): Promise<number | undefined>;
  read(query: AuditQuery): Promise<readonly AuditEntry[]>;
}

/** For stores that keep entries in memory. */
export class MemoryAuditLog implements AuditLog {
  readonly #entries: AuditEntry[] = [];
  readonly #once = new Set<string>();

  async append(entry: NewAuditEntry, once?: string): Promise<number | undefined> {
    if (once !== undefined && this.#once.has(once)) return undefined;
    if (once !== undefined) this.#once.add(once);
    const id = this.#entries.length + 1;
    this.#entries.push(structuredCopy({ ...entry, id }));
    return id;
  }

  async read(query: AuditQuery): Promise<readonly AuditEntry[]> {
    const found = this.#entries.filter((entry) => isAsked(entry, query));
    if (query.order === "last") found.reverse();
    return found.slice(0, query.limit).map(structuredCopy);
  }
}

function isAsked({ id, at, agent, action }: AuditEntry, query: AuditQuery): boolean {
  return (
    (query.action === undefined || action === query.action) &&
    (query.agent === undefined || agent === query.agent) &&
    at >= (query.since ?? 0) &&
    id > (query.after ?? 0) &&
    id < (query.before ?? Number.POSITIVE_INFINITY)
  );
}

/** What a reader changes in its copy is changed for nobody else. */
function structuredCopy(entry: AuditEntry): AuditEntry {
  return JSON.parse(JSON.stringify(entry)) as AuditEntry;
}
