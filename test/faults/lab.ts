/**
 * What the fault tests have in common: starting a writer, ending it, collecting what it reported as durable, and
 * checking a database against that.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { crc32 } from "node:zlib";
import { type BlockId, type ConversationId, isProblem, Kernel, type Op, splicesOf } from "@blockyard/kernel";
import { openSqliteStore, type SqliteStore } from "../../packages/server/src/stores/sqlite/sqlite.ts";
import { nodeEnv } from "../../packages/server/src/system/env.ts";
import { type AckedBlock, rawByte, type WriterConfig, type WriterLine } from "./writer.ts";

/** The result of one fault test. `failures` is empty if all is well. */
export interface Outcome {
  readonly name: string;
  readonly rounds: number;
  /** For people, in a few words. */
  readonly summary: string;
  readonly failures: readonly string[];
}

/** How a fault test is run: how often, from which seed, and where it may say how it goes. */
export interface Run {
  readonly rounds: number;
  readonly seed: number;
  readonly tell?: (text: string) => void;
}

const here = dirname(fileURLToPath(import.meta.url));

export function makeDirectory(): string {
  return mkdtempSync(join(tmpdir(), "blockyard-faults-"));
}

export function removeDirectory(path: string): void {
  rmSync(path, { recursive: true, force: true });
}

/** The preloaded library, or why there is none. */
export function buildDisk(directory: string): { readonly path: string } | { readonly missing: string } {
  const path = join(directory, "disk.so");
  const built = spawnSync("cc", [
    "-O1",
    "-shared",
    "-fPIC",
    "-o",
    path,
    join(here, "disk.c"),
    "-ldl",
    "-lpthread",
  ]);
  if (built.error !== undefined) return { missing: `no C compiler (${built.error.message})` };
  return built.status === 0 ? { path } : { missing: `disk.c does not compile: ${built.stderr}` };
}

// -- writers

/** Everything that a writer reported as durable, over all its lives. */
export class Acknowledged {
  readonly conversations = new Map<ConversationId, number>();
  readonly blocks = new Map<BlockId, AckedBlock>();
  readonly keys: { conversation: ConversationId; key: string; answer: string }[] = [];
  readonly raw = new Map<ConversationId, number>();
  readonly refused: string[] = [];
  commits = 0;

  take(line: WriterLine): void {
    if (line.type === "ack") {
      this.commits++;
      this.conversations.set(line.conversation, line.seq);
      for (const block of line.blocks) this.blocks.set(block.id, block);
    } else if (line.type === "key") this.keys.push(line);
    else if (line.type === "raw") this.raw.set(line.conversation, line.bytes);
    else if (line.type === "refused") this.refused.push(`${line.problem}: ${line.message}`);
  }
}

export interface Writer {
  readonly process: ChildProcess;
  /** The first line that fits, or undefined when the writer ends before. */
  said(fits: (line: WriterLine) => boolean): Promise<WriterLine | undefined>;
  readonly ended: Promise<{
    readonly code: number | null;
    readonly signal: string | null;
    readonly errors: string;
  }>;
}

export function startWriter(
  config: WriterConfig,
  acked: Acknowledged,
  env: Record<string, string> = {},
): Writer {
  const child = spawn(
    process.execPath,
    ["--disable-warning=ExperimentalWarning", join(here, "writer.ts"), JSON.stringify(config)],
    { stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, NODE_OPTIONS: "", ...env } },
  );
  let rest = "";
  let errors = "";
  const listeners = new Set<(line: WriterLine | undefined) => void>();
  child.stderr.on("data", (data: Buffer) => {
    errors += data.toString();
  });
  child.stdout.on("data", (data: Buffer) => {
    const lines = (rest + data.toString()).split("\n");
    rest = lines.pop() as string; // half a line was not said
    for (const text of lines) {
      const line = JSON.parse(text) as WriterLine;
      acked.take(line);
      for (const listener of listeners) listener(line);
    }
  });
  const ended = new Promise<{ code: number | null; signal: string | null; errors: string }>((resolve) => {
    child.on("close", (code, signal) => {
      for (const listener of listeners) listener(undefined);
      resolve({ code, signal, errors });
    });
  });
  const said = (fits: (line: WriterLine) => boolean) =>
    new Promise<WriterLine | undefined>((resolve) => {
      const listener = (line: WriterLine | undefined) => {
        if (line !== undefined && !fits(line)) return;
        listeners.delete(listener);
        resolve(line);
      };
      listeners.add(listener);
    });
  return { process: child, said, ended };
}

