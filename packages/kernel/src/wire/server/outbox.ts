/**
 * The outbox of one subscription: gathers deltas into batches, one per frame, and bounds what waits.
 *
 * While a client is slow, its waiting changes are coalesced: consecutive appends to one block become one. When even that
 * passes `limits.cutChars`, the connection is cut with a resumable code: a gap is never papered over.
 *
 * Subscriptions of one conversation that have gathered the same deltas get the very same batch, so that whoever encodes
 * it does so once. The same means: the same objects in the same order; a delta that was made for one subscription alone
 * (its catch-up, blocks read anew) is never taken for another's.
 */

import type { Conversation, Turn } from "../../model/conversation.ts";
import type { Op } from "../../model/op.ts";
import { type Snapshot, toWire, type WireOp } from "../frame.ts";
import type { Delta } from "./feed.ts";

export interface Batch {
  readonly seq: number;
  readonly ops: readonly WireOp[];
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
    if (this.#deltas.length < 2) return;
    const delta = merged(this.#deltas);
    this.#deltas = [delta];
    this.#chars = sizeOf(delta);
  }

  /** Everything that waits, as one batch. */
  take(): Batch | undefined {
    const deltas = this.#deltas;
    this.#deltas = [];
    this.#chars = 0;
    return deltas.length === 0 ? undefined : batchOf(deltas);
  }
}

/** Batches that were made lately, by the last delta in them. */
const made = new WeakMap<Delta, { readonly deltas: readonly Delta[]; readonly batch: Batch }>();

function batchOf(deltas: readonly Delta[]): Batch {
  const last = deltas.at(-1) as Delta;
  const known = made.get(last);
  if (known && known.deltas.length === deltas.length && known.deltas.every((delta, i) => delta === deltas[i]))
    return known.batch;
  const delta = merged(deltas);
  const batch = { ...delta, ops: delta.ops.filter(({ block }) => block !== null).map(toWire) };
  made.set(last, { deltas, batch });
  return batch;
}

function merged(deltas: readonly Delta[]): Delta {
  const { seq, record } = deltas.at(-1) as Delta;
  const turns = new Map<string, Turn>();
  for (const delta of deltas) for (const turn of delta.turns) turns.set(turn.id, turn);
  return {
    seq,
    record,
    ops: mergeAppends(deltas.flatMap((delta) => delta.ops)),
    blocks: deltas.flatMap((delta) => delta.blocks),
    turns: [...turns.values()],
  };
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

const sizes = new WeakMap<Delta, number>();

function sizeOf(delta: Delta): number {
  let chars = sizes.get(delta);
  if (chars === undefined) {
    chars = measured(delta);
    sizes.set(delta, chars);
  }
  return chars;
}

function measured(delta: Delta): number {
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
