/**
 * `blockyard backup` and `blockyard restore`: the whole database as one file, taken while it is in use, and put back. What
 * a restore replaces is kept beside it.
 */

import { existsSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { StoreError } from "@blockyard/kernel/plain";
import { makeConfig, prepareHome } from "../config/config.ts";
import type { DatabaseAddress } from "../config/database-address.ts";
import { HOME_OPTION, JSON_OPTION, readArguments } from "./args.ts";
import { type Command, CommandError, EXIT } from "./command.ts";
import { storeSentence } from "./failure.ts";
import { print, printJson, printNote } from "./terminal.ts";

const backupOptions = { home: HOME_OPTION, json: JSON_OPTION } as const;

export const backup: Command = {
  name: "backup",
  usage: "backup [file] [--json]",
  summary: "back up the database to a file, even while the server runs",
  examples: ["blockyard backup", "blockyard backup /mnt/disk/blockyard.db"],
  options: backupOptions,
  async run(args) {
    const { values, positionals } = readArguments({ name: "backup", options: backupOptions }, args, [0, 1]);
    const { copyDatabaseFile, dumpCommand, hasDatabase } = await import("./database-copy.ts");
    const path = databaseOf(values.home, dumpCommand);
    if (!hasDatabase(path)) throw new CommandError(`there is no database at ${path} yet`, EXIT.nothing);
    const stamp = new Date().toISOString().slice(0, 19).replace(/[:T]/g, "-");
    const file = resolve(positionals[0] ?? `blockyard-${stamp}.db`);
    if (existsSync(file)) throw new CommandError(`${file} already exists. Choose another name or delete it`);
    const mask = process.umask(0o077); // everybody's text: as private as the data directory that it comes from
    try {
      await copyDatabaseFile(path, file);
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      const isSource = error.code === "corrupt" || error.code === "version";
      throw new CommandError(
        isSource ? storeSentence(error) : `${error.message}. Check free space and permissions there`,
      );
    } finally {
      process.umask(mask);
    }
    const { size: bytes } = statSync(file);
    if (values.json) await printJson({ file, bytes });
    else await print(`${file}  ${(bytes / 1024 / 1024).toFixed(1)} MB\n`);
    return EXIT.done;
  },
};

const restoreOptions = {
  home: HOME_OPTION,
  json: JSON_OPTION,
  replace: { type: "boolean", summary: "replace an existing database; the old one is kept next to it" },
} as const;

export const restore: Command = {
  name: "restore",
  usage: "restore <file> [--replace] [--json]",
  summary: "restore a backup; stop the server first",
  examples: ["blockyard restore backup.db", "blockyard restore backup.db --replace"],
  options: restoreOptions,
  async run(args) {
    const { values, positionals } = readArguments({ name: "restore", options: restoreOptions }, args, [
      1,
      1,
      "the backup file",
    ]);
    const file = resolve(positionals[0] as string);
    if (!existsSync(file)) throw new CommandError(`there is no file ${file}`, EXIT.nothing);
    const { hasDatabase, restoreCommand } = await import("./database-copy.ts");
    const path = databaseOf(values.home, restoreCommand);
    if (hasDatabase(path) && !values.replace)
      throw new CommandError(
        `there is already a database at ${path}. --replace keeps it next to the restored one`,
      );
    const kept = await putBack(file, path, values.replace === true);
    if (values.json) await printJson({ database: path, ...(kept === undefined ? {} : { kept }) });
    else {
      await print(`${path}\n`);
      if (kept !== undefined) printNote(`The previous database is at ${kept}`);
    }
    return EXIT.done;
  },
};

/** Returns the name under which the previous database is kept. */
async function putBack(file: string, path: string, replace: boolean): Promise<string | undefined> {
  const { isRestored, restoreSqliteStore } = await import("./database-copy.ts");
  try {
    return await restoreSqliteStore(file, path, { replace });
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    if (error.code === "locked")
      throw new CommandError(
        "the database is in use. Stop the server (Ctrl-C in its terminal), then try again",
      );
    if (isRestored(path))
      throw new CommandError(
        `${error.message}. The backup is restored and takes effect when the database is next opened`,
      );
    throw new CommandError(`${error.message}. Is ${file} a Blockyard backup? Nothing was changed`);
  }
}

/** The file. A server database is copied by that server's own tools: `instead` says how. */
function databaseOf(home: string | undefined, instead: (address: DatabaseAddress) => string): string {
  const config = makeConfig({ env: process.env, ...(home === undefined ? {} : { home }) });
  if (config.database)
    throw new CommandError(`the database is PostgreSQL. Use its own tools: ${instead(config.database)}`);
  prepareHome(config.home);
  return join(config.home, "blockyard.db");
}
