/**
 * The outbox of one subscription: gathers deltas into frames, one per `limits.batchMs`, and bounds what waits.
 *
 * While a client is slow, its waiting changes are coalesced: consecutive appends to one block become one. When even that
 * passes `limits.cutChars`, the connection is cut with a resumable code: a gap is never papered over.
 */

import type { Conversation, Turn } from "../conversation.ts";
import type { Op } from "../op.ts";
import type { Delta } from "./feed.ts";
import type { Snapshot } from "./frame.ts";

export interface Batch {
  readonly seq: number;
  readonly ops: readonly Op[];
  readonly blocks: readonly Snapshot[];
  readonly record: Conversation;
  readonly turns: readonly Turn[];
}

export class Outbox {
  #deltas: Delta[] = [];
  #chars = 0;

  get isEmpty(): boolean {
    return this.#deltas.length === 0;
  }

  /** How much waits, roughly, in characters. */
  get chars(): number {
    return this.#chars;
  }

  add(delta: Delta): void {
    this.#deltas.push(delta);
    this.#chars += sizeOf(delta);
  }

  /** Makes what waits smaller where it can be. */
  coalesce(): void {
    const batch = this.#merged();
    if (!batch) return;
    this.#deltas = [batch];
    this.#chars = sizeOf(batch);
  }

  /** Everything that waits, as one batch. */
  take(): Batch | undefined {
    const batch = this.#merged();
    this.#deltas = [];
    this.#chars = 0;
    return batch;
  }

  #merged(): Delta | undefined {
    const last = this.#deltas.at(-1);
    if (!last) return undefined;
    const turns = new Map<string, Turn>();
    for (const delta of this.#deltas) for (const turn of delta.turns) turns.set(turn.id, turn);
    return {
      seq: last.seq,
      record: last.record,
      ops: mergeAppends(this.#deltas.flatMap((delta) => delta.ops)),
      blocks: this.#deltas.flatMap((delta) => delta.blocks),
      turns: [...turns.values()],
    };
  }
}

/** Appends to one block that follow each other in its versions become one run. The order of everything else stays. */
export function mergeAppends(ops: readonly Op[]): Op[] {
  const merged: Op[] = [];
  const open = new Map<string, number>();
  for (const op of ops) {
    if (op.block === null) {
      merged.push(op);
      continue;
    }
    const at = open.get(op.block);
    const before = at === undefined ? undefined : merged[at];
    if (at !== undefined && before && continues(before, op)) merged[at] = joined(before, op);
    else {
      open.set(op.block, merged.length);
      merged.push(op);
    }
  }
  return merged;
}

function continues(before: Op, op: Op): boolean {
  return (
    before.body.type === "append" &&
    op.body.type === "append" &&
    before.unit === op.unit &&
    before.version + 1 === op.versionFrom &&
    before.body.at + before.body.text.length === op.body.at
  );
}

function joined(before: Op, op: Op): Op {
  if (before.body.type !== "append" || op.body.type !== "append") return op;
  const { seq, version, at } = op;
  return { ...before, seq, version, at, body: { ...before.body, text: before.body.text + op.body.text } };
}

function sizeOf(delta: Delta): number {
  let chars = 200;
  for (const { body } of delta.ops) {
    chars += 120;
    if (body.type === "append" || body.type === "create") chars += body.text.length;
    if (body.type === "splice")
      for (const splice of body.splices) chars += splice.ins.length + splice.del.length;
    if (body.type === "create" || body.type === "meta" || body.type === "status") {
      chars += JSON.stringify(body.metadata).length;
    }
  }
  for (const { block, text } of delta.blocks)
    chars += (text?.length ?? 0) + JSON.stringify(block.metadata).length + 200;
  return chars;
}
