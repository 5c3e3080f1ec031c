/**
 * Undo and redo, per agent and block, by undo step; computed from the stored splices, so it survives restarts.
 *
 * The model: replaying a block's ops in order, every character knows which step inserted it and which steps deleted it.
 * It is visible if its inserting step is active and no active step has deleted it. Undo makes a step inactive, redo
 * makes it active again. The resulting change of the visible text is written as a normal op of the calling agent,
 * marked with the step, and replayed as a flip of that step. So an undo removes or restores only its own agent's
 * effect.
 *
 * The horizon is `limits.undoUnits`: older units become part of the base, which cannot be undone.
 */

import { assert } from "../model/assert.ts";
import type { AgentId } from "../model/ids.ts";
import { limits } from "../model/limits.ts";
import { type Op, type Splice, splicesOf } from "../model/op.ts";

interface Unit {
  /** The version of its first op: its name. */
  readonly unit: number;
  readonly agent: AgentId;
  readonly at: number;
  /** The version of its last op so far. */
  readonly version: number;
  readonly active: boolean;
  readonly inserted: number;
  readonly deleted: number;
}

interface Span {
  text: string;
  /** The unit that inserted it; BASE cannot be undone. */
  readonly unit: number;
  /** The units that deleted it. */
  readonly deletedBy: readonly number[];
  visible: boolean;
  /** The agents whose append streams go on behind its last character. */
  readonly endOf?: readonly AgentId[] | undefined;
}

const BASE = 0;

export class UndoModel {
  #spans: Span[];
  readonly #units = new Map<number, Unit>();
  readonly #undone = new Map<AgentId, number[]>();
  /** The unit that made the block, with its first text. */
  #creation: number | undefined;

  /** `base` is text whose history is compacted away; `ends` says behind which offsets of it append streams go on. */
  constructor(base = "", ends: Readonly<Record<AgentId, number>> = {}) {
    this.#spans = base === "" ? [] : [{ text: base, unit: BASE, deletedBy: [], visible: true }];
    for (const [agent, at] of Object.entries(ends)) this.#mark(agent, at);
  }

  /** Takes in the block's next op. */
  apply(op: Op): void {
    if (op.body.type === "splice") {
      const { undo, redo, splices } = op.body;
      if (undo !== undefined) return this.#flip(undo, false, splices);
      if (redo !== undefined) return this.#flip(redo, true, splices);
    }
    if (op.body.type === "create") this.#creation = op.unit;
    if (op.body.type === "promote") this.#mark("", this.#length);
    const splices = splicesOf(op);
    if (splices.length === 0 && op.body.type !== "splice") return;
    for (const splice of splices) this.#splice(splice, op.unit);
    if (op.body.type === "splice" && op.body.anchor !== undefined) {
      for (const { at, ins } of splices) this.#mark(op.agent, at + ins.length);
    }
    this.#note(op, splices);
  }

  /**
   * Where the append stream of `agent` goes on: behind its last character, visible or not; undefined if that is not known.
   * No name: behind what the block's writer had written when it was promoted.
   */
  streamEnd(agent: AgentId): number | undefined {
    let at = 0;
    for (const span of this.#spans) {
      if (span.visible) at += span.text.length;
      if (span.endOf?.includes(agent)) return at;
    }
    return undefined;
  }

  /** Units of one agent, or of all, oldest first. */
  units(agent?: AgentId): Unit[] {
    return [...this.#units.values()].filter((unit) => agent === undefined || unit.agent === agent);
  }

  /** The unit that an undo of `agent` takes back. What the block was made with is no edit of it. */
  nextUndo(agent: AgentId): Unit | undefined {
    return this.units(agent).findLast((unit) => unit.active && unit.unit !== this.#creation);
  }

  nextRedo(agent: AgentId): Unit | undefined {
    const unit = this.#undone.get(agent)?.at(-1);
    return unit === undefined ? undefined : this.#units.get(unit);
  }

  /** What making `unit` active or inactive does to the visible text. Changes nothing. */
  difference(unit: number, active: boolean): Splice[] {
    const splices: Splice[] = [];
    let at = 0;
    for (const span of this.#spans) {
      const concerned = span.unit === unit || span.deletedBy.includes(unit);
      const visible = concerned ? this.#isVisible(span, unit, active) : span.visible;
      if (visible === span.visible) at += visible ? span.text.length : 0;
      else if (visible) at = pushInsert(splices, at, span.text);
      else pushDelete(splices, at, span.text);
    }
    return splices;
  }

  /** The visible text: equal to the block's. */
  toString(): string {
    return this.#spans.map((span) => (span.visible ? span.text : "")).join("");
  }

  /** Who wrote which part of the visible text, in order; the base has no unit. */
  authorship(): { readonly chars: number; readonly unit: number; readonly agent: AgentId | null }[] {
    const parts: { chars: number; unit: number; agent: AgentId | null }[] = [];
    for (const span of this.#spans) {
      if (!span.visible) continue;
      const last = parts.at(-1);
      if (last !== undefined && last.unit === span.unit) last.chars += span.text.length;
      else
        parts.push({
          chars: span.text.length,
          unit: span.unit,
          agent: this.#units.get(span.unit)?.agent ?? null,
        });
    }
    return parts;
  }

  #flip(unit: number, active: boolean, splices: readonly Splice[]): void {
    const known = this.#units.get(unit);
    if (known === undefined || !sameSplices(this.difference(unit, active), splices)) {
      // Planned by a kernel that remembers more than this model, whose history was compacted: an edit of the base.
      if (known) this.#dropUnits(new Map([[unit, known.active]]));
      for (const splice of splices) this.#splice(splice, BASE);
      return;
    }
    for (const span of this.#spans) {
      if (span.unit === unit || span.deletedBy.includes(unit))
        span.visible = this.#isVisible(span, unit, active);
    }
    this.#units.set(unit, { ...known, active });
    const undone = this.#undone.get(known.agent) ?? [];
    this.#undone.set(known.agent, active ? undone.filter((other) => other !== unit) : [...undone, unit]);
  }

  #isVisible(span: Span, unit: number, active: boolean): boolean {
    const isActive = (other: number) =>
      other === unit ? active : other === BASE || this.#units.get(other)?.active !== false;
    return isActive(span.unit) && !span.deletedBy.some(isActive);
  }

