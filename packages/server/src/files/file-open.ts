/** file.open: a file of the workspace as a block. And how block.create makes one, under the same checks. */

import { type Call, type FilePort, isProblem, problem, tool } from "@blockyard/kernel";
import { z } from "zod";
import { fileSchema, fileView, pathField } from "./file-view.ts";
import type { Files } from "./files.ts";

const input = z.strictObject({
  path: pathField,
  create: z.boolean().default(false).describe("Make the file, and the folders above it, if it is not there"),
  content: z
    .string()
    .max(10 * 1024 * 1024)
    .optional()
    .describe("What a file that is made begins with; a file that is there keeps what it has"),
});

export const fileOpen = (files: Files) =>
  tool({
    name: "file.open",
    description:
      "Get the block of a file of the workspace by its path. All block tools work on it: read with block.read, edit with " +
      "block.edit, block.apply_patch or block.splice, undo with block.undo. Edits are saved to the disk by themselves a " +
      "moment later (file.flush: now), and what others write to the file appears in the block. Text files in UTF-8 only.",
    access: "write",
    input,
    output: fileSchema.extend({ created: z.boolean() }),
    async run({ caller }: Call, { path, create, content }) {
      const opening = { agent: caller.agent, isOwner: caller.role === "owner", create, content };
      const opened = await files.open(path, opening);
      if (isProblem(opened)) return opened;
      return { ...fileView(files, opened.block), created: opened.created };
    },
  });

/** For block.create. Its content never takes the place of what a file has. `permitted`: guarded files that were asked for. */
export const filePort = (files: Files, permitted: readonly string[] = []): FilePort => ({
  async create({ agent, role }, path, content) {
    const place = permitted.length === 0 ? undefined : await files.locate(path);
    const isPermitted = place !== undefined && !isProblem(place) && permitted.includes(place.name);
    const opening = { agent, isOwner: role === "owner" || isPermitted, create: true, content };
    const opened = await files.open(path, opening);
    if (isProblem(opened) || opened.created || content === undefined)
      return isProblem(opened) ? opened : opened.block;
    const { id, version, metadata } = opened.block;
    return problem(
      "conflict",
      `${String(metadata["path"])} is there already; nothing was written. Edit its block with block.edit`,
      { block_id: id, version },
    );
  },
});
