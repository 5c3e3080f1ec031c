/** What `blockyard import` does: finds sessions and files, imports each once, and says what came of it. */

import { closeSync, createReadStream, openSync, readSync } from "node:fs";
import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isProblem, plural } from "@blockyard/kernel/plain";
import { providers, recognise } from "@blockyard/providers";
import { LOGGING_PROVIDERS } from "@blockyard/providers/names";
import type { Imported } from "../import/body-import.ts";
import { findSessions, logHome, type SessionLog, sessionAt } from "../import/session-logs.ts";
import type { BlockSource } from "./block-source.ts";
import { CommandError, EXIT } from "./command.ts";
import { openClient } from "./command-client.ts";
import { IMPORT_WATCH_MS, LOG_HEAD_BYTES } from "./limits.ts";
import { importLog, KnownSessions, type Outcome } from "./log-import.ts";
import { oneLine, Progress, print, printJson, printNote, safeText } from "./terminal.ts";
import { asTyped } from "./typed-command.ts";

export interface ImportOptions {
  readonly home: string | undefined;
  /** The providers to import from; undefined: all. */
  readonly only: readonly string[] | undefined;
  readonly isJson: boolean;
  readonly isDry: boolean;
  readonly isWatching: boolean;
}

/** The exit code. Without files: the sessions of this machine. */
export async function importSessions(
  files: readonly string[],
  { home, only, isJson, isDry, isWatching }: ImportOptions,
): Promise<number> {
  const find = () => findSessions({ env: process.env, ...(only === undefined ? {} : { only }) });
  if (isDry) return listOnly(find(), only, isJson);
  const client = await openClient({ home, create: true });
  try {
    if (files.length > 0) return await importFiles(client, files, isJson);
    const sessions = await KnownSessions.read(client);
    const code = await importAll(client, sessions, find(), { only, isJson, isWatching });
    if (isWatching) await watch(client, sessions, find, isJson);
    return code;
  } finally {
    await client.close();
  }
}

async function listOnly(
  logs: readonly SessionLog[],
  only: ImportOptions["only"],
  isJson: boolean,
): Promise<number> {
  for (const { provider, path, bytes, changedAt } of logs) {
    if (isJson) await printJson({ provider: provider.name, path, bytes, changed_at: changedAt });
    else await print(`${provider.name.padEnd(8)} ${String(bytes).padStart(10)}  ${safeText(path)}\n`);
  }
  return logs.length > 0 ? EXIT.done : noSessions(only);
}

function noSessions(only: ImportOptions["only"]): number {
  const meant = LOGGING_PROVIDERS.filter((name) => only?.includes(name) ?? true);
  const places = meant.map((name) => logHome(name, process.env));
  printNote(`No sessions found in ${places.join(" or ")}.`);
  return EXIT.nothing;
}

async function importAll(
  client: BlockSource,
  sessions: KnownSessions,
  logs: readonly SessionLog[],
  { only, isJson, isWatching }: Pick<ImportOptions, "only" | "isJson" | "isWatching">,
): Promise<number> {
  if (logs.length === 0) return noSessions(only);
  const progress = new Progress(logs.length);
  const sum = { new: 0, grown: 0, blocks: 0, here: 0, importing: 0, empty: 0, deleted: 0, failed: 0 };
  for (const log of logs) {
    const outcome = await importLog(client, sessions, log, { now: Date.now(), isFollowed: isWatching });
    count(sum, outcome);
    progress.step(outcome.type === "imported" ? outcome.imported.title : log.name);
    if (outcome.type !== "failed" && !isJson) continue;
    progress.end();
    await report(log, outcome, isJson);
  }
  progress.end();
  if (!isJson) printNote(summary(logs.length, sum));
  return sum.failed > 0 ? EXIT.failed : EXIT.done;
}

interface Sum {
  new: number;
  grown: number;
  blocks: number;
  here: number;
  importing: number;
  empty: number;
  deleted: number;
  failed: number;
}

function count(sum: Sum, outcome: Outcome): void {
  if (outcome.type === "failed") sum.failed++;
  if (outcome.type === "here") sum.here++;
  if (outcome.type === "importing") sum.importing++;
  if (outcome.type === "empty") sum.empty++;
  if (outcome.type === "deleted") sum.deleted++;
  if (outcome.type !== "imported") return;
  if (outcome.isNew) sum.new++;
  else if (outcome.imported.added > 0) sum.grown++;
  sum.blocks += outcome.imported.added;
}

function summary(total: number, sum: Sum): string {
  const parts = [
    `${plural(total, "session")} found: ${sum.new} new, ${sum.grown} updated, ${plural(sum.blocks, "block")} added`,
    sum.here > 0 ? `${sum.here} already here from a turn or a stream` : "",
    sum.importing > 0 ? `${sum.importing} being imported by another command` : "",
    sum.empty > 0 ? `${sum.empty} skipped because they are empty` : "",
    sum.deleted > 0
      ? asTyped(`${sum.deleted} skipped because you deleted them (blockyard import FILE brings one back)`)
      : "",
    sum.failed > 0 ? `${sum.failed} failed` : "",
  ];
  return `${parts.filter((part) => part !== "").join("; ")}.`;
}

