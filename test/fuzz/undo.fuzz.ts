/**
 * Undo [R29]: an agent edits, others edit 1 to 20 times, the kernel is opened anew in between, the agent undoes and redoes.
 *
 * An undo or redo may change the visibility of two sorts of characters only: those that the agent's unit inserted, and
 * those that it deleted; nobody else's character is removed, none is lost, and the redo of an undo gives back the text
 * from before. The text after every op must be the reference's, and a unit that is taken back must be the one that
 * the reference names.
 */
import {
  type AgentId,
  type BlockId,
  type Draft,
  isProblem,
  Kernel,
  limits,
  MemoryStore,
  type Op,
  type Problem,
  VirtualEnv,
} from "@blockyard/kernel";
import { Random } from "../sim/random.ts";
import { follow, MergingReplica } from "../sim/replica.ts";
import type { Fuzz, FuzzOutcome } from "./fuzz.ts";
import { Reference } from "./reference.ts";

const AGENTS: readonly AgentId[] = ["ana", "ben", "cem", "model"];

export const fuzz: Fuzz = {
  name: "undo",
  sometimes: [
    "undo",
    "redo",
    "undo of a deletion",
    "undo of text that others have deleted",
    "undo of an append session",
    "undo of a burst",
    "nothing to undo",
    "nothing to redo",
    "undo of an undone agent's text",
    "reload",
  ],
  run: (seed) => undoRun(seed, false),
};

/** One run; a long one goes past the horizon. */
export async function undoRun(seed: number, isLong: boolean): Promise<FuzzOutcome> {
  const hits: Record<string, number> = {};
  const page = new Page(seed, (event) => {
    hits[event] = (hits[event] ?? 0) + 1;
  });
  await page.run(isLong);
  return { ok: true, hits };
}

class Page {
  readonly #random: Random;
  readonly #count: (event: string) => void;
  readonly #env: VirtualEnv;
  readonly #store = new MemoryStore("fuzz");
  #kernel: Kernel;
  #block: BlockId = "";
  readonly #reference = new Reference();
  #replica: MergingReplica | undefined;
  #text = "";
  #version = 0;
  #failure: unknown;

  constructor(seed: number, count: (event: string) => void) {
    this.#random = new Random(seed);
    this.#count = count;
    this.#env = new VirtualEnv(seed);
    this.#kernel = this.#open();
  }

