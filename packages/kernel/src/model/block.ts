/**
 * The block: the smallest addressable content, as a value. Nothing here changes a block (see op.ts for that). Its
 * identity is in ids.ts, its kinds and statuses in kind.ts, the metadata of each kind in metadata.ts.
 */

import type { AgentId, BlockId, ConversationId } from "./ids.ts";
import type { JsonObject } from "./json.ts";
import { isEnded, type Kind, RESULT_KINDS, type Role, type Status } from "./kind.ts";
import type { Metadata } from "./metadata.ts";

/**
 * A block without its text. `version` counts the block's ops, `seq` is the conversation's number of the last of them.
 * `chars` and `newlines` describe the text, so that outlines need not load it.
 */
interface BlockFields {
  readonly id: BlockId;
  readonly conversation: ConversationId;
  readonly agent: AgentId;
  readonly role: Role;
  readonly status: Status;
  readonly parent: BlockId | null;
  /**
   * Whether it hangs off its parent (a tool's result, a sub-agent's work, a notice) instead of continuing the
   * conversation. The path to a head goes over blocks that are not on the side.
   */
  readonly side: boolean;
  readonly version: number;
  readonly seq: number;
  /** Sequence number of the op that created it: the order of blocks in a conversation. */
  readonly born: number;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly chars: number;
  /** Newlines in the text. */
  readonly newlines: number;
  readonly pruned: boolean;
  /** Whether the text is a CRDT document from now on (see text/). */
  readonly promoted: boolean;
}

/** A block of one kind, with the metadata of that kind. */
export type BlockOf<K extends Kind> = K extends Kind
  ? BlockFields & { readonly kind: K; readonly metadata: Metadata<K> }
  : never;

/** A block of any kind: looking at `kind` tells which metadata it has. */
export type Block = BlockOf<Kind>;

/** A block with its text: what exports, snapshots and tests speak of. */
export type WholeBlock = Block & { readonly text: string };

/** A block whose metadata is not tied to its kind yet. */
export interface LooseBlock extends BlockFields {
  readonly kind: Kind;
  readonly metadata: JsonObject;
}

/** What was stored is a block: `checkMetadata` has looked at its metadata before it was written. */
export function blockOf(stored: LooseBlock): Block {
  return stored as Block;
}

/** The block with other metadata of its kind, which was checked as well. */
export function withMetadata<B extends Block>(block: B, metadata: JsonObject): B {
  return { ...block, metadata } as B;
}

/** Whether a block that hangs off a tool call is its result: shown with the call, on the page and in exports. */
export function isResult({ kind, metadata }: Pick<Block, "kind" | "metadata">): boolean {
  if (RESULT_KINDS.includes(kind)) return true;
  return (kind === "image" || kind === "error") && metadata.toolUseId !== undefined;
}

/** Ended because its agent was away for too long: the agent may go on with it. */
export function isLapsed({ status, metadata }: Block): boolean {
  return isEnded(status) && metadata.lapsed === true;
}
