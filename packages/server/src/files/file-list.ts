/** file.list: what is in a folder of the workspace. */

import { type Call, isProblem, tool } from "@blockyard/kernel";
import { z } from "zod";
import { bounds } from "./bounds.ts";
import { guardView } from "./file-view.ts";
import type { Files } from "./files.ts";
import { isUnsaved } from "./files.ts";
import { type Entry, listFolder } from "./listing.ts";

const input = z.strictObject({
  path: z.string().max(4_096).default(".").describe("A folder, from the workspace's root"),
  depth: z.number().int().min(1).max(bounds.listDepth).default(1).describe("1: only what is in it"),
  limit: z.number().int().min(1).max(bounds.listEntries).default(500),
  ignored: z.boolean().default(false).describe("Also what .gitignore files name"),
});

const entrySchema = z.object({
  path: z.string().describe("From the workspace's root"),
  type: z.enum(["file", "folder", "link", "other"]),
  bytes: z.number().int().optional(),
  block_id: z.string().optional().describe("If it has been opened"),
  dirty: z.boolean().optional(),
  conflict: z.boolean().optional(),
  guarded: z.string().optional().describe("Why agents and viewers need the owner's grant for it"),
});

export const fileList = (files: Files) =>
  tool({
    name: "file.list",
    description:
      "List a folder of the workspace: paths, types, sizes, and the block_id of files that have been opened. Leaves out " +
      ".git and what .gitignore names. With depth, folders in it too, those at the top first.",
    access: "read",
    input,
    output: z.object({
      path: z.string(),
      entries: z.array(entrySchema),
      more: z.boolean().describe("There is more: list a folder further down, or raise limit"),
    }),
    async run(call: Call, { path, ...options }) {
      const place = await files.locate(path === "" ? "." : path, true);
      if (isProblem(place)) return place;
      const listing = await listFolder(files.root, place, options, files.bounds);
      if (isProblem(listing)) return listing;
      const entries = await Promise.all(listing.entries.map((entry) => entryView(call, files, entry)));
      return { path: place.name, entries, more: listing.more };
    },
  });

async function entryView({ kernel }: Call, files: Files, entry: Entry): Promise<z.infer<typeof entrySchema>> {
  const id = entry.type === "file" ? files.idOf(entry.path) : undefined;
  const block = id === undefined ? undefined : await kernel.block(id);
  const guard = entry.type === "file" ? guardView(files, entry.path) : {};
  if (block === undefined || isProblem(block)) return { ...entry, ...guard };
  const conflict = block.metadata["conflict"] !== undefined;
  return { ...entry, ...guard, block_id: block.id, dirty: isUnsaved(block), conflict };
}
