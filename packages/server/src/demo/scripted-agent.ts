/**
 * An agent that follows a script: it reads the file, puts lines of its own into it by line edits and patches, rewords them,
 * takes its last edits back and puts them back again, through the same tools that models have. It never touches what it
 * has not written, and remembers which of its lines must be there: whatever is missing then was lost by somebody else.
 *
 * How its calls travel is not its business, nor when it acts.
 */

import { isProblem, type Problem } from "@blockyard/kernel";
import type { CallServer } from "../contract/index.ts";
import { noteOf } from "./story.ts";

export interface Seat {
  readonly agent: string;
  readonly call: CallServer;
}

/** What it did, for reports. */
export interface Deed {
  readonly agent: string;
  readonly did: "inserted" | "patched" | "reworded" | "undid" | "redid" | "retried";
  /** 0-based, if there is one. */
  readonly line?: number;
  readonly text?: string;
}

/** One undo step: the lines that it removed and added. */
interface Unit {
  readonly out: readonly string[];
  readonly in: readonly string[];
}

interface Read {
  readonly version: number;
  readonly lines: readonly string[];
}

/** Probabilities of its next action, in percent; an impossible one becomes an insertion. */
const CHANCES = { patched: 25, reworded: 15, undid: 12, redid: 8 } as const;

export class ScriptedAgent {
  readonly seat: Seat;
  readonly #block: string;
  readonly #random: () => number;
  readonly #done: Unit[] = [];
  readonly #undone: Unit[] = [];
  readonly counts = { inserted: 0, patched: 0, reworded: 0, undid: 0, redid: 0, retried: 0 };
  #number = 0;

  /** `random` gives numbers from 0 up to 1. */
  constructor(seat: Seat, block: string, random: () => number) {
    this.seat = seat;
    this.#block = block;
    this.#random = random;
  }

  /** Its lines that must be in the file now. */
  get lines(): readonly string[] {
    const lines = new Set<string>();
    for (const unit of this.#done) {
      for (const line of unit.out) lines.delete(line);
      for (const line of unit.in) lines.add(line);
    }
    return [...lines];
  }

  /** Its own lines that must not be there: undone, or reworded. */
  get takenBack(): readonly string[] {
    const present = new Set(this.lines);
    const all = [...this.#done, ...this.#undone].flatMap((unit) => unit.in);
    return all.filter((line) => !present.has(line));
  }

  /** One deed. */
  async act(): Promise<Deed> {
    const deed = await this.#choose();
    this.counts[deed.did]++;
    return deed;
  }

  /** Undoes or redoes this many of its steps; fewer if there are fewer. Returns their number. */
  async flip(type: "undo" | "redo", most: number): Promise<number> {
    const [from, to] = type === "undo" ? [this.#done, this.#undone] : [this.#undone, this.#done];
    let flipped = 0;
    while (flipped < most && from.length > 0) {
      const count = Math.min(50, most - flipped);
      const answer = await this.seat.call(`block.${type}`, { block_id: this.#block, count });
      if (isProblem(answer)) throw new Error(`${this.seat.agent} could not ${type}: ${answer.message}`);
      const { units } = answer;
      for (const _ of units) to.push(from.pop() as Unit);
      flipped += units.length;
    }
    return flipped;
  }

  #choose(): Promise<Deed> {
    let chance = this.#random() * 100;
    const isNext = (did: keyof typeof CHANCES) => {
      chance -= CHANCES[did];
      return chance < 0;
    };
    if (isNext("patched")) return this.#patch();
    if (isNext("reworded") && this.lines.length > 0) return this.#reword();
    if (isNext("undid") && this.#done.length > 0) return this.#flipOne("undo");
    if (isNext("redid") && this.#undone.length > 0) return this.#flipOne("redo");
    return this.#insert();
  }

  async #insert(): Promise<Deed> {
    const { version, lines } = await this.#read();
    const line = Math.floor(this.#random() * (lines.length + 1));
    const text = noteOf(this.seat.agent, ++this.#number);
    const operations = [{ op: "insert" as const, line, content: text }];
    const input = { block_id: this.#block, operations, base_version: version };
    const wrote = await this.seat.call("block.edit", input);
    return this.#wrote("inserted", wrote, { out: [], in: [text] }, line);
  }

  async #patch(): Promise<Deed> {
    const { lines } = await this.#read();
    const line = Math.floor(this.#random() * Math.max(1, lines.length - 3));
    const text = noteOf(this.seat.agent, ++this.#number);
    const around = lines.slice(line, line + 3).map((each) => ` ${each}`);
    const patch = [`@@ -${line + 1},3 +${line + 1},4 @@`, around[0], `+${text}`, ...around.slice(1), ""].join(
      "\n",
    );
    const unit = { out: [], in: [text] };
    const wrote = await this.seat.call("block.apply_patch", { block_id: this.#block, patch });
    return this.#wrote("patched", wrote, unit, line + 1);
  }

  async #reword(): Promise<Deed> {
    const { version, lines } = await this.#read();
    const own = this.lines.map((text) => lines.indexOf(text)).filter((line) => line >= 0);
    const line = own[Math.floor(this.#random() * own.length)];
    if (line === undefined) return this.#insert();
    const before = lines[line] as string;
    const text = `${before} (${++this.#number})`;
    const operation = {
      op: "replace" as const,
      start_line: line,
      end_line: line + 1,
      content: text,
      expected_text: before,
    };
    const input = { block_id: this.#block, operations: [operation], base_version: version };
    const wrote = await this.seat.call("block.edit", input);
    return this.#wrote("reworded", wrote, { out: [before], in: [text] }, line);
  }

  async #flipOne(type: "undo" | "redo"): Promise<Deed> {
    const text = (type === "undo" ? this.#done : this.#undone).at(-1)?.in[0];
    await this.flip(type, 1);
    const did = type === "undo" ? "undid" : "redid";
    return { agent: this.seat.agent, did, ...(text === undefined ? {} : { text }) };
  }

  /** An edit refused because somebody else was faster is dropped; nothing of it was written. */
  #wrote(did: Deed["did"], answer: object | Problem, unit: Unit, line: number): Deed {
    const { agent } = this.seat;
    if (isProblem(answer)) {
      if (!["stale", "mismatch", "patch"].includes(answer.problem))
        throw new Error(`${agent}: ${answer.message}`);
      return { agent, did: "retried", line };
    }
    this.#done.push(unit);
    this.#undone.length = 0;
    return { agent, did, line, text: unit.in[0] as string };
  }

  async #read(): Promise<Read> {
    const answer = await this.seat.call("block.read", { block_id: this.#block, line_numbers: false });
    if (isProblem(answer)) throw new Error(`${this.seat.agent} could not read: ${answer.message}`);
    const { version, content } = answer;
    const lines = content.split("\n");
    if (lines.at(-1) === "") lines.pop();
    return { version, lines };
  }
}
