/**
 * A file that agents edit here and other programs edit on the disk, with saves, looks, deletions, moves, restarts, kills and
 * compactions in any order. Every line that anybody writes is unique, so it can be said of each where it must be:
 *
 * - at rest without a conflict the block and the disk are equal and hold every line of both sides;
 * - in a conflict the block holds all that was written here, the disk all that was written there, untouched;
 * - whatever ends a conflict loses only what it says.
 */
import { renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { isProblem } from "@blockyard/kernel";
import { Lab } from "../../packages/server/src/testing/lab.ts";
import { Random } from "../sim/random.ts";
import type { Fuzz, FuzzOutcome } from "./fuzz.ts";

const STEPS = 30;
const PATH = "folder/file.txt";

export const fuzz: Fuzz = {
  name: "files",
  sometimes: ["merged", "conflict", "resolved", "deleted", "killed", "compacted", "undone"],
  async run(seed): Promise<FuzzOutcome> {
    const world = await World.start(seed);
    try {
      for (let step = 0; step < STEPS; step++) await world.step();
      await world.end();
      return { ok: true, hits: world.hits };
    } finally {
      await world.lab.stop();
    }
  },
};

class World {
  readonly lab: Lab;
  readonly hits: Record<string, number> = {};
  readonly #random: Random;
  readonly #id: string;
  /** Lines that only the block has so far, that only the disk has so far, and that both had. */
  #here = new Set<string>();
  #there = new Set<string>();
  #both = new Set<string>();
  #number = 0;

  static async start(seed: number): Promise<World> {
    // Nothing happens by itself: the seed decides when.
    const slow = 600_000;
    const lab = await Lab.start({ bounds: { flushMs: slow, flushMostMs: slow, lookMs: slow, pollMs: slow } });
    const lines = Array.from({ length: 12 }, (_, i) => `line ${i}`);
    lab.put(PATH, `${lines.join("\n")}\n`);
    return new World(lab, seed, await lab.open(PATH), lines);
  }

  private constructor(lab: Lab, seed: number, id: string, lines: readonly string[]) {
    this.lab = lab;
    this.#random = new Random(seed);
    this.#id = id;
    for (const line of lines) this.#both.add(line);
  }

  async step(): Promise<void> {
    const what = this.#random.weighted({
      edit: 30,
      outside: 22,
      save: 18,
      look: 8,
      resolve: 10,
      undo: 5,
      delete: 3,
      restart: 4,
      kill: 5,
      compacted: 3,
    });
    if (what === "edit") await this.#edit();
    else if (what === "outside") this.#outside();
    else if (what === "save") await this.#save();
    else if (what === "look") await this.#look();
    else if (what === "resolve") await this.#resolve();
    else if (what === "undo") await this.#undo();
    else if (what === "delete") await this.#delete();
    else if (what === "restart") await this.lab.restart();
    else if (what === "kill") await this.lab.restart({ isKilled: true });
    else await this.#compact();
    if (what === "kill") this.#hit("killed");
    await this.#check(what);
  }

  /** At the end everything is brought together. */
  async end(): Promise<void> {
    await this.#look();
    if ((await this.#conflict()) !== undefined) await this.#join();
    const refused = await this.lab.files.flush(this.#id);
    if (refused) throw new Error(refused.message);
    const [text, disk] = [await this.lab.text(this.#id), this.lab.disk(PATH)];
    if ((await this.lab.metadata(this.#id)).missing !== true && text !== disk)
      throw new Error("not equal at the end");
    await this.#check("end");
  }

  // -- what happens

  async #edit(): Promise<void> {
    const line = this.#fresh("here");
    const agent = this.#random.pick(["ann", "bob"]);
    const id = this.#id;
    const at = this.#random.below(1e9);
    const done = await this.lab.kernel.writeBlock(id, {
      agent,
      plan: (draft) => {
        const text = draft.text(id);
        const start = text.lineStart(at % (text.lineCount + 1));
        const before = start > 0 && text.slice(start - 1, start) !== "\n" ? "\n" : "";
        return draft.splice(id, [{ at: start, del: "", ins: `${before}${line}\n` }]);
      },
    });
    if (isProblem(done)) throw new Error(done.message);
    this.#here.add(line);
  }

  #outside(): void {
    const text = this.lab.disk(PATH) ?? "";
    const lines = text.split("\n");
    const line = this.#fresh("there");
    lines.splice(this.#random.below(lines.length), 0, line);
    if (this.#random.chance(0.5)) this.lab.put(PATH, lines.join("\n"));
    else {
      this.lab.put(`${PATH}.new`, lines.join("\n"));
      renameSync(join(this.lab.root, `${PATH}.new`), join(this.lab.root, PATH));
    }
    this.#there.add(line);
  }

  async #save(): Promise<void> {
    const hadBoth = this.#here.size > 0 && this.#there.size > 0;
    const refused = await this.lab.files.flush(this.#id);
    if (refused) throw new Error(refused.message);
    if (await this.#settle()) this.#hit(hadBoth ? "merged" : "saved");
  }

  async #look(): Promise<void> {
    await this.lab.files.disk(this.#id);
    const refused = await this.lab.files.open(PATH, { agent: "ann", isOwner: true });
    if (isProblem(refused) && refused.problem !== "not_found") throw new Error(refused.message);
  }

  async #resolve(): Promise<void> {
    await this.#look();
    if ((await this.#conflict()) === undefined) return;
    const take = this.#random.pick(["mine", "disk", "text"] as const);
    if (take === "text") return this.#join();
    const refused = await this.lab.files.resolve(this.#id, { agent: "ann", take });
    if (refused) throw new Error(`${take}: ${refused.message}`);
    this.#hit("resolved");
    // What the other side alone had is given up; what both had stays only where the taken side has it.
    const text = await this.lab.text(this.#id);
    const standing = new Set(text.split("\n").filter((line) => line !== ""));
    const kept = take === "mine" ? this.#here : this.#there;
    for (const line of kept) if (!standing.has(line)) throw new Error(`take ${take} lost ${line}`);
    this.#both = standing;
    this.#here = new Set();
    this.#there = new Set();
  }

  /** Ends a conflict with all lines of both sides. */
  async #join(): Promise<void> {
    const mine = (await this.lab.text(this.#id)).split("\n");
    const theirs = (this.lab.disk(PATH) ?? "").split("\n");
    const content = `${[...new Set([...mine, ...theirs])].filter((line) => line !== "").join("\n")}\n`;
    const refused = await this.lab.files.resolve(this.#id, { agent: "bob", take: "text", content });
    if (refused) throw new Error(refused.message);
    this.#hit("resolved");
    await this.#settle();
  }

  async #undo(): Promise<void> {
    const id = this.#id;
    const agent = this.#random.pick(["ann", "bob"]);
    const before = (await this.lab.text(id)).split("\n");
    const done = await this.lab.kernel.writeBlock(id, { agent, plan: (draft) => draft.undo(id, "undo") });
    if (isProblem(done)) return;
    this.#hit("undone");
    const after = new Set((await this.lab.text(id)).split("\n"));
    // What is gone now was this agent's own; what has come back was taken away by it before.
    for (const line of before) {
      if (after.has(line)) continue;
      this.#here.delete(line);
      this.#both.delete(line);
    }
    for (const line of after) if (line !== "" && !before.includes(line)) this.#here.add(line);
  }

  async #delete(): Promise<void> {
    // Without edits that are not saved: a deletion then takes nothing away that is not in the block.
    await this.#save();
    if ((await this.#conflict()) !== undefined) return;
    rmSync(join(this.lab.root, PATH), { force: true });
    await this.#look();
    this.#hit("deleted");
    const made = await this.lab.files.open(PATH, { agent: "ann", isOwner: true, create: true });
    if (isProblem(made)) throw new Error(made.message);
  }

  async #compact(): Promise<void> {
    if (!(await this.lab.kernel.compact(this.#id, 0))) this.#hit("compacted");
  }

  // -- what must be so

  async #check(what: string): Promise<void> {
    const { missing } = await this.lab.metadata(this.#id);
    const text = await this.lab.text(this.#id);
    const disk = this.lab.disk(PATH);
    if ((await this.#conflict()) !== undefined) this.#hit("conflict");
    const mine = new Set(text.split("\n"));
    const theirs = new Set((disk ?? "").split("\n"));
    for (const line of [...this.#both, ...this.#here])
      if (!mine.has(line)) throw new Error(`after ${what}: the block has lost ${line}`);
    if (missing !== true && disk !== undefined)
      for (const line of this.#there)
        if (!theirs.has(line) && !mine.has(line)) throw new Error(`after ${what}: the disk has lost ${line}`);
    if (mine.size < text.split("\n").filter((line) => line !== "").length)
      throw new Error(`after ${what}: a line is there twice`);
  }

  /** If both sides are equal now, all lines are lines of both. */
  async #settle(): Promise<boolean> {
    if ((await this.#conflict()) !== undefined) return false;
    const [text, disk] = [await this.lab.text(this.#id), this.lab.disk(PATH)];
    if (text !== disk) throw new Error("saved, and yet the disk has another text");
    for (const line of [...this.#here, ...this.#there]) {
      if (!text.split("\n").includes(line)) throw new Error(`a save has lost ${line}`);
      this.#both.add(line);
    }
    this.#here = new Set();
    this.#there = new Set();
    return true;
  }

  async #conflict(): Promise<unknown> {
    return (await this.lab.metadata(this.#id)).conflict;
  }

  #fresh(where: string): string {
    return `${where} ${++this.#number}`;
  }

  #hit(name: string): void {
    this.hits[name] = (this.hits[name] ?? 0) + 1;
  }
}
