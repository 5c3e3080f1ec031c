/** What the tools of files take and answer. Schemas only, and nothing of Node: programs that call them see these types. */

import { contract } from "@blockyard/kernel";
import { z } from "zod";
import { bounds } from "./limits.ts";

const count = z.number().int();

const fileSchema = z.object({
  block_id: z.string(),
  conversation: z.string(),
  path: z.string().describe("Relative to the workspace root"),
  version: count,
  persisted_version: count.describe("The version on disk"),
  dirty: z.boolean().describe("version is newer than persisted_version"),
  exists: z.boolean().describe("Whether the file exists on disk"),
  conflict: z
    .object({
      kind: z.enum(["overlap", "deleted", "unreadable"]),
      message: z.string(),
      disk_hash: z.string().nullable().describe("Hash of the text on disk; for file.resolve"),
      regions: z
        .array(z.object({ line: count, lines: count, disk_line: count, disk_lines: count }))
        .describe("Lines of the block and of the text on disk that both sides changed; 0-based"),
      at: z.number(),
    })
    .nullable()
    .describe("Why the file is not saved; resolve it with file.resolve"),
  guarded: z
    .string()
    .optional()
    .describe("Why agents and viewers need a grant (file.grant) to read and edit it"),
  error: z.string().nullable().describe("Why the last save failed; it is retried"),
  chars: count,
  newlines: count,
  language: z.string().optional(),
  eol: z.enum(["lf", "crlf"]).optional(),
  encoding: z.string().optional(),
});

export type FileView = z.infer<typeof fileSchema>;

const pathField = z.string().min(1).max(4_096).describe("Relative to the workspace root, with slashes");

/** Either of the two names a file that is open. */
const fileFields = {
  path: pathField.optional(),
  block_id: z.string().min(1).max(200).optional().describe("As returned by file.open; instead of path"),
};

const contentField = z.string().max(bounds.fileBytes);

const entrySchema = z.object({
  path: z.string().describe("Relative to the workspace root"),
  type: z.enum(["file", "folder", "link", "other"]),
  bytes: count.optional(),
  block_id: z.string().optional().describe("If the file has been opened"),
  dirty: z.boolean().optional(),
  conflict: z.boolean().optional(),
  guarded: z.string().optional().describe("Why agents and viewers need a grant for it"),
});

export type EntryView = z.infer<typeof entrySchema>;

export const fileList = contract({
  name: "file.list",
  input: z.strictObject({
    path: z.string().max(4_096).default(".").describe("A folder, relative to the workspace root"),
    depth: count.min(1).max(bounds.listDepth).default(1).describe("1: only its direct entries"),
    limit: count.min(1).max(bounds.listEntries).default(500),
    ignored: z.boolean().default(false).describe("Include files that .gitignore excludes"),
  }),
  output: z.object({
    path: z.string(),
    entries: z.array(entrySchema),
    more: z.boolean().describe("There is more: list a subfolder or raise limit"),
  }),
});

export const fileOpen = contract({
  name: "file.open",
  input: z.strictObject({
    path: pathField,
    create: z.boolean().default(false).describe("Create the file and its folders if it does not exist"),
    content: contentField
      .optional()
      .describe("Initial content of a created file; an existing file keeps its content"),
  }),
  output: fileSchema.extend({ created: z.boolean() }),
});

const diskSchema = z.object({
  hash: z.string().nullable().describe("For file.resolve; null where there is no file"),
  content: z.string().nullable().describe("null where there is no file, or no text"),
  more: z.boolean().describe("The content was truncated"),
});

export type DiskView = z.infer<typeof diskSchema>;

export const fileStatus = contract({
  name: "file.status",
  input: z.strictObject({
    ...fileFields,
    disk_content: z.boolean().default(false).describe("For one file: also return the text on disk"),
    unsaved: z.boolean().default(false).describe("Without a file: only unsaved files"),
  }),
  output: z.object({ files: z.array(fileSchema), more: z.boolean(), disk: diskSchema.optional() }),
});

export const fileFlush = contract({
  name: "file.flush",
  input: z.strictObject({ ...fileFields }),
  output: z.object({ files: z.array(fileSchema) }),
});

export const fileResolve = contract({
  name: "file.resolve",
  input: z.strictObject({
    ...fileFields,
    take: z
      .enum(["mine", "disk", "text"])
      .describe(
        "mine: write the block's text to disk. disk: take the disk's text into the block. text: write content to both",
      ),
    content: contentField.optional().describe("The whole merged text, with take text"),
    disk_hash: z
      .string()
      .max(100)
      .nullable()
      .optional()
      .describe("From file.status: the call is refused if the file on disk has changed since"),
  }),
  output: fileSchema,
});

const agentField = z
  .string()
  .min(1)
  .max(64)
  .optional()
  .describe("Only for this agent or viewer. Default: for all");

const grantsSchema = z.object({
  grants: z.array(
    z.object({
      path: z.string(),
      agent: z.string().optional().describe("Absent: all agents and viewers"),
      by: z.string(),
      at: z.number(),
      reason: z.string().describe("Why the file is guarded; empty if it no longer is"),
    }),
  ),
});

export type GrantsView = z.infer<typeof grantsSchema>;

export const fileGrant = contract({
  name: "file.grant",
  input: z.strictObject({ path: pathField, agent: agentField }),
  output: grantsSchema,
});

export const fileRevoke = contract({
  name: "file.revoke",
  input: z.strictObject({ path: pathField, agent: agentField }),
  output: grantsSchema,
});

export const fileGrants = contract({ name: "file.grants", input: z.strictObject({}), output: grantsSchema });

/** What a program can request of files. */
export const fileContracts = [
  fileList,
  fileOpen,
  fileStatus,
  fileFlush,
  fileResolve,
  fileGrant,
  fileRevoke,
  fileGrants,
] as const;
