/**
 * `server.json` in the data directory: the address of the running server, the folder it serves, and its process.
 * Commands find the server by it. It is only a hint: a killed server leaves it behind, and the store's lock says who
 * has the database.
 */

import { readFileSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { writePrivate } from "./private-file.ts";

export interface ServerAddress {
  /** Where people reach it. */
  readonly url: string;
  /** Where commands do. */
  readonly local?: string;
  readonly pid: number;
  /** The folder that it serves. */
  readonly root?: string;
}

export function writeAddress(home: string, address: ServerAddress): void {
  writePrivate(fileOf(home), JSON.stringify(address));
}

/** Undefined where none is there, or it is not to be read. */
export function readAddress(home: string): ServerAddress | undefined {
  try {
    const read = JSON.parse(readFileSync(fileOf(home), "utf8")) as Partial<ServerAddress> | null;
    return typeof read?.url === "string" && typeof read.pid === "number"
      ? (read as ServerAddress)
      : undefined;
  } catch {
    return undefined;
  }
}

export function removeAddress(home: string): void {
  try {
    unlinkSync(fileOf(home));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
}

function fileOf(home: string): string {
  return join(home, "server.json");
}
