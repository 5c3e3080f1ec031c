/**
 * One file on the disk: read whole, replaced whole. Knows nothing of blocks.
 *
 * A file is replaced by writing a temporary one beside it, syncing that, looking at the target once more, and moving the
 * one over the other; then the folder is synced. Readers see the old bytes or the new ones, whatever is killed when. A
 * file that is made is linked into place instead, which never replaces another. Temporary names say what they are:
 * `.blockyard-<process>-<random>.tmp`.
 */

import { createHash, randomBytes } from "node:crypto";
import { type BigIntStats, constants } from "node:fs";
import { access, type FileHandle, link, lstat, open, readdir, rename, unlink } from "node:fs/promises";
import { isProblem, type Problem, problem } from "@blockyard/kernel";
import { isAlive } from "../system/process-alive.ts";
import { decodeFile, tooLarge } from "./encoding.ts";
import { bounds, FILE_TIME_MS, READ_TRIES } from "./limits.ts";
import { asError, type Folder, operating, type Root, syncFolder } from "./root.ts";

/**
 * A file's stamp: the same stamp, the same bytes. Clocks of file systems are coarse, so a file that was just written
 * has none (an empty one, which equals nothing): it could be written again without a visible change.
 */
export type Stamp = string;

export interface DiskText {
  readonly type: "text";
  readonly text: string;
  readonly hasBom: boolean;
  readonly hash: string;
  readonly stamp: Stamp;
}

export type DiskFile =
  | DiskText
  | { readonly type: "absent" }
  /** There is something, but no text that can be opened; `hash` where its bytes could be read. */
  | { readonly type: "unreadable"; readonly problem: Problem; readonly hash: string; readonly stamp: Stamp };

/** The expected content: a text of this hash, or nothing. */
type Expected = string | null;

export type Written =
  | { readonly type: "written"; readonly late?: DiskFile }
  /** Somebody else has written there: nothing was done. */
  | { readonly type: "moved" };

const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const MAKE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
const TEMPORARY = /^\.blockyard-(\d{1,10})-[0-9a-f]{12}\.tmp$/;

/** Temporary files that this process is using now. */
const inUse = new Set<string>();

export function isTemporary(name: string): boolean {
  return TEMPORARY.test(name);
}

export function hashOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** Whether the current file has that stamp. */
export async function hasStamp(folder: Folder, name: string, known: Stamp): Promise<boolean> {
  if (known === "") return false;
  const stat = await lstat(folder.at(name), { bigint: true }).catch(() => undefined);
  return stat !== undefined && stampOf(stat) === known;
}

export async function readDisk(folder: Folder, name: string, shown: string): Promise<DiskFile> {
  const handle = await open(folder.at(name), READ).catch(asError);
  if (handle instanceof Error) {
    if (handle.code === "ENOENT") return { type: "absent" };
    return { type: "unreadable", problem: operating(shown, handle), hash: "", stamp: "" };
  }
  try {
    return await readOpen(handle, shown);
  } finally {
    await handle.close();
  }
}

/** Replaces a file, or creates one if `expected` says that there is none. */
export async function writeDisk(
  folder: Folder,
  name: string,
  shown: string,
  bytes: Buffer,
  expected: Expected,
): Promise<Written | Problem> {
  const temporary = `.blockyard-${process.pid}-${randomBytes(6).toString("hex")}.tmp`;
  const target = expected === null ? undefined : await open(folder.at(name), READ).catch(asError);
  if (target instanceof Error) {
    return target.code === "ENOENT" ? { type: "moved" } : operating(shown, target);
  }
  inUse.add(temporary);
  try {
    if (target) await access(folder.at(name), constants.W_OK);
    await writeBeside(folder.at(temporary), bytes, target);
    const checked = target && (await isExpected(target, folder, name, shown, expected));
    if (target && !checked) return { type: "moved" };
    if (!(await folder.isInPlace()))
      return problem("conflict", `the folder of ${shown} was moved in the meantime; try again`);
    return target && checked
      ? await moveOver(folder, temporary, name, shown, target, checked)
      : await linkInto(folder, temporary, name);
  } catch (error) {
    return operating(shown, asError(error));
  } finally {
    await target?.close();
    await unlink(folder.at(temporary)).catch(() => undefined); // if it was moved, there is none
    inUse.delete(temporary);
  }
}

/** Removes temporary files of dead processes from a folder; returns their number. */
async function sweepFolder(folder: Folder): Promise<number> {
  let swept = 0;
  for (const name of await readdir(folder.at(".")).catch(() => [] as string[])) {
    const owner = TEMPORARY.exec(name)?.[1];
    if (owner === undefined || inUse.has(name)) continue;
    // This process knows its own.
    if (Number(owner) !== process.pid && isAlive(Number(owner))) continue;
    const gone = await unlink(folder.at(name)).then(
      () => 1,
      () => 0,
    );
    swept += gone;
  }
  return swept;
}

