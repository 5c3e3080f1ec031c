/** file.status: whether files are saved, gone, or in conflict with the disk. */

import { type Call, isProblem, tool } from "@blockyard/kernel";
import { type DiskView, fileStatus } from "./contract.ts";
import type { DiskFile } from "./disk-file.ts";
import { fileView, named } from "./file-view.ts";
import type { Files } from "./files.ts";
import { bounds } from "./limits.ts";
import { isUnsaved } from "./unsaved-files.ts";

export const fileStatusTool = (files: Files) =>
  tool({
    ...fileStatus,
    description:
      "Report whether a file is saved (dirty), whether it exists on disk, and its conflict if any; without a " +
      "file, for all opened files. With disk_content: the text on disk, to compare and merge.",
    access: "read",
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

function diskView(disk: DiskFile): DiskView {
  if (disk.type === "absent") return { hash: null, content: null, more: false };
  if (disk.type === "unreadable") return { hash: disk.hash, content: null, more: false };
  const content = disk.text.slice(0, bounds.diskChars).toWellFormed();
  return { hash: disk.hash, content, more: disk.text.length > bounds.diskChars };
}
