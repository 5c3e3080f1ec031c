/**
 * Block patches: what brings a client's copy of a block to the current version, or the whole block if that is smaller
 * or the only way. block.sync and block.subscribe return them; a client needs no merge code.
 *
 * To apply a patch to a text at `from_version`: cut the text to `keep` units if that is given, apply the splices one
 * after the other (UTF-16 offsets), then set the fields. `keep` is for a version inside a merged run: the block only
 * grew during it, so the client's text is a prefix.
 */

import { z } from "zod";
import type { Block } from "../model/block.ts";
import type { BlockId } from "../model/ids.ts";
import type { Kind } from "../model/kind.ts";
import { limits } from "../model/limits.ts";
import type { Metadata } from "../model/metadata.ts";
import { type Op, splicesOf } from "../model/op.ts";
import { isProblem, type Problem, problem } from "../model/problem.ts";
import type { Kernel } from "../write/kernel.ts";
import type { Answer } from "./calls.ts";
import { metadataField, statusField } from "./tool.ts";
import { snapshotSchema, snapshotView } from "./view.ts";

const count = z.number().int();

export const patchSchema = z.object({
  type: z.literal("patch"),
  block_id: z.string(),
  from_version: count,
  version: count,
  seq: count,
  keep: count.optional().describe("First cut the text to this many UTF-16 units"),
  splices: z
    .array(z.object({ at: count, delete_count: count, insert: z.string() }))
    .describe("Applied one after the other, in UTF-16 units"),
  status: statusField,
  pruned: z.boolean(),
  metadata: (metadataField as z.ZodType<Metadata<Kind>>)
    .optional()
    .describe("The whole metadata, if it changed"),
});

export const wholeSchema = snapshotSchema.extend({ type: z.literal("snapshot") });

export type BlockPatch = Answer<typeof patchSchema>;
export type WholePatch = Answer<typeof wholeSchema>;

/** From `version` to now; undefined if that is where the block is. */
export async function patchSince(
  kernel: Kernel,
  id: BlockId,
  version: number,
): Promise<BlockPatch | WholePatch | Problem | undefined> {
  for (let tries = 0; tries < limits.replans; tries++) {
    const block = await kernel.block(id);
    if (isProblem(block)) return block;
    if (block.version === version) return undefined;
    // What a client cannot have (the future) and what it has not (version 0) are answered alike.
    if (version === 0 || version > block.version) return snapshot(kernel, id);
    const log = await kernel.log(id, { version });
    if (isProblem(log)) return log;
    if (log.compacted) return snapshot(kernel, id);
    if (log.ops.at(-1)?.version !== block.version) continue; // it was written to in between
    return patchOf(block, version, log.ops) ?? snapshot(kernel, id);
  }
  return problem("busy", `block ${id} changes faster than it can be read; try again`, { block_id: id });
}

async function snapshot(kernel: Kernel, id: BlockId): Promise<WholePatch | Problem> {
  const whole = await kernel.whole(id);
  return isProblem(whole) ? whole : { type: "snapshot", ...snapshotView(whole) };
}

/** Undefined where the patch would be larger than the text. */
function patchOf(block: Block, from: number, ops: readonly Op[]): BlockPatch | undefined {
  const splices: { at: number; delete_count: number; insert: string }[] = [];
  let keep: number | undefined;
  let chars = 0;
  for (const op of ops) {
    if (op.versionFrom <= from && op.body.type === "append") keep = op.body.at;
    for (const { at, del, ins } of splicesOf(op)) {
      chars += ins.length;
      const last = splices.at(-1);
      if (last && del === "" && at === last.at + last.insert.length) last.insert += ins;
      else splices.push({ at, delete_count: del.length, insert: ins });
    }
  }
  if (chars > block.chars + limits.frameChars / 64 || splices.length > limits.compactAfterOps)
    return undefined;
  return {
    type: "patch",
    block_id: block.id,
    from_version: from,
    version: block.version,
    seq: block.seq,
    ...(keep === undefined ? {} : { keep }),
    splices,
    status: block.status,
    pruned: block.pruned,
    ...(ops.some(changesMetadata) || block.kind === "tool_call" ? { metadata: block.metadata } : {}),
  };
}

function changesMetadata({ body }: Op): boolean {
  return body.type === "meta" || body.type === "status";
}
