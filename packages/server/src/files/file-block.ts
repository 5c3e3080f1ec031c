/**
 * A file as a block: what its metadata says, and the plans that change it. Plans run inside the kernel's write path, on the
 * text as it is then; they look at no disk.
 *
 * `persistedVersion` is the version whose text was last on the disk and in the block alike; a plan that leaves both equal
 * sets it to the version that it leads to, its own op included. `baseHash` is the hash of the disk's bytes that were last
 * taken in: while the disk still has them, nothing has changed there. Without it, no file is expected there.
 */

import {
  type Block,
  type BlockId,
  cleanText,
  type Draft,
  type FileConflict,
  isProblem,
  type JsonObject,
  type Metadata,
  type Problem,
  problem,
  type Splice,
  sameJson,
} from "@blockyard/kernel";
import { languageOf } from "@blockyard/providers";
import type { DiskFile, DiskText } from "./disk-file.ts";
import { eolOf } from "./encoding.ts";
import { bounds } from "./limits.ts";
import { linesOf } from "./line-diff.ts";
import type { CleanPath } from "./path.ts";
import { mergeTexts, type Region, splicesBetween } from "./three-way.ts";

/** Under which name the disk writes. No credential has it. */
export const DISK = "disk";

export type FileMetadata = Metadata<"file">;
export type Conflict = FileConflict;

/** What both sides had last. */
export interface Base {
  /** Undefined where it cannot be known any more. */
  readonly text: string | undefined;
  /** Of the bytes on the disk; null where no file is expected. */
  readonly hash: string | null;
  readonly hasBom: boolean;
}

type Taken = "taken" | "conflict";

/** The first block of a path, and, with the first file, the conversation of them all. */
export function createFile(draft: Draft, title: string, path: CleanPath, disk: DiskText) {
  if (draft.record.seq === 0) draft.conversation({ title });
  const language = languageOf(path.name);
  return draft.create({
    kind: "file",
    role: "system",
    status: "running",
    text: disk.text,
    metadata: {
      path: path.name,
      ...(language === undefined ? {} : { language }),
      persistedVersion: 1,
      ...looksOf(disk),
    },
  });
}

/** What the disk has now comes into the block, or a conflict does. */
export function takeIn(draft: Draft, id: BlockId, base: Base, disk: DiskFile): Taken | Problem {
  const block = draft.block(id);
  if (isProblem(block)) return block;
  const path = block.metadata.path ?? "";
  const mine = draft.text(id).toString();
  const isClean = block.version === block.metadata.persistedVersion;
  const known = base.text ?? (isClean ? mine : undefined);
  if (disk.type === "absent" && base.hash === null) return clear(draft, id);
  if (disk.type === "absent") return takeLoss(draft, id, path, mine === known);
  if (disk.type === "unreadable") {
    const message = `the file on disk cannot be opened: ${disk.problem.message}`;
    return setConflict(draft, id, { kind: "unreadable", message, diskHash: disk.hash });
  }
  if (mine === disk.text) return settle(draft, id, [], disk, true);
  const merge =
    known === undefined
      ? ({ type: "overlap", regions: [everything(mine, disk.text)] } as const)
      : mergeTexts(known, mine, disk.text);
  if (merge.type === "merged") return settle(draft, id, merge.splices, disk, mine === known);
  const message = `${path} was changed on disk in lines that were also changed here`;
  const regions = merge.regions.slice(0, bounds.regions);
  return setConflict(draft, id, { kind: "overlap", message, diskHash: disk.hash, regions });
}

/** The text of a version was written to the disk. */
export function persisted(draft: Draft, id: BlockId, version: number, disk: DiskText): null | Problem {
  const block = draft.block(id);
  if (isProblem(block)) return block;
  const isSame = block.version === version || draft.text(id).toString() === disk.text;
  const after = patch(draft, id, {
    persistedVersion: isSame ? block.version + 1 : version,
    missing: null,
    conflict: null,
    ...looksOf(disk),
  });
  return isProblem(after) ? after : null;
}

/**
 * How a conflict ends: with the block's text as it is, or with another one, over what the disk has. `isLeftAbsent`: where
 * the disk has nothing, that is how it stays.
 */