  #note(op: Op, splices: readonly Splice[]): void {
    const known = this.#units.get(op.unit);
    const inserted = splices.reduce((sum, { ins }) => sum + ins.length, known?.inserted ?? 0);
    const deleted = splices.reduce((sum, { del }) => sum + del.length, known?.deleted ?? 0);
    const { unit, agent, at, version } = op;
    this.#units.set(unit, {
      unit,
      agent,
      at: known?.at ?? at,
      version,
      active: known?.active ?? true,
      inserted,
      deleted,
    });
    this.#undone.delete(agent);
    if (this.#units.size > limits.undoUnits + limits.undoSlackUnits) this.#dropOldUnits();
  }

  get #length(): number {
    return this.#spans.reduce((sum, span) => sum + (span.visible ? span.text.length : 0), 0);
  }

  /** The stream of `agent` goes on behind the visible character before `at`. */
  #mark(agent: AgentId, at: number): void {
    const old = this.#spans.findIndex((span) => span.endOf?.includes(agent));
    if (old !== -1) {
      const span = this.#spans[old] as Span;
      const others = span.endOf?.filter((other) => other !== agent) ?? [];
      this.#spans[old] = { ...span, endOf: others.length > 0 ? others : undefined };
    }
    const index = this.#split(at) - 1;
    const span = this.#spans[index];
    if (span) this.#spans[index] = { ...span, endOf: [...(span.endOf ?? []), agent] };
  }

  #splice({ at, del, ins }: Splice, unit: number): void {
    let index = this.#split(at);
    if (del !== "") {
      const end = this.#split(at + del.length);
      for (let i = index; i < end; i++) {
        const span = this.#spans[i] as Span;
        if (span.visible) this.#spans[i] = { ...span, deletedBy: [...span.deletedBy, unit], visible: false };
      }
      index = end;
    }
    if (ins !== "") this.#insert(index, { text: ins, unit, deletedBy: [], visible: true });
  }

  #insert(index: number, span: Span): void {
    const before = this.#spans[index - 1];
    const isOne = before?.visible && before.unit === span.unit && before.deletedBy.length === 0;
    if (isOne && before.endOf === undefined) {
      this.#spans[index - 1] = { ...before, text: before.text + span.text };
    } else this.#spans.splice(index, 0, span);
  }

  /** The index of the span that starts at visible offset `at`; a span that covers it is cut in two. */
  #split(at: number): number {
    let offset = 0;
    for (let i = 0; i < this.#spans.length; i++) {
      if (offset === at) return i;
      const span = this.#spans[i] as Span;
      if (!span.visible) continue;
      const end = offset + span.text.length;
      if (at < end) {
        const cut = at - offset;
        this.#spans.splice(
          i,
          1,
          { ...span, text: span.text.slice(0, cut), endOf: undefined },
          { ...span, text: span.text.slice(cut) },
        );
        return i + 1;
      }
      offset = end;
    }
    assert(offset === at, `offset ${at} in a text of length ${offset}`);
    return this.#spans.length;
  }

  #dropOldUnits(): void {
    const old = new Map<number, boolean>();
    for (const { unit, active } of this.#units.values()) {
      if (this.#units.size - old.size <= limits.undoUnits) break;
      old.set(unit, active);
    }
    this.#dropUnits(old);
  }

  /** What these units did stays as it is; they can no longer be taken back. */
  #dropUnits(old: ReadonlyMap<number, boolean>): void {
    this.#spans = this.#spans.flatMap((span) => grounded(span, old));
    for (const unit of old.keys()) this.#units.delete(unit);
    for (const [agent, undone] of this.#undone) {
      this.#undone.set(
        agent,
        undone.filter((unit) => !old.has(unit)),
      );
    }
  }
}

function sameSplices(a: readonly Splice[], b: readonly Splice[]): boolean {
  return (
    a.length === b.length &&
    a.every(({ at, del, ins }, i) => at === b[i]?.at && del === b[i]?.del && ins === b[i]?.ins)
  );
}

/** A span with the old units taken out of it: what is gone for good is dropped. */
function grounded(span: Span, old: ReadonlyMap<number, boolean>): Span[] {
  if (!old.has(span.unit) && !span.deletedBy.some((unit) => old.has(unit))) return [span];
  if (old.get(span.unit) === false || span.deletedBy.some((unit) => old.get(unit) === true)) return [];
  const deletedBy = span.deletedBy.filter((unit) => !old.has(unit));
  return [{ ...span, unit: old.has(span.unit) ? BASE : span.unit, deletedBy }];
}

function pushInsert(splices: Splice[], at: number, text: string): number {
  const last = splices.at(-1);
  if (last !== undefined && last.at + last.ins.length === at) {
    splices[splices.length - 1] = { ...last, ins: last.ins + text };
  } else splices.push({ at, del: "", ins: text });
  return at + text.length;
}

function pushDelete(splices: Splice[], at: number, text: string): void {
  const last = splices.at(-1);
  if (last !== undefined && last.at + last.ins.length === at) {
    splices[splices.length - 1] = { ...last, del: last.del + text };
  } else splices.push({ at, del: text, ins: "" });
}
