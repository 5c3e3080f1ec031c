/** file.resolve: how a conflict between a file's block and the disk ends. */

import { type Call, isProblem, problem, tool } from "@blockyard/kernel";
import { z } from "zod";
import { fileFields, fileSchema, fileView, named } from "./file-view.ts";
import type { Files } from "./files.ts";

const input = z.strictObject({
  ...fileFields,
  take: z
    .enum(["mine", "disk", "text"])
    .describe(
      "mine: the block's text is written to the disk. disk: the block gets the disk's. text: both get content",
    ),
  content: z
    .string()
    .max(10 * 1024 * 1024)
    .optional()
    .describe("The whole merged text, with take text"),
  disk_hash: z
    .string()
    .max(100)
    .nullable()
    .optional()
    .describe("From file.status: refused if the disk has changed since"),
});

export const fileResolve = (files: Files) =>
  tool({
    name: "file.resolve",
    description:
      "End the conflict of a file that was changed here and on the disk in the same lines. What the block loses by it can be " +
      "brought back with block.undo; what the disk loses is kept as a blob of its hash.",
    access: "write",
    input,
    output: fileSchema,
    async run(call: Call, { path, block_id, take, content, disk_hash }) {
      const { kernel, caller, key } = call;
      const id = await named(call, files, { path, block_id });
      if (isProblem(id)) return id;
      if (id === undefined) return problem("invalid", "give path or block_id");
      if (take === "text" && content === undefined) return problem("invalid", "take text needs content");
      const refused = await files.resolve(id, {
        agent: caller.agent,
        ...(key === undefined ? {} : { key }),
        take,
        content,
        diskHash: disk_hash,
      });
      if (refused) return refused;
      const block = await kernel.block(id);
      return isProblem(block) ? block : fileView(files, block);
    },
  });