  async run(isLong: boolean): Promise<void> {
    await this.#begin();
    for (let round = this.#random.between(1, 4); round > 0; round--) await this.#round();
    if (isLong) await this.#passHorizon();
    await this.#reload();
    await this.#check();
  }

  async #begin(): Promise<void> {
    const conversation = await this.#kernel.createConversation("model", "undo");
    if (isProblem(conversation)) throw new Error(conversation.message);
    const text = this.#random.text(this.#random.below(8));
    const block = await this.#kernel.write(conversation, {
      agent: "model",
      plan: (draft) => draft.create({ kind: "text", role: "model", text }),
    });
    if (isProblem(block)) throw new Error(block.message);
    this.#block = block.id;
    for (const op of (await this.#store.log(block.id, { version: 0 })).ops) this.#hear(op);
    this.#replica = new MergingReplica("rob", block.id, this.#random);
  }

  #open(): Kernel {
    const kernel = new Kernel(this.#env, this.#store);
    kernel.listen(({ ops }) => {
      try {
        for (const op of ops) if (op.block === this.#block) this.#hear(op);
      } catch (error) {
        this.#failure ??= error;
      }
    });
    return kernel;
  }

  #hear(op: Op): void {
    this.#text = follow(this.#text, this.#version, op);
    this.#version = op.version;
    this.#reference.apply(op);
    if (this.#reference.text !== this.#text)
      throw new Error(`version ${op.version}: the reference has another text`);
  }

  /** One agent's edits, what others do meanwhile, and that agent's way back and forth. */
  async #round(): Promise<void> {
    const agent = this.#random.pick(AGENTS);
    for (let edits = this.#random.between(1, 3); edits > 0; edits--) await this.#edit(agent);
    for (let others = this.#random.between(1, 20); others > 0; others--) {
      const other = this.#random.pick([...AGENTS, "rob"].filter((name) => name !== agent));
      if (this.#random.chance(0.3)) await this.#undo(other, this.#random.chance(0.6) ? "undo" : "redo");
      else await this.#edit(other);
      if (this.#random.chance(0.05)) await this.#reload();
    }
    await this.#backAndForth(agent);
  }

  async #backAndForth(agent: AgentId): Promise<void> {
    const before: string[] = [];
    for (let steps = this.#random.between(1, 4); steps > 0; steps--) {
      const text = this.#text;
      if (await this.#undo(agent, "undo")) before.push(text);
      if (this.#random.chance(0.1)) await this.#reload();
    }
    for (let text = before.pop(); text !== undefined; text = before.pop()) {
      await this.#undo(agent, "redo");
      if (this.#text !== text) throw new Error(`a redo of ${agent} does not give back the text from before`);
      if (this.#random.chance(0.3)) return;
    }
  }

  async #edit(agent: AgentId): Promise<void> {
    if (agent === "rob") return this.#merge();
    if (this.#random.chance(agent === "model" ? 0.7 : 0.1)) return this.#append(agent);
    const { at, end } = this.#random.range(this.#text, this.#random.chance(0.6) ? 12 : 0);
    const ins = this.#random.chance(0.7) ? this.#random.text(2) : "";
    const del = this.#text.slice(at, end);
    await this.#write(agent, (draft) => draft.splice(this.#block, [{ at, del, ins }]));
  }

  async #append(agent: AgentId): Promise<void> {
    await this.#kernel.append(this.#block, agent, this.#random.text(3));
    const done = await this.#kernel.drain(this.#block, agent);
    if (isProblem(done)) throw new Error(done.message);
    this.#throwFailure();
  }

  /** A person with a merging replica: edits within a second are one unit. */
  async #merge(): Promise<void> {
    const replica = this.#replica as MergingReplica;
    if (this.#random.chance(0.6)) {
      const refused = await replica.sync(this.#kernel);
      if (refused !== undefined) throw new Error(refused);
    }
    replica.edit(false);
    if (this.#random.chance(0.3)) await this.#env.advance(this.#random.below(2_000));
    const refused = replica.owes ? await replica.send(this.#kernel) : undefined;
    if (refused !== undefined) throw new Error(refused);
    this.#throwFailure();
  }

  /** Whether there was something to undo or redo. */
  async #undo(agent: AgentId, type: "undo" | "redo"): Promise<boolean> {
    const expected = type === "undo" ? this.#reference.nextUndo(agent) : this.#reference.nextRedo(agent);
    const before = this.#reference.census();
    this.#countUndo(agent, type, expected);
    const done = await this.#write(agent, (draft) => draft.undo(this.#block, type));
    if (isProblem(done)) {
      if (expected === undefined || this.#reference.isOld(expected)) return false;
      throw new Error(`${agent} could ${type} ${expected}: ${done.message}`);
    }
    const after = new Map(this.#reference.census().map(({ key, visible }) => [key, visible]));
    if (after.size !== before.length) throw new Error(`an ${type} of ${agent} has lost characters`);
    for (const { key, agent: author, visible } of before) {
      if (after.get(key) === visible || author === agent) continue;
      const isOwnDeletion = this.#reference.worksOn(key).some((work) => work === expected);
      if (!isOwnDeletion) throw new Error(`an ${type} of ${agent} has changed what ${author} wrote`);
    }
    return true;
  }

  #countUndo(agent: AgentId, type: "undo" | "redo", work: number | undefined): void {
    this.#count(work === undefined ? `nothing to ${type}` : type);
    if (work === undefined || type === "redo") return;
    const cells = this.#reference.census();
    const own = cells.filter(({ key }) => this.#reference.worksOn(key)[0] === work);
    if (cells.some(({ key }) => this.#reference.worksOn(key).indexOf(work) > 0))
      this.#count("undo of a deletion");
    if (own.some(({ visible }) => !visible)) this.#count("undo of text that others have deleted");
    if (agent === "model" && own.length > 0) this.#count("undo of an append session");
    if (agent === "rob" && own.length > 0) this.#count("undo of a burst");
    const isUndone = (key: object) => {
      const [author, ...deleters] = this.#reference.worksOn(key);
      return deleters.includes(work) && author !== undefined && !this.#reference.isActive(author);
    };
    if (cells.some(({ key }) => isUndone(key))) this.#count("undo of an undone agent's text");
  }

  /** So many units by others that ana's first ones are past the horizon. */
  async #passHorizon(): Promise<void> {
    await this.#edit("ana");
    for (let i = 0; i < limits.undoUnits + 80; i++) {
      await this.#write("ben", (draft) => draft.splice(this.#block, [{ at: 0, del: "", ins: "." }]));
    }
    for (let i = 0; i < 3; i++) await this.#undo("ana", "undo");
    await this.#undo("ben", "undo");
    await this.#reload();
    await this.#undo("ben", "redo");
    this.#count("past the horizon");
  }

  async #write<T>(agent: AgentId, plan: (draft: Draft) => T | Problem): Promise<T | Problem> {
    const done = await this.#kernel.writeBlock(this.#block, { agent, plan });
    if (isProblem(done) && done.problem !== "nothing") throw new Error(`${done.problem}: ${done.message}`);
    this.#throwFailure();
    return done;
  }

  #throwFailure(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }

  async #reload(): Promise<void> {
    await this.#kernel.close();
    this.#kernel = this.#open();
    this.#count("reload");
  }

  async #check(): Promise<void> {
    const read = await this.#kernel.whole(this.#block);
    const history = await this.#kernel.history(this.#block);
    if (isProblem(read) || isProblem(history)) throw new Error("cannot be read");
    if (read.text !== this.#text) throw new Error("the kernel has another text");
    if (history.toString() !== this.#text) throw new Error("the undo model has another text");
  }
}
