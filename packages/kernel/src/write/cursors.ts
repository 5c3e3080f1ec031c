/**
 * Cursors and selections of people and agents in a block's text. Ephemeral: kept in memory, never stored, removed
 * `limits.cursorTtlMs` after their owner's last update.
 *
 * A cursor is set by its owner, or by an edit of its owner: then it is at the end of the edit.
 *
 * Invariant: a cursor's offsets refer to the committed text that was last emitted to listeners. Every emitted op moves them: a
 * cursor stays before what others insert at its position, and collapses when its text is deleted.
 */

import type { Block } from "../model/block.ts";
import type { Change } from "../model/change.ts";
import type { Cursor, RemoteCursor } from "../model/cursor.ts";
import type { AgentId, BlockId, ConversationId } from "../model/ids.ts";
import { limits } from "../model/limits.ts";
import { type Op, splicesOf } from "../model/op.ts";
import { isProblem, type Problem, problem } from "../model/problem.ts";
import type { Env } from "../ports/env.ts";
import { mapOffset } from "../text/text.ts";
import type { Kernel } from "./kernel.ts";

interface Kept {
  cursor: Cursor;
  readonly conversation: ConversationId;
  /** The version that the offsets belong to. */
  version: number;
  expiresAt: number;
}

/** The agent of changes on disk: it has no cursor. */
const NOBODY = "disk";

export class Cursors {
  readonly #env: Env;
  readonly #kept = new Map<string, Kept>();
  readonly #listeners = new Set<(conversation: ConversationId) => void>();
  readonly #stopListening: () => void;
  #cancelSweep: (() => void) | undefined;
  /** Called when an owner sets a cursor here, not when an edit or another node moves it. */
  onSet: ((said: RemoteCursor) => void) | undefined;

  constructor(kernel: Kernel) {
    this.#env = kernel.env;
    this.#stopListening = kernel.listen((change) => this.#follow(change));
  }

  /** Calls back when a cursor of a conversation was set or removed, not when edits by others move it. */
  listen(listener: (conversation: ConversationId) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  of(conversation: ConversationId): readonly Cursor[] {
    this.#dropOld();
    return [...this.#kept.values()]
      .filter((kept) => kept.conversation === conversation)
      .map(({ cursor }) => cursor);
  }

  /**
   * Sets an agent's only cursor. `version` is the block version of the offsets, `ops` the block's later ops as far as the caller
   * knows them; from then on the cursor moves with each commit.
   */
  set(
    cursor: Cursor,
    conversation: ConversationId,
    version: number,
    ops: readonly Op[] = [],
  ): Cursor | Problem {
    const kept = this.#put({ cursor, conversation, version }, ops);
    if (isProblem(kept)) return kept;
    this.onSet?.({ cursor: kept.cursor, conversation, version: kept.version });
    return kept.cursor;
  }

  remove(agent: AgentId): boolean {
    const kept = this.#drop(agent);
    if (kept) this.onSet?.({ cursor: kept.cursor, conversation: kept.conversation, version: 0 });
    return kept !== undefined;
  }

  /** A cursor that was set on another node. */
  setRemote(said: RemoteCursor, ops: readonly Op[]): void {
    if (said.version === 0) this.#drop(said.cursor.agent);
    else this.#put(said, ops);
  }

  #put({ cursor, conversation, version }: RemoteCursor, ops: readonly Op[]): Kept | Problem {
    this.#dropOld();
    const known = this.#kept.get(cursor.agent);
    if (known === undefined && this.#kept.size >= limits.cursors) {
      return problem("busy", `${limits.cursors} cursors is the limit; try again`, {
        max: limits.cursors,
      });
    }
    const expiresAt = this.#env.monotonic() + limits.cursorTtlMs;
    const kept: Kept = { cursor, conversation, version, expiresAt };
    for (const op of ops) move(kept, op);
    this.#kept.set(cursor.agent, kept);
    if (known && known.conversation !== conversation) this.#emit(known.conversation);
    this.#emit(conversation);
    this.#arm();
    return kept;
  }

  #drop(agent: AgentId): Kept | undefined {
    const kept = this.#kept.get(agent);
    if (kept === undefined) return undefined;
    this.#kept.delete(agent);
    this.#emit(kept.conversation);
    return kept;
  }

  close(): void {
    this.#stopListening();
    this.#cancelSweep?.();
    this.#kept.clear();
  }

  #follow({ conversation, ops, blocks, renewed = [] }: Change): void {
    for (const op of ops) {
      if (op.block === null) continue;
      for (const kept of this.#kept.values()) if (op.block === kept.cursor.block) move(kept, op);
      this.#meet(conversation, op.block, op);
    }
    if (renewed.length === 0) return;
    for (const kept of this.#kept.values()) if (renewed.includes(kept.cursor.block)) clamp(kept, blocks);
  }

  /** Sets a cursor where an agent edits: models never set one, and people want to see where they work. */
  #meet(conversation: ConversationId, block: BlockId, { agent, body, version }: Op): void {
    if (body.type !== "splice" || agent === NOBODY) return;
    const last = body.splices.at(-1);
    if (last === undefined) return;
    const known = this.#kept.get(agent);
    const head = last.at + last.ins.length;
    const expiresAt = this.#env.monotonic() + limits.cursorTtlMs;
    if (known?.cursor.block === block && known.cursor.head === head) {
      known.expiresAt = expiresAt;
      return;
    }
    if (known === undefined && this.#kept.size >= limits.cursors) return;
    this.#kept.set(agent, {
      cursor: { agent, block, anchor: head, head },
      conversation,
      version,
      expiresAt,
    });
    if (known && known.conversation !== conversation) this.#emit(known.conversation);
    this.#emit(conversation);
    this.#arm();
  }

  #dropOld(): void {
    const now = this.#env.monotonic();
    for (const [agent, { expiresAt }] of this.#kept) if (expiresAt <= now) this.#drop(agent);
  }

  /** One timer for all cursors, so that expired ones disappear even if nothing else happens. */
  #arm(): void {
    if (this.#cancelSweep || this.#kept.size === 0) return;
    const next = Math.min(...[...this.#kept.values()].map(({ expiresAt }) => expiresAt));
    const sweep = () => {
      this.#cancelSweep = undefined;
      this.#dropOld();
      this.#arm();
    };
    this.#cancelSweep = this.#env.after(Math.max(1, next - this.#env.monotonic()), sweep);
  }

  #emit(conversation: ConversationId): void {
    for (const listener of this.#listeners) listener(conversation);
  }
}

/** Moves a cursor: its owner's insertions push it forward, other people's at the same place do not. */
function move(kept: Kept, op: Op): void {
  if (op.version <= kept.version) return;
  const { cursor } = kept;
  const side = op.agent === cursor.agent ? 1 : -1;
  const splices = splicesOf(op);
  const anchor = mapOffset(cursor.anchor, splices, side);
  const head = mapOffset(cursor.head, splices, side);
  kept.cursor = { ...cursor, anchor, head };
  kept.version = op.version;
}

/** The ops are missing, so the cursor keeps its offset, within the text. */
function clamp(kept: Kept, blocks: readonly Block[]): void {
  const block = blocks.find(({ id }) => id === kept.cursor.block);
  if (block === undefined) return;
  const { anchor, head } = kept.cursor;
  kept.cursor = { ...kept.cursor, anchor: Math.min(anchor, block.chars), head: Math.min(head, block.chars) };
  kept.version = block.version;
}
