/**
 * Runs and chunks: how the ops of one owner (a block, or a conversation's own ops) lie in the `chunk` table, and how
 * little rows become large ones. No SQL here.
 *
 * Consecutive appends of one unit are merged into one op, a run, so that a stored text does not remember how finely its
 * stream was cut. Runs and the other ops follow each other in chunks, compressed. New ops become a chunk of their own;
 * it takes in the chunks before it as long as they are small and at most twice as large as what is gathered so far. So a
 * growing block has a number of chunks that is logarithmic in its small end, and every byte is rewritten as
 * often as that at most. A block that has ended takes in all its small chunks.
 */

import type { Op } from "@blockyard/kernel";
import { type BlockId, type ConversationId, continues } from "@blockyard/kernel/plain";
import { ByteReader, ByteWriter } from "./bytes.ts";
import { readOp, writeOp } from "./codec.ts";
import { FULL_CHUNK_BYTES } from "./limits.ts";

/** The last chunks (given newest first) to merge with the new bytes. */
export function chunksToMerge<C extends { readonly plain: number }>(
  newestFirst: Iterable<C>,
  newBytes: number,
  ended: boolean,
): C[] {
  let size = newBytes;
  const merged: C[] = [];
  for (const chunk of newestFirst) {
    if (chunk.plain >= FULL_CHUNK_BYTES || size >= FULL_CHUNK_BYTES) break;
    if (!ended && chunk.plain > 2 * size) break;
    size += chunk.plain;
    merged.push(chunk);
  }
  return merged;
}

/** The same ops with consecutive appends of one undo step merged into runs. */
export function mergeRuns(ops: readonly Op[]): Op[] {
  const merged: Op[] = [];
  for (let from = 0; from < ops.length; ) {
    const first = ops[from] as Op;
    let to = from + 1;
    while (to < ops.length && continues(ops[to - 1] as Op, ops[to] as Op)) to++;
    const text = () => ops.slice(from, to).map(textOfAppend).join("");
    merged.push(to === from + 1 ? first : joinRun(first, ops[to - 1] as Op, text()));
    from = to;
  }
  return merged;
}

/** The part of a run after a version inside it, given where in the block's text that part begins. */
export function cutRun(op: Op, version: number, at: number): Op {
  if (op.body.type !== "append" || op.versionFrom > version) return op;
  const text = op.body.text.slice(at - op.body.at);
  return { ...op, versionFrom: version + 1, body: { type: "append", at, text } };
}

/** The bytes of ops: the writer's own, overwritten by its next use. */
export function encodeOps(ops: readonly Op[], writer = new ByteWriter()): Uint8Array {
  writer.clear();
  for (const op of ops) writeOp(writer, op);
  return writer.view();
}

export function decodeOps(bytes: Uint8Array, conversation: ConversationId, block: BlockId | null): Op[] {
  const reader = new ByteReader(bytes);
  const ops: Op[] = [];
  while (!reader.done) ops.push(readOp(reader, conversation, block));
  return ops;
}

/** One op for appends that continue each other, given the first, the last and the text of all of them. */
export function joinRun(first: Op, last: Op, text: string): Op {
  const at = first.body.type === "append" ? first.body.at : 0;
  return {
    ...last,
    seqFrom: first.seqFrom,
    versionFrom: first.versionFrom,
    body: { type: "append", at, text },
  };
}

function textOfAppend({ body }: Op): string {
  return body.type === "append" ? body.text : "";
}
