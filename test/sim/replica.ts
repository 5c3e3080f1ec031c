/**
 * The two sorts of replicas of one block's text, as a client holds them. A thin one applies the stored splices, late but in
 * order. A merging one is a document of the CRDT library: it is edited while away, and its updates travel late,
 * twice, or out of order. Neither knows anything of the kernel's insides.
 */
import { type AgentId, type BlockId, isProblem, type Kernel, type Op, splicesOf } from "@blockyard/kernel";
import * as Y from "yjs";
import type { Random } from "./random.ts";

/** Writers below this are the kernel's. */
const REPLICA_MIN = 2 ** 31;

/** `text` at `version`, after `op`. A run of which a part is known already is cut. */
export function follow(text: string, version: number, op: Op): string {
  if (op.version <= version) return text;
  if (op.versionFrom <= version) {
    if (op.body.type !== "append") throw new Error(`op ${op.versionFrom}..${op.version} after ${version}`);
    return text + op.body.text.slice(text.length - op.body.at);
  }
  if (op.versionFrom !== version + 1) throw new Error(`version ${op.versionFrom} after ${version}: a gap`);
  let next = text;
  for (const { at, del, ins } of splicesOf(op)) {
    if (next.slice(at, at + del.length) !== del)
      throw new Error(`a splice at ${at} deletes what is not there`);
    next = next.slice(0, at) + ins + next.slice(at + del.length);
  }
  return next;
}

export class ThinReplica {
  text = "";
  version = 0;
  readonly #inbox: Op[] = [];

  receive(op: Op): void {
    this.#inbox.push(op);
  }

  deliver(count = this.#inbox.length): void {
    for (const op of this.#inbox.splice(0, count)) {
      this.text = follow(this.text, this.version, op);
      this.version = Math.max(this.version, op.version);
    }
  }
}

export class MergingReplica {
  readonly agent: AgentId;
  readonly block: BlockId;
  isAway = false;
  readonly #doc = new Y.Doc();
  readonly #text = this.#doc.getText("t");
  readonly #random: Random;
  #inbox: Uint8Array[] = [];
  #outbox: Uint8Array[] = [];
  readonly #sent: Uint8Array[] = [];

  constructor(agent: AgentId, block: BlockId, random: Random) {
    this.agent = agent;
    this.block = block;
    this.#random = random;
    this.#doc.clientID = REPLICA_MIN + random.below(2 ** 31);
    this.#doc.on("update", (update: Uint8Array, origin: unknown) => {
      if (origin === "local") this.#outbox.push(update);
    });
  }

  get text(): string {
    return this.#text.toString();
  }

  get owes(): boolean {
    return this.#outbox.length > 0;
  }

  receive(op: Op): void {
    if (op.body.type === "splice") this.#inbox.push(op.body.update);
  }

  /** Applies some of what has arrived, in any order, some of it twice. */
  deliver(): void {
    const count = this.#random.below(this.#inbox.length + 1);
    for (let i = 0; i < count; i++) {
      const [update] = this.#inbox.splice(this.#random.below(this.#inbox.length), 1);
      this.#take(update as Uint8Array);
      if (this.#random.chance(0.2)) this.#inbox.push(update as Uint8Array);
    }
  }

  /** `ends`: at the start or the end of the text as it is here, and nothing is deleted. */
  edit(ends: boolean): void {
    const { text } = this;
    const { at, end } = ends ? this.#anEnd(text) : this.#random.range(text, this.#random.chance(0.4) ? 8 : 0);
    const ins = ends || this.#random.chance(0.75) ? this.#random.text(this.#random.between(1, 3)) : "";
    this.#doc.transact(() => {
      if (end > at) this.#text.delete(at, end - at);
      if (ins !== "") this.#text.insert(at, ins);
      // Typed and deleted before anybody saw it.
      if (!ends && this.#random.chance(0.1)) {
        this.#text.insert(at, "oops");
        this.#text.delete(at, 4);
      }
    }, "local");
  }

  /** Sends what is owed: one by one, as one, or one that went before once more. What could not be merged is told. */
  async send(kernel: Kernel): Promise<string | undefined> {
    if (this.#sent.length > 0 && this.#random.chance(0.15)) {
      const again = await this.#write(kernel, this.#random.pick(this.#sent));
      if (again !== undefined) return again;
    }
    if (this.#outbox.length > 1 && this.#random.chance(0.1)) return this.#sendLastFirst(kernel);
    if (this.#random.chance(0.5)) {
      if (this.#outbox.length > 1) this.#outbox = [Y.mergeUpdates(this.#outbox)];
    }
    while (this.#outbox.length > 0) {
      const [update] = this.#outbox as [Uint8Array];
      const refused = await this.#write(kernel, update);
      if (refused !== undefined) return refused;
      this.#outbox.shift();
      this.#sent.push(update);
    }
    return undefined;
  }

  /** Gets what is missed, and sends what the kernel misses: after this, both have everything. */
  async sync(kernel: Kernel): Promise<string | undefined> {
    const isWhole = this.#random.chance(0.3) || this.owes;
    const vector = isWhole ? undefined : Y.encodeStateVector(this.#doc);
    const answer = await kernel.mergeState(this.block, this.agent, vector);
    if (isProblem(answer)) return answer.message;
    this.#take(answer.update);
    if (!isWhole) return undefined;
    const missing = Y.encodeStateAsUpdate(this.#doc, Y.encodeStateVectorFromUpdate(answer.update));
    const refused = await this.#write(kernel, missing);
    if (refused === undefined) this.#outbox = [];
    return refused;
  }

  /** The clocks of all writers: equal documents have equal ones. */
  get vector(): string {
    const clocks = [...Y.decodeStateVector(Y.encodeStateVector(this.#doc))].sort(([a], [b]) => a - b);
    return JSON.stringify(clocks);
  }

  async #sendLastFirst(kernel: Kernel): Promise<string | undefined> {
    const refused = await this.#write(kernel, this.#outbox.at(-1) as Uint8Array);
    if (refused === undefined) return undefined; // both touched nothing that the other needs
    if (!refused.startsWith("stale")) return refused;
    return this.sync(kernel);
  }

  async #write(kernel: Kernel, update: Uint8Array): Promise<string | undefined> {
    const answer = await kernel.writeBlock(this.block, {
      agent: this.agent,
      plan: (draft) => draft.merge(this.block, update),
    });
    return isProblem(answer) ? `${answer.problem}: ${answer.message}` : undefined;
  }

  #take(update: Uint8Array): void {
    Y.applyUpdate(this.#doc, update, "kernel");
  }

  #anEnd(text: string): { at: number; end: number } {
    const at = this.#random.chance(0.7) ? text.length : 0;
    return { at, end: at };
  }
}
