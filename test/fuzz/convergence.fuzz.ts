/**
 * Convergence [R28]: a few replicas of one block and two hundred steps of everything that can happen to it. Thin
 * replicas apply splices, merging ones are edited while away, models stream, people write directly, undo, compare and
 * set; the kernel is closed, crashes, compacts history; updates come late, twice and out of order.
 *
 * After every commit the reference (reference.ts) must hold the text that the splices come to. At points in
 * between, and at the end, everything that can tell the text must tell the same: the kernel, the store, the log, the
 * undo model, a kernel that was just opened, and at the end every replica. In some runs people type only at the ends
 * of the text: then every stream must be in one piece.
 */
import {
  type BlockId,
  type Change,
  type Conversation,
  Cursors,
  callTool,
  inlineMatcher,
  isProblem,
  Kernel,
  MemoryStore,
  type Op,
  type ProblemCode,
  VirtualEnv,
} from "@blockyard/kernel";
import { Random } from "../sim/random.ts";
import { follow, MergingReplica, ThinReplica } from "../sim/replica.ts";
import { type Connection, SimStore } from "../sim/store.ts";
import { byteSplice, lineEdit, patch } from "../sim/tool-input.ts";
import type { Fuzz, FuzzOutcome } from "./fuzz.ts";
import { Reference } from "./reference.ts";

const STEPS = 200;
const MODELS = ["model", "second"] as const;
const PEOPLE = ["ana", "ben"] as const;

export const fuzz: Fuzz = {
  name: "convergence",
  sometimes: [
    "append",
    "splice",
    "block.edit",
    "block.edit refused",
    "block.splice",
    "block.splice refused",
    "block.apply_patch",
    "block.apply_patch refused",
    "compare and set",
    "compare and set refused",
    "undo",
    "redo",
    "nothing to undo",
    "promotion during a stream",
    "merge",
    "away and back",
    "reload",
    "crash",
    "crash that lost accepted text",
    "compacted",
    "stream in one piece",
  ],
  async run(seed): Promise<FuzzOutcome> {
    const hits: Record<string, number> = {};
    const world = new World(seed, (event) => {
      hits[event] = (hits[event] ?? 0) + 1;
    });
    await world.run();
    return { ok: true, hits };
  },
};

/** What a tool may say to a call that means an older text. */
const REFUSALS: readonly ProblemCode[] = ["mismatch", "stale", "out_of_range", "boundary", "gone", "patch"];

const WEIGHTS = {
  append: 40,
  wait: 12,
  splice: 10,
  tool: 14,
  compare: 8,
  undo: 10,
  redo: 7,
  edit: 24,
  send: 12,
  deliver: 14,
  leave: 3,
  back: 4,
  reload: 2,
  crash: 2,
  promote: 1,
  compacted: 2,
  check: 3,
  other: 3,
};

class World {
  readonly #random: Random;
  readonly #count: (event: string) => void;
  readonly #env: VirtualEnv;
  readonly #store: SimStore;
  #connection: Connection;
  #kernel: Kernel;
  #cursors!: Cursors;
  #block: BlockId = "";
  /** In this run people type at the ends of the text only. */
  readonly #ends: boolean;
  readonly #reference = new Reference();
  /** What the splices come to, as they were told. */
  #shadow = "";
  #version = 0;
  #seq = 0;
  #isPromoted = false;
  readonly #past: string[] = [""];
  readonly #thin: ThinReplica[] = [];
  readonly #merging: MergingReplica[] = [];
  readonly #streams = new Map<string, { written: string; committed: string }>();
  #pending: Promise<unknown>[] = [];
  #failure: unknown;
  #undoer: string | undefined;

  constructor(seed: number, count: (event: string) => void) {
    this.#random = new Random(seed);
    this.#count = count;
    this.#env = new VirtualEnv(seed);
    this.#store = new SimStore(new MemoryStore("fuzz"), this.#env, this.#random, count);
    this.#ends = this.#random.chance(0.2);
    this.#connection = this.#store.connect();
    this.#kernel = this.#open();
  }

