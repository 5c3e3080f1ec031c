/**
 * The workspace files that a tool's input names by their blocks, for every tool that takes a block: so that the check
 * of what a call would touch does not need to know the tool.
 */

import { type Block, isProblem, type Kernel, parseBlockId } from "@blockyard/kernel";
import { DISK } from "./file-block.ts";
import { NAMED_DEPTH } from "./limits.ts";

const NAMING = new Set(["block_id", "parent_id", "block", "head"]);

export async function fileBlocksIn(kernel: Kernel, input: unknown): Promise<readonly Block[]> {
  const found: Block[] = [];
  for (const id of idsIn(input)) {
    const block = await kernel.block(id);
    if (!isProblem(block) && block.kind === "file") found.push(block);
  }
  return found;
}

/** Their paths, from the workspace's root. */
export async function filesIn(kernel: Kernel, input: unknown): Promise<readonly string[]> {
  return (await fileBlocksIn(kernel, input)).map(({ metadata }) => metadata.path ?? "");
}

/** Blocks of files are the disk's: no other need be looked at. */
function idsIn(input: unknown, depth = NAMED_DEPTH): readonly string[] {
  if (typeof input !== "object" || input === null || depth === 0) return [];
  return Object.entries(input).flatMap(([key, value]) => {
    if (typeof value !== "string") return idsIn(value, depth - 1);
    return NAMING.has(key) && parseBlockId(value)?.agent === DISK ? [value] : [];
  });
}
