/**
 * The folder beside a database that holds its search index: segments, and the list of those that count. The list is replaced
 * as a whole; files that it does not name are removed. All of it can be made again from the database, so that whatever is
 * wrong with it is mended by beginning anew.
 *
 * The list, `segments.json`: the format's version, the epoch of the database that it belongs to, name and length of each segment, and
 * a checksum of the line before. The index of another database, or of one that was restored, does not count.
 */

import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { SegmentDamage } from "../../../search/segment/segment-damage.ts";
import { SegmentReader } from "../../../search/segment/segment-reader.ts";
import { makeFolder } from "../../../system/folder.ts";
import { syncDirectory } from "../integrity.ts";

const FORMAT = 1;
const LIST = "segments.json";

export interface Segment {
  readonly name: string;
  readonly reader: SegmentReader;
}

interface ListedSegments {
  readonly format: number;
  readonly epoch: string;
  readonly next: number;
  readonly segments: readonly { readonly name: string; readonly bytes: number }[];
}

/** Where the index of a database is. */
export function indexPath(database: string): string {
  return `${database}.search`;
}

export class IndexFolder {
  readonly #path: string;
  readonly #epoch: string;
  #next = 1;
  segments: readonly Segment[] = [];
  /** Up to which sequence number each conversation is indexed. */
  readonly cursors = new Map<number, number>();

  constructor(database: string, epoch: string) {
    this.#path = indexPath(database);
    this.#epoch = epoch;
    makeFolder(this.#path);
    try {
      this.#open();
    } catch (error) {
      if (!(error instanceof SegmentDamage) && !isMissing(error)) throw error;
      this.clear();
    }
    this.#removeOthers();
  }

  /** Units of text, and blocks, that are indexed. Blocks that have changed since count once for each time. */
  get documents(): number {
    return this.segments.reduce((sum, { reader }) => sum + reader.directory.documents, 0);
  }

  /** A name for a new segment, and its path. */
  newSegment(): { readonly name: string; readonly path: string } {
    const name = `${this.#next++}.seg`;
    return { name, path: join(this.#path, name) };
  }

  /** Takes a written segment in, in the place of those that were merged into it. */
  replace(old: readonly Segment[], name: string, bytes: number): void {
    const reader = new SegmentReader(join(this.#path, name), bytes);
    this.segments = [...this.segments.filter((segment) => !old.includes(segment)), { name, reader }];
    this.#note(reader);
    this.#writeList();
    for (const { name: gone, reader: closed } of old) {
      closed.close();
      rmSync(join(this.#path, gone), { force: true });
    }
  }

  /** Takes a segment out that has nothing any more. */
  drop(segment: Segment): void {
    this.segments = this.segments.filter((other) => other !== segment);
    this.#writeList();
    segment.reader.close();
    rmSync(join(this.#path, segment.name), { force: true });
  }

  /** Forgets everything. */
  clear(): void {
    for (const { reader } of this.segments) reader.close();
    this.segments = [];
    this.cursors.clear();
    rmSync(join(this.#path, LIST), { force: true });
    this.#removeOthers();
  }

  #open(): void {
    const listed = readList(join(this.#path, LIST));
    if (listed.format !== FORMAT || listed.epoch !== this.#epoch)
      throw new SegmentDamage("another database's index");
    this.#next = listed.next;
    const opened: Segment[] = [];
    try {
      for (const { name, bytes } of listed.segments)
        opened.push({ name, reader: new SegmentReader(join(this.#path, name), bytes) });
    } catch (error) {
      for (const { reader } of opened) reader.close();
      throw error;
    }
    this.segments = opened;
    for (const { reader } of opened) this.#note(reader);
  }

  #note({ directory }: SegmentReader): void {
    for (const [conversation, seq] of directory.cursors)
      this.cursors.set(conversation, Math.max(seq, this.cursors.get(conversation) ?? 0));
  }

  #writeList(): void {
    const listed: ListedSegments = {
      format: FORMAT,
      epoch: this.#epoch,
      next: this.#next,
      segments: this.segments.map(({ name, reader }) => ({ name, bytes: reader.bytes })),
    };
    const line = JSON.stringify(listed);
    const path = join(this.#path, LIST);
    const file = openSync(`${path}.new`, "w", 0o600);
    try {
      writeSync(file, `${line}\n${crc32(line)}\n`);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(`${path}.new`, path);
    syncDirectory(path);
  }

  #removeOthers(): void {
    const kept = new Set([LIST, ...this.segments.map(({ name }) => name)]);
    for (const name of readdirSync(this.#path))
      if (!kept.has(name)) rmSync(join(this.#path, name), { force: true });
  }
}

function readList(path: string): ListedSegments {
  if (!existsSync(path)) throw new SegmentDamage("no index yet");
  const [line, sum] = readFileSync(path, "utf8").split("\n");
  if (line === undefined || sum !== String(crc32(line)))
    throw new SegmentDamage("the list of segments has changed");
  return JSON.parse(line) as ListedSegments;
}

function isMissing(error: unknown): boolean {
  return (error as { code?: unknown }).code === "ENOENT";
}