// -- files

/** The files of a database, without the lock. */
export function filesOf(path: string): string[] {
  const name = basename(path);
  return readdirSync(dirname(path))
    .filter((file) => file.startsWith(name) && !file.endsWith(".lock") && !file.endsWith("-shm"))
    .map((file) => join(dirname(path), file));
}

export function copyDatabase(path: string, directory: string): string {
  mkdirSync(directory, { recursive: true });
  for (const file of readdirSync(directory)) rmSync(join(directory, file), { recursive: true });
  for (const file of filesOf(path)) copyFileSync(file, join(directory, basename(file)));
  return join(directory, basename(path));
}

// -- checking

export interface Verdict {
  readonly lost: number;
  readonly openMs: number;
  readonly complaints: readonly string[];
}

/** Opens a database and compares it with what was acknowledged. `lost` counts what is missing of it. */
export async function verify(path: string, acked: Acknowledged): Promise<Verdict> {
  if (!existsSync(path)) {
    const lost = acked.conversations.size;
    return { lost, openMs: 0, complaints: lost > 0 ? ["the database is gone"] : [] };
  }
  const startMs = performance.now();
  let store: SqliteStore;
  try {
    store = await openSqliteStore(path);
  } catch (error) {
    return {
      lost: acked.conversations.size,
      openMs: performance.now() - startMs,
      complaints: [String(error)],
    };
  }
  const openMs = performance.now() - startMs;
  const complaints: string[] = [];
  for (const [id, seq] of acked.conversations) {
    const record = await store.conversation(id);
    if ((record?.seq ?? 0) < seq)
      complaints.push(`${id} stands at ${record?.seq}, acknowledged up to ${seq}`);
  }
  for (const block of acked.blocks.values()) {
    const complaint = await checkBlock(store, block);
    if (complaint !== undefined) complaints.push(complaint);
  }
  for (const [conversation, bytes] of acked.raw) {
    const raw = await store.raw({ conversation, run: "turn" });
    const good = raw.length >= bytes && raw.every((byte, at) => byte === rawByte(at));
    if (!good) complaints.push(`${conversation}: ${raw.length} raw bytes, acknowledged ${bytes}`);
  }
  complaints.push(...(await checkKeys(store, acked)));
  await store.close();
  const lost = complaints.length;
  const integrity = integrityOf(path);
  if (integrity !== "ok") complaints.push(`integrity_check: ${integrity}`);
  return { lost, openMs, complaints };
}

async function checkBlock(store: SqliteStore, acked: AckedBlock): Promise<string | undefined> {
  const { id, version, chars, sum } = acked;
  const block = await store.block(id);
  if (block === undefined || block.version < version)
    return `${id}: version ${block?.version}, acknowledged ${version}`;
  const { ops } = await store.log(id, { version: 0 });
  const then = textAt(ops, version, chars);
  if (then.length !== chars || crc32(then) !== sum)
    return `${id}: another text than acknowledged at version ${version}`;
  const now = textAt(ops, block.version, block.chars);
  if ((await store.text(id)) !== now) return `${id}: text and log differ`;
  return undefined;
}

/** The text at a version. A run that goes beyond it is cut where the text had its length then. */
function textAt(ops: readonly Op[], version: number, chars: number): string {
  let text = "";
  for (const op of ops) {
    if (op.versionFrom > version) break;
    for (const { at, del, ins } of splicesOf(op))
      text = text.slice(0, at) + ins + text.slice(at + del.length);
    if (op.version > version) text = text.slice(0, chars);
  }
  return text;
}

/** A write that was answered is answered again, and not made again. */
async function checkKeys(store: SqliteStore, acked: Acknowledged): Promise<string[]> {
  const kernel = new Kernel(nodeEnv, store);
  const complaints: string[] = [];
  for (const { conversation, key, answer } of acked.keys.slice(-50)) {
    const again = await kernel.write(conversation, { agent: "model", key, plan: () => "made again" });
    if (again !== answer) {
      complaints.push(
        `${conversation} ${key}: answered ${isProblem(again) ? again.message : again}, was ${answer}`,
      );
    }
  }
  await kernel.close();
  return complaints;
}

function integrityOf(path: string): string {
  const db = new DatabaseSync(path, { readOnly: true });
  try {
    return db
      .prepare("PRAGMA integrity_check")
      .all()
      .map((row) => String(row["integrity_check"]))
      .join("; ");
  } finally {
    db.close();
  }
}
