/** The audit log in SQLite: one row an entry, summed as every row is. Triggers refuse what would change or remove one. */

import type { AuditEntry, AuditQuery, NewAuditEntry } from "@blockyard/kernel";
import { checkSum, rowSum } from "../encoding/fault.ts";
import type { Tables } from "./tables.ts";

export const AUDIT_SCHEMA = [
  `CREATE TABLE audit (id INTEGER PRIMARY KEY, at REAL NOT NULL, agent TEXT NOT NULL, action TEXT NOT NULL,
    once TEXT, sum INTEGER NOT NULL, entry TEXT NOT NULL) STRICT`,
  `CREATE UNIQUE INDEX audit_once ON audit (once) WHERE once IS NOT NULL`,
  `CREATE INDEX audit_by_action ON audit (action, id)`,
  `CREATE TRIGGER audit_stays BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'the audit log is only added to'); END`,
  `CREATE TRIGGER audit_keeps BEFORE DELETE ON audit BEGIN SELECT RAISE(ABORT, 'the audit log is only added to'); END`,
  `CREATE TRIGGER audit_adds BEFORE INSERT ON audit WHEN EXISTS (SELECT 1 FROM audit WHERE id = NEW.id OR once = NEW.once)
    BEGIN SELECT RAISE(ABORT, 'the audit log is only added to'); END`,
] as const;

interface Row {
  readonly id: number;
  readonly at: number;
  readonly agent: string;
  readonly action: string;
  readonly once: string | null;
  readonly sum: number;
  readonly entry: string;
}

/** Inside a transaction. The new id; undefined where an entry has this word already. */
export function addAudit(tables: Tables, entry: NewAuditEntry, once?: string): number | undefined {
  const { at, agent, action, ...rest } = entry;
  const body = JSON.stringify(rest);
  const columns = [at, agent, action, once ?? null, body] as const;
  const taken = once !== undefined && tables.get("SELECT 1 FROM audit WHERE once = ?", once) !== undefined;
  if (taken) return undefined;
  const sql = "INSERT INTO audit (at, agent, action, once, sum, entry) VALUES (?, ?, ?, ?, ?, ?)";
  tables.run(sql, at, agent, action, once ?? null, rowSum(columns), body);
  return (tables.get<{ id: number }>("SELECT max(id) AS id FROM audit") as { id: number }).id;
}

export function readAudit(tables: Tables, query: AuditQuery): readonly AuditEntry[] {
  const { action = null, agent = null, since = 0, after = 0, before = Number.MAX_SAFE_INTEGER } = query;
  const rows = tables.all<Row>(
    `SELECT * FROM audit WHERE (?1 IS NULL OR action = ?1) AND (?2 IS NULL OR agent = ?2) AND at >= ?3 AND id > ?4
      AND id < ?5 ORDER BY id ${query.order === "last" ? "DESC" : "ASC"} LIMIT ?6`,
    ...[action, agent, since, after, before, query.limit],
  );
  return rows.map(({ id, at, agent: by, action: done, once, sum, entry }) => {
    checkSum(`audit entry ${id}`, sum, [at, by, done, once, entry]);
    return { id, at, agent: by, action: done, ...(JSON.parse(entry) as object) } as AuditEntry;
  });
}
