/**
 * The database that a configuration names: opened, or looked at without being changed. The driver is loaded here, when it
 * is needed, and nowhere else.
 */

import { StoreError } from "@blockyard/kernel/plain";
import { ConfigError } from "../../config/config.ts";
import type { DatabaseAddress } from "../../config/database-address.ts";
import type { PostgresStore } from "./postgres.ts";

/** Opens it. An error is described in a sentence. */
export async function openNamed(address: DatabaseAddress): Promise<PostgresStore> {
  const { openPostgresStore } = await import("./postgres.ts");
  try {
    return await openPostgresStore(address);
  } catch (error) {
    throw asSentence(error);
  }
}

/** What is known of it: its server, and its content. Throws a ConfigError if it could not be opened. */
export async function describeNamed(address: DatabaseAddress): Promise<string> {
  const { describe } = await import("./describe.ts");
  try {
    return await describe(address);
  } catch (error) {
    throw asSentence(error);
  }
}

/** The command that copies the tables to a file, and the one that restores them. */
export function dumpCommand({ shown }: DatabaseAddress): string {
  return `pg_dump --format=custom --schema=blockyard --file=blockyard.dump ${shown}`;
}

export function restoreCommand({ shown }: DatabaseAddress): string {
  return `pg_restore --clean --if-exists --dbname=${shown} blockyard.dump`;
}

function asSentence(error: unknown): unknown {
  return error instanceof StoreError ? new ConfigError(error.message) : error;
}
