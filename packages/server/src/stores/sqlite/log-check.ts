/**
 * Is SQLite's write-ahead log whole? SQLite reads the log up to the first frame that does not fit its checksum, and takes
 * that for the end: rightly so after a power loss, which leaves half of the last transaction, but a frame that was
 * damaged later hides every transaction behind it. The difference can be seen: a transaction is written only after the
 * one before it was synced. So a frame that does not fit, followed by the frames of more than one transaction, was good
 * once. Damage in the last transaction cannot be told from a power loss.
 *
 * Format of the log (https://sqlite.org/fileformat2.html): a header of 32 bytes, then frames of 24 bytes and a page. All
 * numbers are big-endian; the checksum runs through all frames.
 */

import { existsSync, readFileSync, statSync } from "node:fs";
import { corrupt } from "../encoding/fault.ts";

export const HEADER_BYTES = 32;
export const FRAME_BYTES = 24;
const MAGIC = 0x377f0682;

interface Log {
  readonly bytes: Buffer;
  readonly pageBytes: number;
  readonly frames: number;
  /** Whether its checksums add up the words least significant byte first. */
  readonly littleEndian: boolean;
}

/** Throws if a transaction that was durable cannot be read any more. */
export function checkLog(path: string): void {
  const log = readLog(`${path}-wal`);
  if (log === undefined) return;
  // SQLite would take it for a new database, and remove the log.
  if (statSync(path, { throwIfNoEntry: false })?.size === 0) throw corrupt(`${path} is empty, but has a log`);
  const good = goodFrames(log);
  // A commit followed by another frame that continues its checksum: the commit had succeeded. Unconnected
  // frames are left over from failed transactions and earlier logs.
  for (let n = good + 1; n < log.frames; n++) {
    if (isOfLog(log, n - 1) && isCommit(log, n - 1) && fits(log, storedSum(log, n - 1), n)) {
      throw corrupt(`frame ${good + 1} of ${path}-wal is damaged, and hides what was written after it`);
    }
  }
}

function readLog(path: string): Log | undefined {
  if (!existsSync(path)) return undefined;
  const bytes = readFileSync(path);
  if (bytes.length < HEADER_BYTES) return undefined;
  const magic = bytes.readUInt32BE(0);
  const pageBytes = bytes.readUInt32BE(8);
  if ((magic & ~1) >>> 0 !== MAGIC || pageBytes < 512 || pageBytes > 65_536) return undefined;
  const frames = Math.floor((bytes.length - HEADER_BYTES) / (FRAME_BYTES + pageBytes));
  return { bytes, pageBytes, frames, littleEndian: (magic & 1) === 0 };
}

/** How many frames from the first on fit their checksums: what SQLite reads. */
function goodFrames(log: Log): number {
  let sum: Sum = add(log, [0, 0], 0, 24);
  if (sum[0] !== log.bytes.readUInt32BE(24) || sum[1] !== log.bytes.readUInt32BE(28)) return log.frames; // no log at all
  for (let n = 0; n < log.frames; n++) {
    if (!fits(log, sum, n)) return n;
    sum = storedSum(log, n);
  }
  return log.frames;
}

/** Whether a frame continues the checksum before it. */
function fits(log: Log, before: Sum, n: number): boolean {
  if (!isOfLog(log, n)) return false;
  const at = frameAt(log, n);
  const [a, b] = add(log, add(log, before, at, 8), at + FRAME_BYTES, log.pageBytes);
  const [first, second] = storedSum(log, n);
  return a === first && b === second;
}

function storedSum(log: Log, n: number): Sum {
  const at = frameAt(log, n);
  return [log.bytes.readUInt32BE(at + 16), log.bytes.readUInt32BE(at + 20)];
}

/** The last frame of a transaction states the length of the database after it. */
function isCommit(log: Log, n: number): boolean {
  return log.bytes.readUInt32BE(frameAt(log, n) + 4) !== 0;
}

function frameAt({ pageBytes }: Log, n: number): number {
  return HEADER_BYTES + n * (FRAME_BYTES + pageBytes);
}

/** A frame has the salts of the header that it was written under. */
function isOfLog(log: Log, n: number): boolean {
  const at = frameAt(log, n) + 8;
  return log.bytes.compare(log.bytes, 16, 24, at, at + 8) === 0;
}

type Sum = readonly [number, number];

function add({ bytes, littleEndian }: Log, [first, second]: Sum, from: number, length: number): Sum {
  let [a, b] = [first, second];
  for (let at = from; at < from + length; at += 8) {
    a = (a + (littleEndian ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at)) + b) >>> 0;
    b = (b + (littleEndian ? bytes.readUInt32LE(at + 4) : bytes.readUInt32BE(at + 4)) + a) >>> 0;
  }
  return [a, b];
}
