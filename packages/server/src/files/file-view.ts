/** How a file looks in the answers of the file tools, and how callers name one. */

import { type Block, type BlockId, type Call, isProblem, type Problem, problem } from "@blockyard/kernel";
import { z } from "zod";
import type { Conflict, FileMetadata } from "./file-block.ts";
import { type Files, isUnsaved, notAFile } from "./files.ts";

const count = z.number().int();

export const fileSchema = z.object({
  block_id: z.string(),
  conversation: z.string(),
  path: z.string().describe("From the workspace's root"),
  version: count,
  persisted_version: count.describe("The version that is on the disk"),
  dirty: z.boolean().describe("version is newer than persisted_version"),
  exists: z.boolean().describe("Whether there is such a file on the disk"),
  conflict: z
    .object({
      kind: z.enum(["overlap", "deleted", "unreadable"]),
      message: z.string(),
      disk_hash: z.string().nullable().describe("Of what the disk has; for file.resolve"),
      regions: z
        .array(z.object({ line: count, lines: count, disk_line: count, disk_lines: count }))
        .describe("Lines of the block, and of the disk's text, that both sides have changed; 0-based"),
      at: z.number(),
    })
    .nullable()
    .describe("Why it is not saved; file.resolve ends it"),
  guarded: z
    .string()
    .optional()
    .describe("Why agents and viewers need the owner's grant (file.grant) to read and edit it"),
  error: z.string().nullable().describe("Why the last save failed; it is tried again"),
  chars: count,
  newlines: count,
  language: z.string().optional(),
  eol: z.enum(["lf", "crlf"]).optional(),
  encoding: z.string().optional(),
});

export type FileView = z.infer<typeof fileSchema>;

export function fileView(files: Files, block: Block): FileView {
  const { path, persistedVersion = 0, missing, language, eol, encoding } = block.metadata as FileMetadata;
  const conflict = block.metadata["conflict"] as unknown as Conflict | undefined;
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
  const reason = files.reasonOf(path);
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

export const pathField = z.string().min(1).max(4_096).describe("From the workspace's root, with slashes");

/** Either of the two names a file that is open. */
export const fileFields = {
  path: pathField.optional(),
  block_id: z.string().min(1).max(200).optional().describe("As file.open answered; instead of path"),
};

export interface Named {
  readonly path?: string | undefined;
  readonly block_id?: string | undefined;
}

/** The file that was named, if its caller may see it; undefined where none was. */
export async function named(call: Call, files: Files, file: Named): Promise<BlockId | undefined | Problem> {
  const id = await find(files, file);
  if (id === undefined || isProblem(id) || call.caller.role === "owner") return id;
  const block = await call.kernel.block(id);
  if (isProblem(block)) return block;
  return files.guards(block, call.caller.agent) ?? id;
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
    id ?? problem("not_found", `${place.name} has no block yet; file.open gives it one`, { path: place.name })
  );
}
