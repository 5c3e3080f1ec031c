/**
 * Connections to one PostgreSQL database: a bounded number, each checked once before it is used, then returned or
 * closed. It verifies what must hold for every connection (durable commits, the same database as before), and limits
 * how often a lost one is replaced.
 *
 * Invariant: a connection has one user at a time. After any failure on the way to the server it is not used again.
 */

import { setTimeout as sleep } from "node:timers/promises";
import { StoreError, type StoreErrorCode } from "@blockyard/kernel/plain";
import pg from "pg";
import type { DatabaseAddress } from "../../config/database-address.ts";
import { asFault, isDropped } from "./fault.ts";
import {
  CONNECT_MS,
  HEALTH_MS,
  LOCK_MS,
  MAX_CONNECTIONS,
  QUERY_AGAIN_MS,
  QUERY_TRIES,
  SILENT_MS,
  STATEMENT_MS,
  TAKE_MS,
} from "./limits.ts";

/** How often a connection is attempted, and the delay after each failure: a restarting server needs a second. */
const WAITS_MS = [0, 50, 100, 200, 400, 800] as const;

const MIN_VERSION = 13;

type Row = Readonly<Record<string, unknown>>;

interface Statement {
  /** Statements with a name are planned once per connection: one name, one text. */
  readonly name?: string;
  readonly text: string;
  readonly values?: readonly unknown[];
}

export class Connection {
  readonly #client: pg.PoolClient;

  constructor(client: pg.PoolClient) {
    this.#client = client;
  }

  async rows<T = Row>(statement: Statement): Promise<T[]> {
    return (await this.#query(statement)).rows as T[];
  }

  /** How many rows it has changed. */
  async run(statement: Statement): Promise<number> {
    return (await this.#query(statement)).rowCount ?? 0;
  }

  /** Statements without values, in one go; the rows of the last. */
  async script<T = Row>(text: string): Promise<T[]> {
    const results = (await this.#client.query(text)) as pg.QueryResult | pg.QueryResult[];
    return ((Array.isArray(results) ? results.at(-1) : results)?.rows ?? []) as T[];
  }

  /** Commit is answered even for a failed transaction: with its real outcome. */
  async commit(): Promise<void> {
    const { command } = await this.#client.query("COMMIT");
    if (command !== "COMMIT") throw new StoreError("io", `commit: the server answered ${command}`);
  }

  /**
   * Requests that `send` makes before it first waits are sent in one piece: single statements would be a system call
   * each.
   */
  together<T>(send: () => T): T {
    const { stream } = this.#client.connection;
    stream.cork();
    try {
      return send();
    } finally {
      stream.uncork();
    }
  }

  #query({ name, text, values = [] }: Statement): Promise<pg.QueryResult> {
    return this.#client.query({ ...(name === undefined ? {} : { name }), text, values: [...values] });
  }
}

/** Numbers are what we have written: whole ones below 2^53. */
const types = {
  getTypeParser(oid: number, format?: "text" | "binary") {
    if (oid === 20) return Number;
    return pg.types.getTypeParser(oid, format as "text");
  },
} as pg.CustomTypesConfig;

export class Connections {
  readonly #pool: pg.Pool;
  readonly #shown: string;
  readonly #greeted = new WeakSet<pg.PoolClient>();
  #look: ((connection: Connection) => Promise<void>) | undefined;
  #closed = false;

  constructor(
    address: DatabaseAddress,
    name: string,
    { max = MAX_CONNECTIONS, answerMs = STATEMENT_MS }: { max?: number; answerMs?: number } = {},
  ) {
    this.#shown = address.shown;
    this.#pool = new pg.Pool({
      connectionString: address.reveal(),
      application_name: name,
      max,
      // One stays open, so that other nodes see that this one is alive.
      min: 1,
      types,
      // Statements that do not wait for each other's answers are on their way together.
      pipeline: true,
      connectionTimeoutMillis: CONNECT_MS,
      query_timeout: answerMs,
      lock_timeout: LOCK_MS,
      idle_in_transaction_session_timeout: SILENT_MS,
      keepAlive: true,
    });
    // A connection lost while idle: the pool has already dropped it. One lost in use fails the waiting call;
    // but it needs a listener from the very first moment.
    this.#pool.on("error", () => undefined);
    this.#pool.on("connect", (client) => client.on("error", () => undefined));
  }

  /** Additional checks on every new connection. */
  expect(look: (connection: Connection) => Promise<void>): void {
    this.#look = look;
  }

