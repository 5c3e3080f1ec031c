/**
 * The checks of `blockyard doctor` on the database: is it there, can it be used, is it sound, and what in it wants repair. They
 * only read, and open nothing that is no database.
 */

import { accessSync, constants, existsSync, lstatSync, statSync } from "node:fs";
import { plural } from "@blockyard/kernel";
import { ConfigError } from "../config/config.ts";
import type { DatabaseAddress } from "../config/database-address.ts";
import { countDoubles } from "../import/doubled.ts";
import { describeNamed } from "../stores/postgres/named.ts";
import { quickCheck } from "../stores/sqlite/quick-check.ts";
import { StoreReader } from "../stores/sqlite/reader.ts";
import { isRestored } from "../stores/sqlite/restored.ts";
import { type Finding, plain } from "./finding.ts";

const RESTORE = "restore a backup: blockyard restore FILE --replace";

/** Also what is in it, where it is sound. */
export function checkFile(path: string, hasServer: boolean): readonly Finding[] {
  const found = checkDatabase(path, hasServer);
  return found.state === "ok" && existsSync(path) ? [found, ...checkImports(path)] : [found];
}

/** Sessions that an earlier version has imported twice at the same time. */
function checkImports(path: string): readonly Finding[] {
  const reader = new StoreReader(path);
  try {
    const doubles = countDoubles(reader.blocks());
    if (doubles.size === 0) return [];
    const blocks = [...doubles.values()].reduce((sum, count) => sum + count, 0);
    const message = `${plural(doubles.size, "session")} imported twice: ${plural(blocks, "duplicate block")}`;
    const fix = "stop the server, then: blockyard doctor --repair";
    return [{ check: "imports", state: "warn", message, fix }];
  } finally {
    reader.close();
  }
}

export function checkDatabase(path: string, hasServer: boolean): Finding {
  const check = "database";
  if (isRestored(path)) {
    const message = `${path} is being restored, or its restore was interrupted`;
    return { check, state: "warn", message, fix: "start a server, which finishes the restore: blockyard" };
  }
  if (!isThere(path)) {
    if (!existsSync(`${path}.lock`) || quickCheck(path).is !== "in use")
      return { check, state: "ok", message: "none yet: the first start creates it" };
    const message = `${path} is missing, but a process still has it open`;
    return {
      check,
      state: "fail",
      message,
      fix: `move the file back if you can; otherwise stop that process and ${RESTORE}`,
    };
  }
  const unusable = unusableDatabase(path);
  if (unusable) return { check, state: "fail", ...unusable };
  const found = quickCheck(path);
  if (found.is === "sound") return { check, state: "ok", message: `${path} is intact` };
  if (found.is === "damaged")
    return { check, state: "fail", message: `${path} is damaged: ${found.why}`, fix: RESTORE };
  if (found.is === "unread") {
    const fix = found.isFull ? "the disk is full: free some space" : "check the disk and its free space";
    return { check, state: "fail", message: found.why, fix: `${fix}, then run blockyard doctor again` };
  }
  return hasServer
    ? { check, state: "ok", message: `${path} is open in the running server, which checked it at startup` }
    : {
        check,
        state: "warn",
        message: `${path} is in use, but no server answers`,
        fix: "stop the process that uses it",
      };
}

/** A database on a server: whether it could be used, as a start would find it. */
export async function checkNamed(address: DatabaseAddress): Promise<Finding> {
  const check = "database";
  try {
    return { check, state: "ok", message: await describeNamed(address) };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const fix = `check that the server is up and that name, user and password are right. Try: psql ${address.shown}`;
    return { check, state: "fail", message: plain(error.message, 500), fix };
  }
}

/** Also a link that leads nowhere. What is in a closed folder is not seen; the check of the home tells of that. */
function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}

/**
 * What is there, but is no database that could be opened: it is not given to SQLite, which takes an empty file for a new
 * database.
 */
function unusableDatabase(path: string): Pick<Finding, "message" | "fix"> | undefined {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat)
    return {
      message: `${path} is a broken link`,
      fix: "restore its target (is the disk mounted?) or remove the link",
    };
  const anew = `${RESTORE}. Without a backup, move the file away; the next start creates a new database`;
  if (!stat.isFile())
    return {
      message: `${path} is a ${stat.isDirectory() ? "directory" : "special file"}, not a database`,
      fix: anew,
    };
  if (stat.size === 0) return { message: `${path} is empty (0 bytes)`, fix: anew };
  try {
    accessSync(path, constants.R_OK | constants.W_OK);
    return undefined;
  } catch {
    const mode = (stat.mode & 0o777).toString(8);
    const message = `this account cannot read and write ${path} (mode ${mode}, owned by user ${stat.uid})`;
    const isOwn = stat.uid === process.getuid?.();
    return {
      message,
      fix: isOwn
        ? `chmod 600 ${path}`
        : "run blockyard as that user, or choose another directory with --home",
    };
  }
}
