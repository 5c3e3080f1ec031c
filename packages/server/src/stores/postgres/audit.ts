/** The audit log on PostgreSQL. A trigger refuses what would change or remove an entry. */

import { randomBytes } from "node:crypto";
import type { AuditEntry, AuditLog, AuditQuery, NewAuditEntry } from "@blockyard/kernel";

export const AUDIT_TABLES = `
  CREATE TABLE blockyard.audit (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, at double precision NOT NULL,
    agent text COLLATE "C" NOT NULL, action text COLLATE "C" NOT NULL, once text COLLATE "C" UNIQUE NOT NULL,
    mark text COLLATE "C" NOT NULL, body text NOT NULL);
  CREATE INDEX audit_by_action ON blockyard.audit (action, id);
  CREATE FUNCTION blockyard.refuse_change() RETURNS trigger LANGUAGE plpgsql
    AS $$ BEGIN RAISE EXCEPTION 'the audit log is only added to'; END $$;
  CREATE TRIGGER audit_stays BEFORE UPDATE OR DELETE OR TRUNCATE ON blockyard.audit
    FOR EACH STATEMENT EXECUTE FUNCTION blockyard.refuse_change();
`;

type Rows = <T>(doing: string, text: string, values: readonly unknown[]) => Promise<T[]>;

interface Row {
  readonly id: number;
  readonly at: number;
  readonly agent: string;
  readonly action: string;
  readonly body: string;
}

/** `rows` retries after a lost connection, so an entry has its writer's mark: the second time it exists already. */
export function postgresAudit(rows: Rows): AuditLog {
  return {
    async append({ at, agent, action, ...rest }: NewAuditEntry, once?: string) {
      const mark = randomBytes(12).toString("base64url");
      await rows(
        "add to the audit log",
        `INSERT INTO blockyard.audit (at, agent, action, once, mark, body) VALUES ($1, $2, $3, $4, $5, $6)
          ON CONFLICT (once) DO NOTHING`,
        [at, agent, action, once ?? `- ${mark}`, mark, JSON.stringify(rest)],
      );
      const [added] = await rows<{ id: number }>(
        "added to the audit log",
        "SELECT id FROM blockyard.audit WHERE once = $1 AND mark = $2",
        [once ?? `- ${mark}`, mark],
      );
      return added && Number(added.id);
    },
    async read({ action, agent, since = 0, after = 0, before, order, limit }: AuditQuery) {
      const found = await rows<Row>(
        `audit log ${order}`,
        `SELECT id, at, agent, action, body FROM blockyard.audit WHERE ($1::text IS NULL OR action = $1)
          AND ($2::text IS NULL OR agent = $2) AND at >= $3 AND id > $4 AND id < $5
          ORDER BY id ${order === "last" ? "DESC" : "ASC"} LIMIT $6`,
        [action ?? null, agent ?? null, since, after, before ?? Number.MAX_SAFE_INTEGER, limit],
      );
      return found.map(
        ({ id, body, ...row }) => ({ ...row, id: Number(id), ...(JSON.parse(body) as object) }) as AuditEntry,
      );
    },
  };
}
