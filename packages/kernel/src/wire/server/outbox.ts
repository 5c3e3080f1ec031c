/**
 * The outbox of one subscription: joins waiting changes into one per frame, and bounds them.
 *
 * While a client is slow, its waiting changes are coalesced: consecutive appends to one block become one. If they still exceed
 * `limits.cutChars`, the connection ends with a resumable code: changes are never skipped.
 *
 * Subscriptions of one conversation that gathered the same changes get the same joined object, so that it is encoded once. Changes
 * are compared by identity and order, so a change made for one subscription only (its catch-up, for example) is
 * never shared.
 */

import type { Change } from "../../model/change.ts";
import type { Turn } from "../../model/conversation.ts";
import { continues, type Op } from "../../model/op.ts";

export class Outbox {
  #changes: Change[] = [];
  #chars = 0;

  get isEmpty(): boolean {
    return this.#changes.length === 0;
  }

  /** The size of what waits, roughly, in characters. */
  get chars(): number {
    return this.#chars;
  }

  add(change: Change): void {
    this.#changes.push(change);
    this.#chars += sizeOf(change);
  }

  /** Makes what waits smaller, if possible. */
  coalesce(): void {
    if (this.#changes.length < 2) return;
    const change = merged(this.#changes);
    this.#changes = [change];
    this.#chars = sizeOf(change);
  }

  /** Everything that waits, as one change. */
  take(): Change | undefined {
    const changes = this.#changes;
    this.#changes = [];
    this.#chars = 0;
    return changes.length === 0 ? undefined : joinedOnce(changes);
  }
}

/** The latest joined changes, by the last change in each. */
const made = new WeakMap<Change, { readonly changes: readonly Change[]; readonly joined: Change }>();

function joinedOnce(changes: readonly Change[]): Change {
  const last = changes.at(-1) as Change;
  const known = made.get(last);
  if (
    known &&
    known.changes.length === changes.length &&
    known.changes.every((each, i) => each === changes[i])
  )
    return known.joined;
  const joined = merged(changes);
  made.set(last, { changes, joined });
  return joined;
}

function merged(changes: readonly Change[]): Change {
  const { conversation, seq, record } = changes.at(-1) as Change;
  const turns = new Map<string, Turn>();
  for (const change of changes) for (const turn of change.turns) turns.set(turn.id, turn);
  return {
    conversation,
    seq,
    record,
    ops: mergeAppends(changes.flatMap((change) => change.ops)),
    blocks: [],
    turns: [...turns.values()],
    whole: changes.flatMap((change) => change.whole ?? []),
  };
}

/** Merges consecutive appends to one block into a run. The order of everything else stays. */
function mergeAppends(ops: readonly Op[]): Op[] {
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

function joined(before: Op, op: Op): Op {
  if (before.body.type !== "append" || op.body.type !== "append") return op;
  const { seq, version, at } = op;
  return { ...before, seq, version, at, body: { ...before.body, text: before.body.text + op.body.text } };
}

const sizes = new WeakMap<Change, number>();

function sizeOf(change: Change): number {
  let chars = sizes.get(change);
  if (chars === undefined) {
    chars = measured(change);
    sizes.set(change, chars);
  }
  return chars;
}

function measured(change: Change): number {
  let chars = 200;
  for (const { body } of change.ops) {
    chars += 120;
    if (body.type === "append" || body.type === "create") chars += body.text.length;
    if (body.type === "splice")
      for (const splice of body.splices) chars += splice.ins.length + splice.del.length;
    if (body.type === "create" || body.type === "meta" || body.type === "status") {
      chars += JSON.stringify(body.metadata).length;
    }
  }
  for (const { block, text } of change.whole ?? [])
    chars += (text?.length ?? 0) + JSON.stringify(block.metadata).length + 200;
  return chars;
}
