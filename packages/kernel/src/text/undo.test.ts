/** The undo model by itself: ops in, visible text and differences out, compared with the rule written down naively. */

import { describe, expect, it } from "vitest";
import { limits } from "../model/limits.ts";
import type { Op, Splice } from "../model/op.ts";
import { random32 } from "../testing/virtual-env.ts";
import { UndoModel } from "./undo.ts";

/** Feeds ops as the kernel would. */
class Feed {
  readonly model: UndoModel;
  readonly ops: Op[] = [];
  version = 0;

  constructor(ground = "") {
    this.model = new UndoModel(ground);
  }

  op(agent: string, splices: Splice[], more: { unit?: number; undo?: number; redo?: number } = {}): number {
    const version = ++this.version;
    const { unit = version, ...flip } = more;
    const body = { type: "splice", splices, update: new Uint8Array(), ...flip } as const;
    const op = {
      conversation: "c",
      seq: version,
      seqFrom: version,
      block: "c/a/1",
      version,
      versionFrom: version,
      agent,
      unit,
      at: version,
      body,
    };
    this.ops.push(op);
    this.model.apply(op);
    return unit;
  }

  insert(agent: string, at: number, ins: string): number {
    return this.op(agent, [{ at, del: "", ins }]);
  }

  remove(agent: string, at: number, del: string): number {
    return this.op(agent, [{ at, del, ins: "" }]);
  }

  flip(agent: string, type: "undo" | "redo"): boolean {
    const unit = type === "undo" ? this.model.nextUndo(agent) : this.model.nextRedo(agent);
    if (!unit) return false;
    this.op(agent, this.model.difference(unit.unit, type === "redo"), { [type]: unit.unit });
    return true;
  }

  get text(): string {
    return this.model.toString();
  }
}

describe("undo", () => {
  it("[K26] reverts one's own insertion, however much others wrote around it", () => {
    const feed = new Feed("base");
    feed.insert("ann", 2, "ANN");
    feed.insert("bob", 3, "bob");
    expect(feed.text).toBe("baAbobNNse");
    feed.flip("ann", "undo");
    expect(feed.text).toBe("babobse");
    feed.flip("ann", "redo");
    expect(feed.text).toBe("baAbobNNse");
  });

  it("[K26] restores what one deleted, unless somebody else deleted it too", () => {
    const feed = new Feed("abcdef");
    feed.remove("ann", 1, "bcd");
    feed.flip("ann", "undo");
    expect(feed.text).toBe("abcdef");
    feed.flip("ann", "redo");
    feed.remove("bob", 0, "ae");
    feed.flip("ann", "undo");
    expect(feed.text).toBe("bcdf");
    feed.flip("bob", "undo");
    expect(feed.text).toBe("abcdef");
  });

  it("[K26] text that one inserted and another deleted stays deleted when the insertion comes back", () => {
    const feed = new Feed();
    feed.insert("ann", 0, "xyz");
    feed.remove("bob", 1, "y");
    feed.flip("ann", "undo");
    expect(feed.text).toBe("");
    feed.flip("ann", "redo");
    expect(feed.text).toBe("xz");
    feed.flip("ann", "undo");
    feed.flip("bob", "undo");
    expect(feed.text).toBe("");
    feed.flip("ann", "redo");
    expect(feed.text).toBe("xyz");
  });

  it("[K26] random histories: the characters that show are those that the rule says", () => {
    for (let seed = 1; seed <= 150; seed++) run(seed);
  });

  it("[K28] the same ops give the same model again", () => {
    const feed = new Feed();
    for (let i = 0; i < 30; i++) feed.insert(i % 2 ? "ann" : "bob", i % 3, `${i}`);
    for (const agent of ["ann", "bob", "ann", "ann"]) feed.flip(agent, "undo");
    feed.flip("ann", "redo");
    const again = new UndoModel();
    for (const op of feed.ops) again.apply(op);
    expect(again.toString()).toBe(feed.text);
    expect(again.units()).toEqual(feed.model.units());
    expect(again.nextRedo("ann")).toEqual(feed.model.nextRedo("ann"));
    expect(again.authorship()).toEqual(feed.model.authorship());
  });

  it("[K28] reaches back as far as the horizon, and the text stays right beyond it", () => {
    const feed = new Feed();
    feed.insert("ann", 0, "first ");
    for (let i = 0; i < limits.undoUnits + 100; i++) feed.insert("bob", feed.text.length, "x");
    expect(feed.model.nextUndo("ann")).toBeUndefined();
    expect(feed.model.units().length).toBeLessThanOrEqual(limits.undoUnits + 64);
    let undone = 0;
    while (feed.flip("bob", "undo")) undone++;
    expect(undone).toBeGreaterThanOrEqual(limits.undoUnits - 64);
    expect(feed.text).toBe(`first ${"x".repeat(limits.undoUnits + 100 - undone)}`);
  });
});

/** Every character with the unit that made it and those that deleted it; as slow and plain as can be. */
function run(seed: number): void {
  const random = random32(seed);
  const feed = new Feed("ground");
  const cells: { char: string; unit: number; deletedBy: number[] }[] = [..."ground"].map((char) => ({
    char,
    unit: 0,
    deletedBy: [],
  }));
  const active = new Map<number, boolean>([[0, true]]);
  const shown = () =>
    cells.filter(({ unit, deletedBy }) => active.get(unit) && !deletedBy.some((each) => active.get(each)));
  for (let step = 0; step < 40; step++) {
    const agent = ["ann", "bob", "eve"][random() % 3] as string;
    const dice = random() % 5;
    if (dice >= 3) {
      const type = dice === 3 ? "undo" : "redo";
      const unit = type === "undo" ? feed.model.nextUndo(agent) : feed.model.nextRedo(agent);
      if (!unit) continue;
      expect(unit.agent).toBe(agent);
      feed.flip(agent, type);
      active.set(unit.unit, type === "redo");
    } else {
      const visible = shown();
      const at = random() % (visible.length + 1);
      const gone = visible.slice(at, at + (dice === 0 ? 0 : random() % 4));
      const ins = dice === 2 ? "" : String.fromCharCode(65 + (random() % 26)).repeat(1 + (random() % 3));
      const unit = feed.op(agent, [{ at, del: gone.map(({ char }) => char).join(""), ins }]);
      active.set(unit, true);
      for (const cell of gone) cell.deletedBy.push(unit);
      // Where invisible characters share a place, either side of them is correct: use the model's.
      place(cells, shown, at, gone, ins, unit);
    }
    const visible = shown()
      .map(({ char }) => char)
      .join("");
    // Same characters by the same undo steps; the order among hidden ones may differ, so compare what each step shows.
    expect([...feed.text].sort()).toEqual([...visible].sort());
  }
}

type Cell = { char: string; unit: number; deletedBy: number[] };

function place(
  cells: Cell[],
  shown: () => Cell[],
  at: number,
  gone: Cell[],
  ins: string,
  unit: number,
): void {
  const after =
    gone.length > 0
      ? cells.indexOf(gone.at(-1) as Cell) + 1
      : at === 0
        ? 0
        : cells.indexOf(shown()[at - 1] as Cell) + 1;
  cells.splice(after, 0, ...[...ins].map((char) => ({ char, unit, deletedBy: [] })));
}