export function endConflict(
  draft: Draft,
  id: BlockId,
  text: string | undefined,
  disk: DiskFile,
  isLeftAbsent = false,
): { readonly version: number } | Problem {
  const mine = draft.text(id).toString();
  const splices = text === undefined ? [] : splicesBetween(mine, cleanText(text));
  if (splices.length > 0) {
    const spliced = draft.splice(id, splices);
    if (isProblem(spliced)) return spliced;
  }
  const block = draft.block(id);
  if (isProblem(block)) return block;
  const isSame = disk.type === "text" ? (text ?? mine) === disk.text : isLeftAbsent;
  const hash = disk.type === "absent" ? null : disk.hash;
  const after = patch(draft, id, {
    conflict: null,
    missing: disk.type === "absent" ? true : null,
    baseHash: hash,
    ...(isSame ? { persistedVersion: block.version + 1 } : {}),
  });
  return isProblem(after) ? after : { version: after.version };
}

/** Edits as an agent's own, if the text is what the agent has seen. */
export function replaceText(
  draft: Draft,
  id: BlockId,
  before: string,
  after: string,
): { readonly version: number } | Problem {
  const block = draft.block(id);
  if (isProblem(block)) return block;
  if (draft.text(id).toString() !== before) {
    return problem("conflict", `${block.metadata.path} changed in the meantime; read it and try again`, {
      block_id: id,
      version: block.version,
    });
  }
  const splices = splicesBetween(before, cleanText(after));
  const spliced = splices.length === 0 ? block : draft.splice(id, splices);
  return isProblem(spliced) ? spliced : { version: spliced.version };
}

function settle(
  draft: Draft,
  id: BlockId,
  splices: readonly Splice[],
  disk: DiskText,
  isSame: boolean,
): Taken | Problem {
  const spliced = splices.length === 0 ? draft.block(id) : draft.splice(id, splices);
  if (isProblem(spliced)) return spliced;
  const saved = isSame ? { persistedVersion: spliced.version + 1 } : {};
  const after = patch(draft, id, { conflict: null, missing: null, ...saved, ...looksOf(disk) });
  return isProblem(after) ? after : "taken";
}

/** There is nothing on the disk, and nothing was expected there. */
function clear(draft: Draft, id: BlockId): Taken | Problem {
  const after = patch(draft, id, { conflict: null });
  return isProblem(after) ? after : "taken";
}

function takeLoss(draft: Draft, id: BlockId, path: string, isSame: boolean): Taken | Problem {
  if (!isSame) {
    const message = `${path} was deleted on disk and edited here`;
    return setConflict(draft, id, { kind: "deleted", message, diskHash: null });
  }
  const block = draft.block(id);
  if (isProblem(block)) return block;
  const { missing, conflict, persistedVersion } = block.metadata;
  if (missing === true && conflict === undefined && persistedVersion === block.version) return "taken";
  const after = patch(draft, id, { missing: true, conflict: null, persistedVersion: block.version + 1 });
  return isProblem(after) ? after : "taken";
}

/** Writes nothing where the same is said already. */
function setConflict(draft: Draft, id: BlockId, conflict: Omit<Conflict, "at">): Taken | Problem {
  const block = draft.block(id);
  if (isProblem(block)) return block;
  const isMissing = conflict.kind === "deleted";
  const { at: _, ...said } = block.metadata.conflict ?? { at: 0 };
  if (sameJson(said, conflict)) return "conflict";
  const after = patch(draft, id, {
    conflict: { ...conflict, at: draft.at },
    missing: isMissing ? true : null,
  });
  return isProblem(after) ? after : "conflict";
}

/** Only what differs from what the metadata says already. */
function patch(draft: Draft, id: BlockId, wanted: JsonObject): Block | Problem {
  const block = draft.block(id);
  if (isProblem(block)) return block;
  const news = Object.entries(wanted).filter(([key, value]) => {
    const present = (block.metadata as JsonObject)[key];
    return value === null ? present !== undefined : present === undefined || !sameJson(present, value);
  });
  return news.length === 0 ? block : draft.meta(id, Object.fromEntries(news));
}

function looksOf({ text, hasBom, hash }: DiskText): JsonObject {
  return { baseHash: hash, eol: eolOf(text), encoding: hasBom ? "utf-8-bom" : "utf-8" };
}

function everything(mine: string, theirs: string): Region {
  return { line: 0, lines: linesOf(mine).length, diskLine: 0, diskLines: linesOf(theirs).length };
}
