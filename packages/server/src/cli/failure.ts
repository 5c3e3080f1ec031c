/**
 * An error as one sentence that names the fix. Only a bug shows its stack: for a full disk, a damaged database or a
 * file of another account, it would not help.
 */

import { StoreError, type StoreErrorCode } from "@blockyard/kernel/plain";
import { AuthError } from "../access/auth-error.ts";
import { ConfigError, OptionError } from "../config/config.ts";
import { CommandError, EXIT } from "./command.ts";

const STORE_FIXES: Readonly<Record<StoreErrorCode, string>> = {
  full: "The disk is full: free some space, then try again",
  io: "Check the disk, then see: blockyard doctor",
  corrupt: "Restore a backup: blockyard restore FILE --replace. To diagnose: blockyard doctor",
  version: "Update Blockyard",
  locked: "Stop the process that uses it, or choose another --home",
  closed: "Try again",
  lost: "To diagnose: blockyard doctor",
};

const SYSTEM_FIXES: Readonly<Record<string, string>> = {
  ENOSPC: "The disk is full: free some space, then try again",
  EDQUOT: "Your quota is used up: free some space, then try again",
  EROFS: "The file system is read-only: mount it for writing, or choose another directory with --home",
  EMFILE: "Too many files are open: raise the limit (ulimit -n)",
};

export function sentenceOf(error: unknown): string {
  if (error instanceof ConfigError || error instanceof CommandError || error instanceof AuthError)
    return error.message;
  if (isUsage(error)) return (error as Error).message;
  if (error instanceof StoreError) return storeSentence(error);
  const { code = "", path, syscall, stack } = (error ?? {}) as NodeJS.ErrnoException;
  if (syscall === undefined || !/^E[A-Z0-9]+$/.test(code)) return String(stack ?? error);
  const what = path === undefined ? `${syscall} failed` : `cannot use ${path}`;
  const fix =
    SYSTEM_FIXES[code] ?? "Check its owner and permissions, or choose another directory with --home";
  return `${what} (${code}). ${fix}`;
}

/** A store's failure, with what to do about it. */
export function storeSentence({ message, code }: StoreError): string {
  return `${message}. ${STORE_FIXES[code]}`;
}

export function exitOf(error: unknown): number {
  if (error instanceof OptionError) return error.fault === "absent" ? EXIT.nothing : EXIT.usage;
  return isUsage(error) ? EXIT.usage : EXIT.failed;
}

/** Bad arguments of commands that read them without a table. */
function isUsage(error: unknown): boolean {
  return String((error as NodeJS.ErrnoException)?.code).startsWith("ERR_PARSE_ARGS");
}