async function report({ provider, path }: SessionLog, outcome: Outcome, isJson: boolean): Promise<void> {
  if (!isJson) {
    if (outcome.type === "failed") printNote(`${path}: ${outcome.problem.message}`);
    else if (outcome.type === "imported" && outcome.imported.added > 0) {
      const { added, title, conversation } = outcome.imported;
      await print(`${conversation}  ${plural(added, "block")}  ${oneLine(title, 60)}\n`);
    }
    return;
  }
  const { type } = outcome;
  const rest =
    type === "imported"
      ? { ...outcome.imported, is_new: outcome.isNew }
      : type === "here"
        ? { conversation: outcome.conversation }
        : type === "failed"
          ? { problem: outcome.problem }
          : {};
  await printJson({ outcome: type, provider: provider.name, path, ...rest });
}

/** Scans repeatedly, until it is stopped. An unchanged log costs a look at its folder. */
async function watch(
  client: BlockSource,
  sessions: KnownSessions,
  find: () => readonly SessionLog[],
  isJson: boolean,
): Promise<void> {
  const over = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => over.abort());
  if (!isJson) printNote("Watching. Stop with Ctrl-C.");
  const passed = new Map<string, string>();
  while (!over.signal.aborted) {
    for (const log of find()) {
      if (over.signal.aborted || passed.get(log.path) === log.stamp) continue;
      const outcome = await importLog(client, sessions, log, { now: Date.now(), isFollowed: true });
      if (outcome.type === "failed" || outcome.type === "empty" || outcome.type === "deleted")
        passed.set(log.path, log.stamp);
      if (outcome.type === "failed" || outcome.type === "imported") await report(log, outcome, isJson);
    }
    await sleep(IMPORT_WATCH_MS, undefined, { signal: over.signal }).catch(() => undefined);
  }
}

async function importFiles(client: BlockSource, files: readonly string[], isJson: boolean): Promise<number> {
  let code: number = EXIT.done;
  const sessions = await KnownSessions.read(client);
  for (const file of files) {
    try {
      const imported = await importFile(client, sessions, resolve(file));
      if (isJson) await printJson({ file, ...imported });
      else
        await print(
          `${imported.conversation}  ${plural(imported.added, "block")} added  ${oneLine(imported.title, 60)}\n`,
        );
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      if (isJson) await printJson({ file, problem: { message: error.message } });
      printNote(`blockyard: ${file}: ${error.message}`);
      code = error.code;
    }
  }
  return code;
}

async function importFile(client: BlockSource, sessions: KnownSessions, path: string): Promise<Imported> {
  const head = readHead(path);
  if (/^\s*\{"type":"conversation","epoch":/.test(head)) {
    const body = createReadStream(path) as AsyncIterable<Uint8Array>;
    const imported = await client.import(body);
    // The file is wrong, not the command.
    if (isProblem(imported)) throw new CommandError(imported.message);
    return imported;
  }
  const found = recognise(head);
  const provider = found === undefined ? undefined : providers.get(found.provider);
  if (!provider)
    throw new CommandError("neither an export (blockyard export -f jsonl) nor a known session log");
  if (found?.source !== "log" || !provider.importLog)
    throw new CommandError(`this is a recorded ${provider.name} stream. Use: blockyard ingest < ${path}`);
  const log = sessionAt(provider, path);
  if (!log)
    throw new CommandError("a thread that another session started: import that session, which includes it");
  const outcome = await importLog(client, sessions, log, { now: Date.now(), isFollowed: false, again: true });
  if (outcome.type === "failed") throw new CommandError(outcome.problem.message);
  if (outcome.type === "imported") return outcome.imported;
  if (outcome.type === "empty") throw new CommandError("the session is still empty", EXIT.nothing);
  const conversation = outcome.type === "here" ? outcome.conversation : (sessions.idOf(log) ?? "");
  return { conversation, title: "", added: 0, blocks: 0 };
}

function readHead(path: string): string {
  try {
    const file = openSync(path, "r");
    try {
      const buffer = Buffer.allocUnsafe(LOG_HEAD_BYTES);
      return buffer.subarray(0, readSync(file, buffer)).toString("utf8");
    } finally {
      closeSync(file);
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const known: Readonly<Record<string, string>> = {
      ENOENT: "there is no such file",
      EISDIR:
        "this is a directory: pass the files in it. For a whole Claude Code or Codex directory set CLAUDE_CONFIG_DIR or CODEX_HOME",
    };
    throw new CommandError(known[code ?? ""] ?? `cannot read it (${code})`, EXIT.nothing);
  }
}
