/**
 * What a draft is planned on, what it receives, and how it reports missing data. Types only: base-state.ts has the
 * state.
 */

import type { Block } from "../model/block.ts";
import type { Conversation, Turn } from "../model/conversation.ts";
import type { AgentId, BlockId, ConversationId } from "../model/ids.ts";
import type { JsonObject } from "../model/json.ts";
import type { Kind, Role, Status } from "../model/kind.ts";
import type { BlockText } from "../text/block-text.ts";

/** What a draft is planned on. `undefined` is "not loaded", null is "does not exist". */
export interface DraftBase {
  readonly conversation: ConversationId;
  readonly record: Conversation;
  block(id: BlockId): Block | null | undefined;
  text(id: BlockId): BlockText | undefined;
  turn(id: string): Turn | undefined;
  /** Whether other nodes' commits were looked for, for the write that is planned now. */
  isFresh(): boolean;
  /** The unit that an agent's next append, or next edit in a burst, belongs to; undefined starts a new one. */
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

/** A unit as it stands after the draft. */
export interface DraftedUnit {
  readonly block: BlockId;
  readonly agent: AgentId;
  readonly type: "append" | "burst" | "other";
  readonly unit: number;
}

/** Thrown by a draft, caught by the write queue alone: this must be loaded first. `news`: what other nodes committed. */
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
