/** file.flush: files are on the disk when it answers. */

import { type Call, isProblem, tool } from "@blockyard/kernel";
import { fileFlush } from "./contract.ts";
import { fileView, named } from "./file-view.ts";
import type { Files } from "./files.ts";

export const fileFlushTool = (files: Files) =>
  tool({
    ...fileFlush,
    description:
      "Save a file now instead of a moment later or, without a path, all unsaved files. Returns their state " +
      "afterwards: a file with a conflict stays dirty.",
    access: "write",
    async run(call: Call, { path, block_id }) {
      const { kernel, caller } = call;
      const id = await named(call, files, { path, block_id });
      if (isProblem(id)) return id;
      const asked = id === undefined ? files.unsaved() : [id];
      const rows = [];
      for (const each of asked) {
        await kernel.drain(each, caller.agent);
        const refused = await files.flush(each);
        if (refused && id !== undefined) return refused;
        const block = await kernel.block(each);
        if (!isProblem(block)) rows.push(fileView(files, block));
      }
      return { files: rows };
    },
  });
