/** Blocks of one conversation, made up one after the other, without a kernel. Only tests use it. */

import type { Kind, LooseBlock, WholeBlock } from "@blockyard/kernel";

let seq = 0;

/** A finished block of a person; `more` overrides fields. */
export function madeBlock(kind: Kind, text: string, more: Partial<LooseBlock> = {}): WholeBlock {
  seq++;
  return {
    id: `c/ann/${seq}`,
    conversation: "c",
    agent: "ann",
    kind,
    role: "user",
    status: "done",
    parent: null,
    side: false,
    version: 1,
    seq,
    born: seq,
    createdAt: 0,
    updatedAt: 0,
    chars: text.length,
    newlines: 0,
    pruned: false,
    promoted: false,
    metadata: {},
    text,
    ...more,
  } as WholeBlock;
}