  async run(): Promise<void> {
    await this.#begin();
    for (let step = 0; step < STEPS; step++) {
      await this.#step();
      if (this.#random.chance(0.4)) await this.#settle();
      if (this.#failure !== undefined) throw this.#failure;
    }
    await this.#end();
    if (this.#failure !== undefined) throw this.#failure;
  }

  async #begin(): Promise<void> {
    const id = await this.#kernel.createConversation("model", "a block");
    if (isProblem(id)) throw new Error(id.message);
    const text = this.#random.chance(0.5) ? this.#random.text(this.#random.below(6)) : "";
    const kind = this.#random.chance(0.5) ? "text" : "file";
    const block = await this.#kernel.write(id, {
      agent: "model",
      plan: (draft) =>
        draft.create({
          kind,
          role: "model",
          text,
          ...(kind === "file" ? { metadata: { path: "a.ts" } } : {}),
        }),
    });
    if (isProblem(block)) throw new Error(block.message);
    this.#block = block.id;
    this.#streams.set("model", { written: "", committed: text });
    this.#streams.set("second", { written: "", committed: "" });
    const { ops } = await this.#store.inner.log(block.id, { version: 0 });
    const replicas = this.#random.between(3, 5);
    const merging = this.#random.between(1, 3);
    for (let i = 0; i < replicas; i++) {
      if (i < merging) this.#merging.push(new MergingReplica(`r${i}`, block.id, this.#random));
      else this.#thin.push(new ThinReplica());
    }
    this.#seq = block.seq - 1;
    this.#hear(ops);
  }