  /** Runs `work` on a connection; if the connection is lost, again on another one: only for repeatable work. */
  async again<T>(doing: string, work: (connection: Connection) => Promise<T>): Promise<T> {
    const endMs = performance.now() + QUERY_AGAIN_MS;
    for (let tries = 1; ; tries++) {
      try {
        return await this.once(work);
      } catch (error) {
        const isOver = tries === QUERY_TRIES || performance.now() > endMs;
        // Where one connection was lost, the next one from the pool may be as well.
        if (!isDropped(error) || this.#closed || isOver) throw asFault(error, doing);
      }
    }
  }

  /** Whether the server answers now. Throws the error, quickly. */
  async check(): Promise<void> {
    const late = new StoreError("io", `${this.#shown} has not answered for ${HEALTH_MS / 1_000} s`);
    const asked = this.once((connection) => connection.rows({ text: "SELECT 1" }));
    asked.catch(() => undefined); // it may fail after everybody stopped waiting
    const answered = await Promise.race([asked.then(() => true), sleep(HEALTH_MS, false, { ref: false })]);
    if (!answered) throw late;
  }

  /** Runs `work` on a connection; passes on its failure unchanged. */
  async once<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    const client = await this.#take();
    try {
      const result = await work(new Connection(client));
      client.release();
      return result;
    } catch (error) {
      client.release(true);
      throw error;
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#pool.end();
  }

  async #take(): Promise<pg.PoolClient> {
    let failure: unknown;
    const endMs = performance.now() + TAKE_MS;
    for (const waitMs of WAITS_MS) {
      if (performance.now() + waitMs > endMs) break;
      if (waitMs > 0) await sleep(waitMs);
      if (this.#closed) throw new StoreError("closed", "the store is closed");
      try {
        return await this.#greet(await this.#pool.connect());
      } catch (error) {
        if (!isDropped(error)) throw error;
        failure = error;
      }
    }
    // Not as a lost connection, which would be retried.
    throw asFault(failure, `${this.#shown} cannot be reached`);
  }

  async #greet(client: pg.PoolClient): Promise<pg.PoolClient> {
    if (this.#greeted.has(client)) return client;
    try {
      const connection = new Connection(client);
      await requireSettings(connection, this.#shown);
      await this.#look?.(connection);
    } catch (error) {
      client.release(true);
      throw error;
    }
    this.#greeted.add(client);
    return client;
  }
}

interface Settings {
  readonly version: number;
  readonly durable: string;
  readonly fsync: string;
  readonly encoding: string;
  readonly is_standby: boolean;
}

const SETTINGS = `SELECT current_setting('server_version_num')::int / 10000 AS version,
  current_setting('synchronous_commit') AS durable, current_setting('fsync') AS fsync,
  current_setting('server_encoding') AS encoding, pg_is_in_recovery() AS is_standby`;

/** The settings that durability depends on. Checked on every connection: they may differ by user, and servers change. */
async function requireSettings(connection: Connection, shown: string): Promise<void> {
  const [settings] = await connection.rows<Settings>({ text: SETTINGS });
  const found = settings && refusal(settings);
  if (found) throw new StoreError(found.code, `cannot use ${shown}: ${found.why}. ${found.fix}`);
}

interface Refusal {
  readonly code: StoreErrorCode;
  readonly why: string;
  readonly fix: string;
}

export function refusal(settings: Settings): Refusal | undefined {
  const { version, durable, fsync, encoding, is_standby: isStandby } = settings;
  if (version < MIN_VERSION)
    return {
      code: "version",
      why: `PostgreSQL ${version} is too old`,
      fix: `Use ${MIN_VERSION} or newer`,
    };
  if (durable !== "on" && durable !== "remote_apply")
    return {
      code: "io",
      why: `synchronous_commit is ${durable}, so a crash could lose acknowledged writes`,
      fix: "Turn it on for this user: ALTER ROLE CURRENT_USER SET synchronous_commit = on",
    };
  if (fsync !== "on")
    return {
      code: "io",
      why: `fsync is ${fsync}, so a crash could lose everything`,
      fix: "Turn it on: ALTER SYSTEM SET fsync = on, then SELECT pg_reload_conf()",
    };
  if (encoding !== "UTF8")
    return {
      code: "version",
      why: `its encoding is ${encoding}, which cannot store every text`,
      fix: "Make another one: CREATE DATABASE name ENCODING 'UTF8' TEMPLATE template0",
    };
  if (isStandby) return { code: "io", why: "it is a standby", fix: "Use the address of the primary" };
  return undefined;
}
