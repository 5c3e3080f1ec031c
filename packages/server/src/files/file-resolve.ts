/** file.resolve: how a conflict between a file's block and the disk ends. */

import { type Call, isProblem, problem, tool } from "@blockyard/kernel";
import { fileResolve } from "./contract.ts";
import { fileView, named } from "./file-view.ts";
import type { Files } from "./files.ts";

export const fileResolveTool = (files: Files) =>
  tool({
    ...fileResolve,
    description:
      "Resolve the conflict of a file whose same lines were changed here and on disk. Text that the block loses can be " +
      "restored with block.undo; text that the disk loses is kept as a blob under its hash.",
    access: "write",
    async run(call: Call, { path, block_id, take, content, disk_hash }) {
      const { kernel, caller, key } = call;
      const id = await named(call, files, { path, block_id });
      if (isProblem(id)) return id;
      if (id === undefined) return problem("invalid", "pass path or block_id");
      if (take === "text" && content === undefined) return problem("invalid", "take: text needs content");
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