  #open(): Kernel {
    const kernel = new Kernel(this.#env, this.#connection.store);
    this.#cursors = new Cursors(kernel);
    kernel.listen((told) => this.#told(told));
    return kernel;
  }

  // ------------------------------------------------------------------------------------------------ what is told

  #told(told: Change): void {
    if (this.#block === "") return;
    this.#guard(() => {
      this.#hear(told.ops);
      this.#checkRecord(told.record);
    });
  }

  /** What goes wrong while the kernel is calling is not the kernel's to catch: the run ends with it. */
  #guard(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#failure ??= error;
    }
  }

  #hear(ops: readonly Op[]): void {
    for (const op of ops) {
      if (op.seqFrom !== this.#seq + 1) throw new Error(`seq ${op.seqFrom} was told after ${this.#seq}`);
      this.#seq = op.seq;
      if (op.block === this.#block) this.#hearOfBlock(op);
    }
  }

  #hearOfBlock(op: Op): void {
    this.#shadow = follow(this.#shadow, this.#version, op);
    this.#version = op.version;
    this.#past[op.version] = this.#shadow;
    this.#noteStream(op);
    this.#reference.apply(op);
    if (this.#reference.text !== this.#shadow) {
      throw new Error(
        `${describe(op)}: the reference has another text\n${this.#difference(this.#reference.text)}`,
      );
    }
    for (const replica of [...this.#thin, ...this.#merging]) replica.receive(op);
  }

  #noteStream(op: Op): void {
    const { body } = op;
    if (body.type === "promote") {
      this.#isPromoted = true;
      if (this.#isStreaming("model")) this.#count("promotion during a stream");
    }
    const text =
      body.type === "append"
        ? body.text
        : body.type === "splice" && body.anchor !== undefined
          ? (body.splices[0]?.ins ?? "")
          : "";
    const stream = this.#streams.get(op.agent);
    if (stream && text !== "") stream.committed += text;
  }

  #isStreaming(agent: string): boolean {
    return (this.#streams.get(agent)?.written ?? "") !== "";
  }

  #checkRecord(record: Conversation): void {
    if (record.seq !== this.#seq) throw new Error(`the record is at ${record.seq}, the ops at ${this.#seq}`);
  }

  // ------------------------------------------------------------------------------------------------ the steps

  async #step(): Promise<void> {
    switch (this.#random.weighted(WEIGHTS)) {
      case "append":
        return this.#append();
      case "wait":
        return this.#env.advance(this.#random.below(250));
      case "splice":
        return this.#splice();
      case "tool":
        return this.#ends ? undefined : this.#callTool();
      case "compare":
        return this.#ends ? undefined : this.#compareAndSet();
      case "undo":
        return this.#ends ? undefined : this.#undo("undo");
      case "redo":
        return this.#ends ? undefined : this.#undo("redo");
      case "edit":
        return this.#random.pick(this.#merging).edit(this.#ends);
      case "send":
        return this.#send();
      case "deliver":
        return this.#deliver();
      case "leave":
        this.#random.pick(this.#merging).isAway = true;
        return;
      case "back":
        return this.#back();
      case "reload":
        return this.#reload();
      case "crash":
        return this.#crash();
      case "promote":
        return this.#write("ana", (draft) => draft.promote(this.#block));
      case "compacted":
        return this.#compact();
      case "check":
        return this.#check();
      case "other":
        return this.#write("ben", (draft) => draft.create({ kind: "text", role: "user", text: "elsewhere" }));
    }
  }

  async #append(): Promise<void> {
    const agent = this.#random.chance(0.7) ? MODELS[0] : MODELS[1];
    const stream = this.#streams.get(agent) as { written: string };
    // Pieces are cut anywhere, inside of characters too.
    const text = this.#random.text(this.#random.between(1, 6));
    const cut = this.#random.below(text.length + 1);
    for (const piece of [text.slice(0, cut), text.slice(cut)]) {
      if (piece === "") continue;
      stream.written += piece;
      const answer = await this.#kernel.append(this.#block, agent, piece);
      if (isProblem(answer)) throw new Error(`append: ${answer.message}`);
    }
    this.#count("append");
  }

  #write(agent: string, plan: Parameters<Kernel["write"]>[1]["plan"]): void {
    const answer = this.#kernel.writeBlock(this.#block, { agent, plan }).then((done) => {
      if (isProblem(done) && done.problem !== "mismatch" && done.problem !== "nothing") {
        this.#failure ??= new Error(`${done.problem}: ${done.message}`);
      }
    });
    this.#pending.push(answer);
  }

  #splice(): void {
    const ins = this.#random.text(this.#random.below(4));
    const place = this.#random.below(1e9);
    const length = this.#random.chance(0.5) ? this.#random.below(12) : 0;
    const agent = this.#random.pick(PEOPLE);
    this.#count("splice");
    this.#write(agent, (draft) => {
      const text = draft.text(this.#block).toString();
      if (this.#ends) {
        return draft.splice(this.#block, [
          { at: place % 2 === 0 ? 0 : text.length, del: "", ins: `${ins}.` },
        ]);
      }
      const { at, end } = new Random(place).range(text, length);
      const first = { at, del: text.slice(at, end), ins };
      const second = { at: at + ins.length, del: "", ins: "²" };
      return draft.splice(this.#block, place % 5 === 0 ? [first, second] : [first]);
    });
  }

  /** An edit by line, by bytes or by diff, of the text as it was a few versions ago. */
  #callTool(): void {
    const version = Math.max(1, this.#version - (this.#random.chance(0.5) ? 0 : this.#random.below(8)));
    const target = { block: this.#block, text: this.#past[version] ?? "", version };
    const make = this.#random.pick([lineEdit, lineEdit, byteSplice, patch]);
    const { tool, input } = make(this.#random, target);
    const caller = { agent: this.#random.pick(PEOPLE), role: "agent" } as const;
    const call = {
      kernel: this.#kernel,
      caller,
      matcher: inlineMatcher(() => 0),
      cursors: this.#cursors,
    };
    const answer = callTool(call, tool, input).then((done) => {
      if (!isProblem(done)) return this.#count(tool);
      this.#count(`${tool} refused`);
      if (!REFUSALS.includes(done.problem)) {
        this.#failure ??= new Error(`${tool} ${JSON.stringify(input)}: ${done.problem}: ${done.message}`);
      }
    });
    this.#pending.push(answer);
  }

  /** Replaces what an older version had at a place, if it is still there. */
  #compareAndSet(): void {
    const version = Math.max(1, this.#version - this.#random.below(6));
    const old = this.#past[version] ?? "";
    const { at, end } = this.#random.range(old, 10);
    const del = old.slice(at, end);
    const ins = this.#random.text(1);
    this.#write(this.#random.pick(PEOPLE), (draft) => {
      const text = draft.text(this.#block);
      const isWhole = text.isCharacterBoundary(at) && text.isCharacterBoundary(end);
      if (end > text.length || !isWhole || text.slice(at, end) !== del) {
        this.#count("compare and set refused");
        return { problem: "mismatch", message: "the text is another" };
      }
      this.#count("compare and set");
      return draft.splice(this.#block, [{ at, del, ins }]);
    });
  }

  #undo(type: "undo" | "redo"): void {
    const everybody = [...PEOPLE, ...MODELS, ...this.#merging.map((replica) => replica.agent)];
    const isAgain = type === "redo" && this.#undoer !== undefined && this.#random.chance(0.7);
    const agent = isAgain ? (this.#undoer as string) : this.#random.pick(everybody);
    this.#write(agent, (draft) => {
      const done = draft.undo(this.#block, type);
      this.#count(isProblem(done) ? "nothing to undo" : type);
      if (!isProblem(done)) this.#undoer = agent;
      return done;
    });
  }

  async #send(): Promise<void> {
    const replica = this.#random.pick(this.#merging);
    if (replica.isAway || !replica.owes) return;
    const refused = await replica.send(this.#kernel);
    if (refused !== undefined) throw new Error(`${replica.agent}'s update: ${refused}`);
    this.#count("merge");
  }

  #deliver(): void {
    for (const replica of this.#merging) if (!replica.isAway) replica.deliver();
    for (const replica of this.#thin) replica.deliver(this.#random.below(6));
  }

  async #back(): Promise<void> {
    const replica = this.#random.pick(this.#merging);
    if (replica.isAway) this.#count("away and back");
    replica.isAway = false;
    const refused = await replica.sync(this.#kernel);
    if (refused !== undefined) throw new Error(`${replica.agent} comes back: ${refused}`);
  }

  async #reload(): Promise<void> {
    await this.#settle();
    await this.#kernel.close();
    this.#connect();
    this.#count("reload");
  }

  /** The kernel is gone in the middle of whatever it did. What it had committed is there. */
  async #crash(): Promise<void> {
    const isLost = MODELS.some((agent) => {
      const stream = this.#streams.get(agent);
      return stream !== undefined && stream.written.length > stream.committed.length;
    });
    if (isLost) this.#count("crash that lost accepted text");
    this.#connection.cut();
    this.#pending = [];
    await this.#env.advance(0); // what was on its way to the store arrives, or not
    await this.#catchUp();
    this.#connect();
    this.#count("crash");
  }

  #connect(): void {
    this.#connection.cut();
    this.#connection = this.#store.connect();
    this.#kernel = this.#open();
  }

  /** What was committed without our hearing of it. */
  async #catchUp(): Promise<void> {
    const record = (await this.#store.inner.conversation(
      this.#block.split("/")[0] as string,
    )) as Conversation;
    const blocks = await this.#store.inner.blocks({
      conversation: record.id,
      changedSince: this.#seq,
      order: "first",
      limit: 1e9,
    });
    const ops: Op[] = [...(await this.#store.inner.conversationOps(record.id, this.#seq))];
    for (const block of blocks) ops.push(...(await this.#store.inner.log(block.id, { seq: this.#seq })).ops);
    this.#hear(ops.sort((a, b) => a.seq - b.seq));
  }

  async #compact(): Promise<void> {
    await this.#quiet();
    if (!this.#isPromoted) return;
    const failed = await this.#kernel.compact(this.#block);
    if (isProblem(failed)) throw new Error(failed.message);
    this.#reference.compact();
    this.#count("compacted");
  }

  // ------------------------------------------------------------------------------------------------ the checks

  async #settle(): Promise<void> {
    await Promise.all(this.#pending.splice(0));
  }

  /** Everything that was accepted is durable. */
  async #quiet(): Promise<void> {
    await this.#settle();
    for (const agent of MODELS) {
      const answer = await this.#kernel.drain(this.#block, agent);
      if (isProblem(answer)) throw new Error(answer.message);
    }
  }

  async #check(): Promise<void> {
    await this.#quiet();
    await this.#checkKernel("kernel", this.#kernel);
    if (this.#random.chance(0.3)) {
      const fresh = this.#store.connect();
      await this.#checkKernel("new kernel", new Kernel(this.#env, fresh.store));
    }
    this.#same("store's text", await this.#store.inner.text(this.#block));
    const log = await this.#store.inner.log(this.#block, { version: 0 });
    let text = log.compacted?.text ?? "";
    let version = log.compacted?.version ?? 0;
    for (const op of log.ops) {
      text = follow(text, version, op);
      version = op.version;
    }
    this.#same("log", text);
    if (version !== this.#version) throw new Error(`the log ends at ${version}, not ${this.#version}`);
  }

  async #checkKernel(name: string, kernel: Kernel): Promise<void> {
    const read = await kernel.read(this.#block);
    if (isProblem(read)) throw new Error(`${name}: ${read.message}`);
    const text = read.text.toString();
    this.#same(name, text);
    const { chars, newlines, version } = read.block;
    if (version !== this.#version) throw new Error(`${name} is at ${version}, not ${this.#version}`);
    if (chars !== text.length || newlines !== text.split("\n").length - 1) {
      throw new Error(`${name} counts ${chars} units and ${newlines} newlines in ${JSON.stringify(text)}`);
    }
    const history = await kernel.history(this.#block);
    if (isProblem(history)) throw new Error(`${name}: ${history.message}`);
    this.#same(`${name}'s undo model`, history.toString());
  }

  async #end(): Promise<void> {
    await this.#check();
    for (let round = 0; round < 2; round++) {
      for (const replica of this.#merging) {
        const refused = await replica.sync(this.#kernel);
        if (refused !== undefined) throw new Error(`${replica.agent} syncs: ${refused}`);
      }
    }
    await this.#check();
    for (const replica of this.#thin) {
      replica.deliver();
      this.#same("thin replica", replica.text);
    }
    for (const replica of this.#merging) {
      this.#same(replica.agent, replica.text);
      if (replica.vector !== this.#merging[0]?.vector) throw new Error(`${replica.agent} has other clocks`);
    }
    if (this.#ends) this.#checkStreams();
  }

  #checkStreams(): void {
    for (const [agent, { committed }] of this.#streams) {
      if (!this.#shadow.includes(committed)) {
        throw new Error(
          `${agent}'s stream ${JSON.stringify(committed)} is not in one piece in ${JSON.stringify(this.#shadow)}`,
        );
      }
      if (committed !== "") this.#count("stream in one piece");
    }
  }

  #same(name: string, text: string): void {
    if (text !== this.#shadow) throw new Error(`${name} has another text\n${this.#difference(text)}`);
  }

  #difference(text: string): string {
    let at = 0;
    while (at < text.length && text[at] === this.#shadow[at]) at++;
    const from = Math.max(0, at - 20);
    return `at ${at} of ${this.#shadow.length}: ${JSON.stringify(this.#shadow.slice(from, at + 40))} against ${JSON.stringify(text.slice(from, at + 40))}`;
  }
}

function describe(op: Op): string {
  const { update: _, ...body } = { update: undefined, ...op.body };
  return `version ${op.version} by ${op.agent} ${JSON.stringify(body)}`;
}
