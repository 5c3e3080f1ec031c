/** file.list: what is in a folder of the workspace. */

import { type Call, isProblem, tool } from "@blockyard/kernel";
import { type EntryView, fileList } from "./contract.ts";
import { guardView } from "./file-view.ts";
import type { Files } from "./files.ts";
import { type Entry, listFolder } from "./listing.ts";
import { isUnsaved } from "./unsaved-files.ts";

export const fileListTool = (files: Files) =>
  tool({
    ...fileList,
    description:
      "List a folder of the workspace: paths, types, sizes, and the block_id of files that have been opened. Leaves out " +
      ".git and ignored files. With depth, also lists subfolders, top levels first.",
    access: "read",
    async run(call: Call, { path, ...options }) {
      const place = await files.locate(path === "" ? "." : path, true);
      if (isProblem(place)) return place;
      const listing = await listFolder(files.root, place, options, files.bounds);
      if (isProblem(listing)) return listing;
      const entries = await Promise.all(listing.entries.map((entry) => entryView(call, files, entry)));
      return { path: place.name, entries, more: listing.more };
    },
  });

async function entryView({ kernel }: Call, files: Files, entry: Entry): Promise<EntryView> {
  const id = entry.type === "file" ? files.idOf(entry.path) : undefined;
  const block = id === undefined ? undefined : await kernel.block(id);
  const guard = entry.type === "file" ? guardView(files, entry.path) : {};
  if (block === undefined || isProblem(block)) return { ...entry, ...guard };
  const conflict = block.metadata.conflict !== undefined;
  return { ...entry, ...guard, block_id: block.id, dirty: isUnsaved(block), conflict };
}