/** The same for folders of the workspace, until it is closed; returns their number. */
export async function sweepFolders(
  root: Root,
  folders: readonly string[],
  isOver: () => boolean,
): Promise<number> {
  let swept = 0;
  for (const name of folders) {
    if (isOver()) return swept;
    const folder = await root.folder(name === "" ? [] : name.split("/"));
    if (isProblem(folder)) continue;
    swept += await sweepFolder(folder);
    await folder.close();
  }
  return swept;
}

// ---------------------------------------------------------------------------------------------------------------------

async function readOpen(handle: FileHandle, shown: string): Promise<DiskFile> {
  for (let tries = 0; ; tries++) {
    const stat = await handle.stat({ bigint: true });
    const seen = stampOf(stat);
    const refused = !stat.isFile()
      ? problem("invalid", `${shown} is not a regular file`, { path: shown })
      : stat.size > bounds.fileBytes
        ? tooLarge(shown, Number(stat.size))
        : undefined;
    if (refused) return { type: "unreadable", problem: refused, hash: "", stamp: seen };
    const bytes = await readWhole(handle, Number(stat.size));
    if (looks(await handle.stat({ bigint: true })) !== looks(stat) && tries < READ_TRIES) continue;
    const hash = hashOf(bytes);
    const decoded = decodeFile(bytes, shown);
    if (isProblem(decoded)) return { type: "unreadable", problem: decoded, hash, stamp: seen };
    return { type: "text", ...decoded, hash, stamp: seen };
  }
}

/** From the start, whatever was read before; at most one byte over the limit. */
async function readWhole(handle: FileHandle, size: number): Promise<Buffer> {
  let bytes = Buffer.allocUnsafe(Math.min(size, bounds.fileBytes) + 1);
  let length = 0;
  for (;;) {
    const { bytesRead } = await handle.read(bytes, length, bytes.length - length, length);
    length += bytesRead;
    if (bytesRead === 0 || length > bounds.fileBytes) return bytes.subarray(0, length);
    if (length === bytes.length) bytes = Buffer.concat([bytes, Buffer.allocUnsafe(64 * 1024)]);
  }
}

/** The new bytes under the temporary name, with the old file's mode and owner, durable. */
async function writeBeside(path: string, bytes: Buffer, target: FileHandle | undefined): Promise<void> {
  const handle = await open(path, MAKE, target ? 0o600 : 0o666);
  try {
    await handle.writeFile(bytes);
    if (target) await keepLooks(handle, target);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function keepLooks(handle: FileHandle, target: FileHandle): Promise<void> {
  const [own, { mode, uid, gid }] = await Promise.all([handle.stat(), target.stat()]);
  const isTheirs = own.uid === uid && own.gid === gid;
  const isGiven = isTheirs || (await handle.chown(uid, gid).then(isDone, isNotDone));
  // Bits that lend the owner's rights are not lent to another owner.
  await handle.chmod(isGiven ? mode & 0o7777 : mode & 0o777);
}

const isDone = () => true;
const isNotDone = () => false;

/** A file when its bytes were last confirmed to be the expected ones. */
interface Checked {
  readonly stat: BigIntStats;
  readonly stamp: Stamp;
  readonly hash: string;
}

/** Whether the name still means the opened file, and that the bytes which were expected. */
async function isExpected(
  target: FileHandle,
  folder: Folder,
  name: string,
  shown: string,
  expected: Expected,
): Promise<Checked | undefined> {
  const stat = await target.stat({ bigint: true });
  const stamp = stampOf(stat);
  const now = await readOpen(target, shown);
  if (now.type === "absent" || now.hash !== expected || expected === "") return undefined;
  const named = await lstat(folder.at(name), { bigint: true }).catch(() => undefined);
  return named !== undefined && looks(named) === looks(stat) ? { stat, stamp, hash: now.hash } : undefined;
}

/**
 * Between the last check and the move somebody may have written into the old file. It is still open here, so that their
 * text is not lost: it is returned, to be merged.
 */
async function moveOver(
  folder: Folder,
  temporary: string,
  name: string,
  shown: string,
  target: FileHandle,
  checked: Checked,
): Promise<Written> {
  await rename(folder.at(temporary), folder.at(name));
  await syncFolder(folder.handle);
  const after = await target.stat({ bigint: true });
  const isTouched =
    after.mtimeNs !== checked.stat.mtimeNs || after.size !== checked.stat.size || checked.stamp === "";
  const old = isTouched ? await readOpen(target, shown) : undefined;
  const isLate = old !== undefined && old.type !== "absent" && old.hash !== checked.hash;
  return { type: "written", ...(isLate ? { late: old } : {}) };
}

async function linkInto(folder: Folder, temporary: string, name: string): Promise<Written> {
  try {
    await link(folder.at(temporary), folder.at(name));
  } catch (error) {
    if (asError(error).code === "EEXIST") return { type: "moved" };
    throw error;
  }
  await unlink(folder.at(temporary));
  await syncFolder(folder.handle);
  return { type: "written" };
}

function stampOf(stat: BigIntStats): Stamp {
  return Date.now() - Number(stat.ctimeMs) < FILE_TIME_MS ? "" : looks(stat);
}

function looks({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return `${dev} ${ino} ${size} ${mtimeNs} ${ctimeNs}`;
}
