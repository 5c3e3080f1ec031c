/** file.status: whether files are saved, gone, or in conflict with the disk. */

import { type Call, isProblem, tool } from "@blockyard/kernel";
import { z } from "zod";
import { bounds } from "./bounds.ts";
import type { DiskFile } from "./disk-file.ts";
import { fileFields, fileSchema, fileView, named } from "./file-view.ts";
import { type Files, isUnsaved } from "./files.ts";

const input = z.strictObject({
  ...fileFields,
  disk_content: z.boolean().default(false).describe("For one file: also what the disk has"),
  unsaved: z.boolean().default(false).describe("Without a file: only those that are not saved"),
});

const diskSchema = z.object({
  hash: z.string().nullable().describe("For file.resolve; null where there is no file"),
  content: z.string().nullable().describe("null where there is no file, or no text"),
  more: z.boolean().describe("The content was cut"),
});

export const fileStatus = (files: Files) =>
  tool({
    name: "file.status",
    description:
      "Tell whether a file is saved (dirty), whether it exists on the disk, and its conflict if there is one; without a " +
      "file, of all that have been opened. With disk_content: what the disk has, to compare and to merge.",
    access: "read",
    input,
    output: z.object({ files: z.array(fileSchema), more: z.boolean(), disk: diskSchema.optional() }),
    async run(call: Call, { path, block_id, disk_content, unsaved }) {
      const { kernel } = call;
      const id = await named(call, files, { path, block_id });
      if (isProblem(id)) return id;
      if (id !== undefined) {
        await files.touch(id);
        const block = await kernel.block(id);
        if (isProblem(block)) return block;
        const disk = disk_content ? await files.disk(id) : undefined;
        if (isProblem(disk)) return disk;
        return { files: [fileView(files, block)], more: false, ...(disk ? { disk: diskView(disk) } : {}) };
      }
      const blocks = await Promise.all(files.ids().map((each) => kernel.block(each)));
      const rows = blocks.flatMap((block) =>
        isProblem(block) || (unsaved && !isUnsaved(block)) ? [] : [block],
      );
      return {
        files: rows.slice(0, bounds.statusRows).map((block) => fileView(files, block)),
        more: rows.length > bounds.statusRows,
      };
    },
  });

function diskView(disk: DiskFile): z.infer<typeof diskSchema> {
  if (disk.type === "absent") return { hash: null, content: null, more: false };
  if (disk.type === "unreadable") return { hash: disk.hash, content: null, more: false };
  const content = disk.text.slice(0, bounds.diskChars).toWellFormed();
  return { hash: disk.hash, content, more: disk.text.length > bounds.diskChars };
}
