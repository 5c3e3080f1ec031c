/** file.flush: files are on the disk when it answers. */

import { type Call, isProblem, tool } from "@blockyard/kernel";
import { z } from "zod";
import { fileFields, fileSchema, fileView, named } from "./file-view.ts";
import type { Files } from "./files.ts";

export const fileFlush = (files: Files) =>
  tool({
    name: "file.flush",
    description:
      "Save a file now instead of a moment later, or, without one, all that are not saved. Answers with the files as they are " +
      "then: one with a conflict stays dirty.",
    access: "write",
    input: z.strictObject({ ...fileFields }),
    output: z.object({ files: z.array(fileSchema) }),
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
