/**
 * The block: the smallest addressable piece of content, as a value. Nothing here changes a block: ops do (op.ts). Ids are in
 * ids.ts, kinds and statuses in kind.ts, the metadata of each kind in metadata.ts.
 */

import type { AgentId, BlockId, ConversationId } from "./ids.ts";
import type { JsonObject } from "./json.ts";
import { isEnded, type Kind, RESULT_KINDS, type Role, type Status } from "./kind.ts";
import type { Metadata } from "./metadata.ts";

/**
 * A block without its text. `version` counts the block's ops; `seq` is that of the last one. `chars` and `newlines` describe
 * the text, so that outlines need not load it.
 */
interface BlockFields {
  readonly id: BlockId;
  readonly conversation: ConversationId;
  readonly agent: AgentId;
  readonly role: Role;
  readonly status: Status;
  readonly parent: BlockId | null;
  /**
   * Whether the block is attached to its parent (a tool's result, a sub-agent's work, a notice) instead of continuing the
   * conversation. The path to a head contains no such blocks.
   */
  readonly side: boolean;
  readonly version: number;
  readonly seq: number;
  /** The seq of the op that created the block: blocks are ordered by it. */
  readonly born: number;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly chars: number;
  /** Newlines in the text. */
  readonly newlines: number;
  readonly pruned: boolean;
  /** Whether the text is a CRDT document (see text/). */
  readonly promoted: boolean;
}

/** A block of one kind, with the metadata of that kind. */
export type BlockOf<K extends Kind> = K extends Kind
  ? BlockFields & { readonly kind: K; readonly metadata: Metadata<K> }
  : never;

/** A block of any kind: `kind` discriminates the metadata. */
export type Block = BlockOf<Kind>;

/** A block with its text, for exports, snapshots and tests. */
export type WholeBlock = Block & { readonly text: string };

/** A block whose metadata is not tied to its kind yet. */
export interface LooseBlock extends BlockFields {
  readonly kind: Kind;
  readonly metadata: JsonObject;
}

/** Trusts the store: `checkMetadata` checked this metadata before it was written. */
export function blockOf(stored: LooseBlock): Block {
  return stored as Block;
}

/** The block with other metadata of its kind, already checked. */
export function withMetadata<B extends Block>(block: B, metadata: JsonObject): B {
  return { ...block, metadata } as B;
}

/** Whether a block attached to a tool call is its result, which the page and exports show with the call. */
export function isResult({ kind, metadata }: Pick<Block, "kind" | "metadata">): boolean {
  if (RESULT_KINDS.includes(kind)) return true;
  return (kind === "image" || kind === "error") && metadata.toolUseId !== undefined;
}

/** Ended because its agent's lease ended; the agent may continue it. */
export function isLapsed({ status, metadata }: Block): boolean {
  return isEnded(status) && metadata.lapsed === true;
}
