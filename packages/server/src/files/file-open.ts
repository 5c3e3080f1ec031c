/** file.open: a file of the workspace as a block. And how block.create makes one, under the same checks. */

import { type Call, type FilePort, isProblem, problem, tool } from "@blockyard/kernel";
import { fileOpen } from "./contract.ts";
import { fileView } from "./file-view.ts";
import type { Files } from "./files.ts";

export const fileOpenTool = (files: Files) =>
  tool({
    ...fileOpen,
    description:
      "Open a workspace file by path and return its block. All block tools work on it: read with block.read, edit with " +
      "block.edit, block.apply_patch or block.splice, undo with block.undo. Edits are saved to disk automatically a " +
      "moment later (file.flush: now), and changes to the file on disk appear in the block. UTF-8 text files only.",
    access: "write",
    async run({ caller }: Call, { path, create, content }) {
      const opening = { agent: caller.agent, isOwner: caller.role === "owner", create, content };
      const opened = await files.open(path, opening);
      if (isProblem(opened)) return opened;
      return { ...fileView(files, opened.block), created: opened.created };
    },
  });

/** For block.create. Its content never replaces a file's. `permitted`: guarded files with approval. */
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
      `${metadata.path} already exists; nothing was written. Edit its block with block.edit`,
      { block_id: id, version },
    );
  },
});
