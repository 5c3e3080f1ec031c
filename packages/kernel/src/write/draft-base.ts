/**
 * The interfaces of a draft: what it is planned on, its inputs, and `Missing`, which it throws if something is not loaded.
 * Types only: the state is in base-state.ts.
 */

import type { Block } from "../model/block.ts";
import type { Conversation, Turn } from "../model/conversation.ts";
import type { AgentId, BlockId, ConversationId } from "../model/ids.ts";
import type { JsonObject } from "../model/json.ts";
import type { Kind, Role, Status } from "../model/kind.ts";
import type { BlockText } from "../text/block-text.ts";

/** The state a draft is planned on. `undefined` means not loaded, null means it does not exist. */
export interface DraftBase {
  readonly conversation: ConversationId;
  readonly record: Conversation;
  block(id: BlockId): Block | null | undefined;
  text(id: BlockId): BlockText | undefined;
  turn(id: string): Turn | undefined;
  /** Whether other nodes' commits were already read for the write being planned. */
  isFresh(): boolean;
  /** The undo step that an agent's next append, or next edit in a burst, belongs to; undefined starts a new one. */
  openUnit(block: BlockId, agent: AgentId, type: "append" | "burst"): number | undefined;
}

/** A block that a draft is to create. */
export interface NewBlock {
  readonly kind: Kind;
  readonly role: Role;
  readonly parent?: BlockId | null;
  readonly side?: boolean;
  readonly status?: Status;
  readonly text?: string;
  readonly metadata?: JsonObject;
}

/** An undo step after the draft. */
export interface DraftedUnit {
  readonly block: BlockId;
  readonly agent: AgentId;
  readonly type: "append" | "burst" | "other";
  readonly unit: number;
}

/** Thrown by a draft, caught only by the write queue: this must be loaded first. `news`: other nodes' commits. */
export class Missing {
  readonly what:
    | { readonly block: BlockId }
    | { readonly text: BlockId }
    | { readonly undo: BlockId }
    | { readonly news: true };
  constructor(what: Missing["what"]) {
    this.what = what;
  }
}
