/**
 * The slow, obvious reference of a block's text: a list of UTF-16 units, each with the unit of work that inserted it
 * and those that deleted it. A place is a count of visible units. Undo makes a unit of work inactive; nothing is
 * computed ahead, nothing is kept twice, everything is a walk over the list.
 *
 * It is told what was asked for, in the order of the commits: appends say who and what, never where; undo and redo say
 * who, never what. Where and what is worked out here, and compared with what the kernel has stored.
 */
import { type AgentId, limits, type Op, type Splice, splicesOf } from "@blockyard/kernel";

interface Cell {
  readonly char: string;
  readonly work: number;
  readonly deletedBy: number[];
}

interface Work {
  readonly agent: AgentId;
  active: boolean;
}

/** Text that was compacted: nobody can undo it. */
const GROUND = 0;
/** The version, and so the unit, that makes a block. */
const CREATION = 1;

export class Reference {
  #cells: Cell[] = [];
  readonly #works = new Map<number, Work>();
  #undone = new Map<AgentId, number[]>();
  /** The last unit that each stream wrote; null is the start of the text. */
  readonly #streams = new Map<AgentId, Cell | null>();
  #writer: AgentId = "";
  #isPromoted = false;
  #hasCompacted = false;
  /** Whether a stream must go on exactly where it is expected: not where somebody may remember more than this. */
  #isStrict = true;

  /** `ground` is text of a compacted history. */
  constructor(ground?: string) {
    if (ground === undefined) return;
    this.#cells = ground.split("").map((char) => ({ char, work: GROUND, deletedBy: [] }));
    this.#isPromoted = true;
    this.#hasCompacted = true;
  }

  get text(): string {
    return this.#cells.map((cell) => (this.#isVisible(cell) ? cell.char : "")).join("");
  }

  /** Applies the block's next op; throws if the reference disagrees with the op. */
  apply(op: Op): void {
    const { body, agent, unit } = op;
    if (body.type === "create") {
      this.#writer = agent;
      if (body.text !== "") this.#edit(agent, unit, splicesOf(op));
    } else if (body.type === "promote") this.#promote();
    else if (body.type === "append") this.#append(agent, unit, body.text, body.at);
    else if (body.type === "splice") {
      const { undo, redo, splices } = body;
      if (undo !== undefined) this.#flip(agent, undo, false);
      else if (redo !== undefined) this.#flip(agent, redo, true);
      else if (body.anchor !== undefined)
        this.#append(agent, unit, (splices[0] as Splice).ins, (splices[0] as Splice).at);
      else this.#edit(agent, unit, splices);
    }
  }

  /**
   * As `apply`, where several kernels write: one may remember what another has compacted away, and undo that. Then the op
   * is an edit of the ground, and its unit, if it is known here at all, can no longer be taken back.
   */
  take(op: Op, text: string): "done" | "forgotten" {
    const flip = op.body.type === "splice" ? (op.body.undo ?? op.body.redo) : undefined;
    this.#isStrict = !this.#hasCompacted;
    if (op.body.type !== "splice" || flip === undefined || !this.#hasCompacted) {
      this.apply(op);
      return this.#agree(text);
    }
    const work = this.#works.get(flip);
    const active = op.body.redo !== undefined;
    if (work !== undefined) {
      const before = work.active;
      work.active = active;
      if (this.text === text) {
        const undone = (this.#undone.get(op.agent) ?? []).filter((other) => other !== flip);
        this.#undone.set(op.agent, active ? undone : [...undone, flip]);
        return "done";
      }
      work.active = before;
      this.#ground(flip);
    }
    for (const splice of op.body.splices) this.#splice(GROUND, splice);
    this.#agree(text);
    return "forgotten";
  }

  /** The history so far is given up: what is visible is ground. */
  compact(): void {
    const kept = new Map<Cell, Cell>();
    for (const cell of this.#cells) {
      if (this.#isVisible(cell)) kept.set(cell, { char: cell.char, work: GROUND, deletedBy: [] });
    }
    for (const [agent, last] of this.#streams) {
      const before = last ? this.#cells.slice(0, this.#cells.indexOf(last) + 1) : [];
      const seen = before.findLast((cell) => kept.has(cell));
      this.#streams.set(agent, seen === undefined ? null : (kept.get(seen) as Cell));
    }
    this.#cells = [...kept.values()];
    this.#hasCompacted = true;
    this.#works.clear();
    this.#undone = new Map();
  }

  /** The work that an undo of the agent takes back, if there is any; never what the block was made with. */
  nextUndo(agent: AgentId): number | undefined {
    const isNext = (work: Work, unit: number) => work.agent === agent && work.active && unit !== CREATION;
    return [...this.#works].findLast(([unit, work]) => isNext(work, unit))?.[0];
  }

  nextRedo(agent: AgentId): number | undefined {
    return this.#undone.get(agent)?.at(-1);
  }

  /** Whether so much was done since that the kernel may have forgotten how to take it back. */
  isOld(work: number): boolean {
    return [...this.#works.keys()].filter((other) => other > work).length >= limits.undoUnits;
  }

  /** Every unit of text with its author, and whether it is seen now; the key tells them apart for good. */
  census(): { readonly key: object; readonly agent: AgentId | undefined; readonly visible: boolean }[] {
    return this.#cells.map((cell) => ({
      key: cell,
      agent: this.#works.get(cell.work)?.agent,
      visible: this.#isVisible(cell),
    }));
  }

  /** The work that inserted a unit of text, then those that deleted it. */
  worksOn(key: object): readonly number[] {
    const { work, deletedBy } = key as Cell;
    return [work, ...deletedBy];
  }

  isActive(work: number): boolean {
    return this.#works.get(work)?.active ?? true;
  }

  #agree(text: string): "done" {
    if (this.text !== text) throw new Error("the reference has another text");
    return "done";
  }

