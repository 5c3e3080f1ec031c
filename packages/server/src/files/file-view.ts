/** How a file looks in the answers of the file tools, and how callers name one. */

import {
  type Block,
  type BlockId,
  type Call,
  isProblem,
  metadataOf,
  type Problem,
  problem,
} from "@blockyard/kernel";
import type { FileView } from "./contract.ts";
import type { Conflict } from "./file-block.ts";
import { notAFile } from "./file-index.ts";
import type { Files } from "./files.ts";
import { isUnsaved } from "./unsaved-files.ts";

export function fileView(files: Files, block: Block): FileView {
  const { path, persistedVersion = 0, missing, language, eol, encoding } = metadataOf(block, "file");
  const { conflict } = block.metadata;
  return {
    block_id: block.id,
    conversation: block.conversation,
    path,
    version: block.version,
    persisted_version: persistedVersion,
    dirty: isUnsaved(block),
    exists: missing !== true,
    conflict: conflict === undefined ? null : conflictView(conflict),
    error: files.failureOf(block.id)?.message ?? null,
    chars: block.chars,
    newlines: block.newlines,
    ...guardView(files, path),
    ...(language === undefined ? {} : { language }),
    ...(eol === undefined ? {} : { eol }),
    ...(encoding === undefined ? {} : { encoding }),
  };
}

export function guardView(files: Files, path: string): { readonly guarded?: string } {
  const reason = files.guarded.reasonOf(path);
  return reason === undefined ? {} : { guarded: reason };
}

function conflictView({ kind, message, diskHash, regions = [], at }: Conflict): FileView["conflict"] {
  return {
    kind,
    message,
    disk_hash: diskHash,
    regions: regions.map(({ line, lines, diskLine, diskLines }) => ({
      line,
      lines,
      disk_line: diskLine,
      disk_lines: diskLines,
    })),
    at,
  };
}

interface Named {
  readonly path?: string | undefined;
  readonly block_id?: string | undefined;
}

/** The file that was named, if its caller may see it; undefined where none was. */
export async function named(call: Call, files: Files, file: Named): Promise<BlockId | undefined | Problem> {
  const id = await find(files, file);
  if (id === undefined || isProblem(id) || call.caller.role === "owner") return id;
  const block = await call.kernel.block(id);
  if (isProblem(block)) return block;
  return files.guarded.guards(block, call.caller.agent) ?? id;
}

async function find(files: Files, { path, block_id }: Named): Promise<BlockId | undefined | Problem> {
  await files.ready();
  if (block_id !== undefined) {
    if (!files.isFile(block_id)) return notAFile(block_id);
    return block_id;
  }
  if (path === undefined) return undefined;
  const place = await files.locate(path);
  if (isProblem(place)) return place;
  const id = files.idOf(place.name);
  return (
    id ?? problem("not_found", `${place.name} has no block yet; open it with file.open`, { path: place.name })
  );
}