  /** What a work has done stays as it is now. */
  #ground(work: number): void {
    const isActive = this.isActive(work);
    this.#cells = this.#cells
      .filter((cell) => !(cell.work === work && !isActive) && !(cell.deletedBy.includes(work) && isActive))
      .map((cell) => ({
        char: cell.char,
        work: cell.work === work ? GROUND : cell.work,
        deletedBy: cell.deletedBy.filter((other) => other !== work),
      }));
    this.#works.delete(work);
  }

  #edit(agent: AgentId, unit: number, splices: readonly Splice[]): void {
    for (const splice of splices) this.#splice(unit, splice);
    this.#note(agent, unit);
  }

  #append(agent: AgentId, unit: number, text: string, at: number): void {
    const expected = this.#streamEnd(agent);
    if (this.#isStrict && expected !== at) {
      throw new Error(`${agent}'s stream goes on at ${expected}, the kernel appended at ${at}`);
    }
    this.#splice(unit, { at, del: "", ins: text });
    const end = this.#place(at + text.length);
    this.#streams.set(agent, this.#cells[end - 1] as Cell);
    this.#note(agent, unit);
  }

  /** The end of an agent's stream: after the last character that it wrote, visible or not. */
  #streamEnd(agent: AgentId): number {
    const visible = (cells: readonly Cell[]) => cells.filter((cell) => this.#isVisible(cell)).length;
    if (!this.#isPromoted || !this.#streams.has(agent)) return visible(this.#cells);
    const last = this.#streams.get(agent) as Cell | null;
    if (last === null) return 0;
    return visible(this.#cells.slice(0, this.#cells.indexOf(last) + 1));
  }

  #promote(): void {
    this.#isPromoted = true;
    this.#streams.set(this.#writer, this.#cells.at(-1) ?? null);
  }

  #flip(agent: AgentId, work: number, active: boolean): void {
    const expected = active ? this.nextRedo(agent) : this.nextUndo(agent);
    if (expected !== work)
      throw new Error(`${agent} ${active ? "redoes" : "undoes"} ${work}, not ${expected}`);
    const known = this.#works.get(work) as Work;
    known.active = active;
    const undone = this.#undone.get(agent) ?? [];
    this.#undone.set(agent, active ? undone.slice(0, -1) : [...undone, work]);
  }

  #note(agent: AgentId, unit: number): void {
    if (!this.#works.has(unit)) this.#works.set(unit, { agent, active: true });
    this.#undone.delete(agent);
  }

  #splice(work: number, { at, del, ins }: Splice): void {
    let place = this.#place(at);
    for (let left = del.length, i = place; left > 0; i++) {
      const cell = this.#cells[i];
      if (cell === undefined) throw new Error(`a splice deletes ${left} units past the end`);
      if (!this.#isVisible(cell)) continue;
      if (cell.char !== del[del.length - left]) throw new Error("a splice deletes what is not there");
      cell.deletedBy.push(work);
      left--;
      place = i + 1;
    }
    const cells = ins.split("").map((char): Cell => ({ char, work, deletedBy: [] }));
    this.#cells.splice(place, 0, ...cells);
  }

  /** Right after the visible unit number `at`. */
  #place(at: number): number {
    let place = 0;
    for (let left = at; left > 0; place++) {
      const cell = this.#cells[place];
      if (cell === undefined) throw new Error(`place ${at} is past the end`);
      if (this.#isVisible(cell)) left--;
    }
    return place;
  }

  #isVisible(cell: Cell): boolean {
    return this.isActive(cell.work) && !cell.deletedBy.some((work) => this.isActive(work));
  }
}
