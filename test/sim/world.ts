/**
 * A simulated system [R31]: kernels on one store, agents that write through them, viewers that listen, and weather. One
 * seed drives virtual time, delays, failures, crashes and the agents' choices, so the same seed gives the same trace.
 *
 * The invariants are checked where things happen: in the ledger (what the store took), in the viewers (what was
 * told), in the agents (what was answered). Nothing here waits for real time.
 */
import { createHash } from "node:crypto";
import {
  type ConversationId,
  isProblem,
  Kernel,
  MemoryStore,
  type Problem,
  VirtualEnv,
} from "@blockyard/kernel";
import { Ledger } from "./ledger.ts";
import { Random } from "./random.ts";
import { type Connection, FAIR, SimStore, type Weather } from "./store.ts";
import { Viewer } from "./viewer.ts";

const WEATHERS: readonly Weather[] = [
  FAIR,
  { delayMs: 3, failBefore: 0, failAfter: 0, failRead: 0 },
  { delayMs: 20, failBefore: 0.02, failAfter: 0.02, failRead: 0.01 },
  { delayMs: 5, failBefore: 0.3, failAfter: 0, failRead: 0 },
  { delayMs: 5, failBefore: 0.05, failAfter: 0.15, failRead: 0.05 },
];

const HOUR_MS = 3_600_000;

/** One kernel and who listens to it. */
export interface Node {
  readonly name: number;
  readonly kernel: Kernel;
  readonly connection: Connection;
  viewer: Viewer | undefined;
  isAlive: boolean;
}

export class World {
  readonly env: VirtualEnv;
  readonly random: Random;
  readonly store: SimStore;
  readonly ledger: Ledger;
  readonly count: (event: string) => void;
  conversation: ConversationId = "";
  nodes: Node[] = [];
  /** The weather is fair from now on, nothing crashes any more. */
  isOver = false;
  /** Only watchers write from now on. */
  isQuiet = false;
  #names = 0;
  #failure: unknown;
  readonly #trace = createHash("sha256");

  constructor(seed: number, count: (event: string) => void) {
    this.env = new VirtualEnv(seed);
    this.random = new Random(seed);
    this.count = count;
    this.ledger = new Ledger(count);
    this.store = new SimStore(new MemoryStore("sim"), this.env, this.random, count);
  }

  /** Makes the conversation and two kernels. */
  async open(): Promise<void> {
    const maker = new Kernel(this.env, this.store.inner);
    const id = await maker.createConversation("model", "simulated");
    if (isProblem(id)) throw new Error(id.message);
    this.conversation = id;
    for (const op of await this.store.inner.conversationOps(id, 0)) this.ledger.ops.push(op);
    this.store.onCommitted = (commit) =>
      this.guard(() => {
        this.note(`commit ${commit.ops.map((op) => `${op.seq}:${op.block}:${op.version}:${op.body.type}`)}`);
        this.ledger.take(commit);
      });
    this.store.onCompacted = (block, version) => this.guard(() => this.ledger.compact(block, version));
    await Promise.all([this.#start(), this.#start()]);
  }

  /** Somebody's work; what goes wrong in it ends the run. */
  keep(work: Promise<void>): Promise<void> {
    return work.catch((error) => {
      this.#failure ??= error;
    });
  }

  /** Lets time pass until the work is done. Every node looks now and then what the others have committed. */
  async until(work: Promise<unknown>, limitMs: number): Promise<void> {
    let isDone = false;
    void work.then(() => {
      isDone = true;
    });
    for (let rounds = 0; !isDone; rounds++) {
      await this.env.advance(25);
      if (this.#failure !== undefined) throw this.#failure;
      if (this.env.monotonic() > limitMs) throw new Error(`not done after ${limitMs} ms`);
      if (rounds % 40 === 39) this.#wakeAll();
    }
    if (this.#failure !== undefined) throw this.#failure;
  }

  #wakeAll(): void {
    for (const node of this.nodes) if (node.isAlive) void node.kernel.wake(this.conversation);
  }

  /** What goes wrong while a kernel is calling must not be swallowed by it. */
  guard(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#failure ??= error;
    }
  }

  note(line: string): void {
    this.#trace.update(`${this.env.monotonic()} ${line}\n`);
  }

  /** A name for everything that happened so far, in order. */
  get trace(): string {
    return this.#trace.copy().digest("hex");
  }

  sleep(ms: number): Promise<void> {
    return new Promise((done) => this.env.after(ms, done));
  }

  /** The answer, or undefined if it does not come in time. */
  async within<T>(ms: number, answer: Promise<T>): Promise<T | undefined> {
    return Promise.race([answer, this.sleep(ms).then(() => undefined)]);
  }

  /** A kernel that can be written to. */
  async node(): Promise<Node> {
    for (;;) {
      const ready = this.nodes.filter((node) => node.isAlive && node.viewer !== undefined);
      if (ready.length > 0) return this.random.pick(ready);
      await this.sleep(10);
    }
  }

  /** Changes of weather, crashes, clocks that jump, compactions, until the agents' work is done. */
  async misbehave(forMs: number): Promise<void> {
    const until = this.env.monotonic() + forMs;
    while (this.env.monotonic() < until) {
      await this.sleep(this.random.between(5, 120));
      switch (this.random.weighted({ weather: 10, crash: 4, clock: 4, compacted: 12, wake: 6 })) {
        case "weather":
          this.store.weather = this.random.pick(WEATHERS);
          break;
        case "crash":
          this.#crash();
          break;
        case "clock":
          this.env.wallOffset += this.random.pick([-1, 1]) * this.random.pick([HOUR_MS, 8_760 * HOUR_MS]);
          this.count("clock jump");
          break;
        case "compacted":
          await this.#compact();
          break;
        case "wake":
          this.#wakeAll();
          break;
      }
    }
    this.store.weather = FAIR;
    await this.sleep(2_000);
    this.isOver = true;
  }

  #crash(): void {
    const node = this.random.pick(this.nodes);
    if (!node.isAlive) return;
    node.isAlive = false;
    node.connection.cut();
    this.count(node.connection.isBusy ? "crash with a commit under way" : "crash");
    this.note(`crash ${node.name}`);
    void this.sleep(this.random.between(5, 400)).then(() => this.#start());
  }

  async #start(): Promise<void> {
    const connection = this.store.connect();
    const kernel = new Kernel(this.env, connection.store);
    const node: Node = { name: ++this.#names, kernel, connection, viewer: undefined, isAlive: true };
    kernel.listen((told) => {
      if (!node.isAlive) return; // it died between the store's answer and this; nobody hears it
      this.note(`told ${node.name} ${told.record.seq} ${told.ops.map((op) => op.seq)}`);
      this.guard(() => node.viewer?.onCommit(told));
    });
    this.nodes = [...this.nodes.filter((other) => other.isAlive), node];
    while (node.isAlive) {
      const opened = await kernel.write(this.conversation, {
        agent: "kernel",
        plan: (draft) => ({ seq: draft.record.seq }),
      });
      if (!isProblem(opened)) {
        node.viewer = new Viewer(this.ledger, opened.seq);
        return;
      }
      await this.sleep(20);
    }
  }

  async #compact(): Promise<void> {
    const ids = [...this.ledger.entries.keys()];
    if (ids.length === 0) return;
    const node = await this.node();
    const id = this.random.pick(ids);
    const answer = await this.within(
      500,
      node.kernel.compact(id).then((failed) => failed ?? "done"),
    );
    if (answer !== undefined && !isProblem(answer)) this.note(`compacted ${id}`);
  }

  /** At the end: every kernel, the store and the ledger tell the same. */
  async check(): Promise<void> {
    const { inner } = this.store;
    for (const node of this.nodes) await node.kernel.wake(this.conversation);
    if (this.#failure !== undefined) throw this.#failure;
    const fresh = new Kernel(this.env, inner);
    for (const entry of this.ledger.entries.values()) {
      same(`${entry.id} in the store`, await inner.text(entry.id), entry.text);
      for (const kernel of [...this.nodes.map((node) => node.kernel), fresh]) {
        const whole = expect(await kernel.whole(entry.id));
        same(`${entry.id} in a kernel`, whole.text, entry.text);
        if (whole.version !== entry.version)
          throw new Error(`${entry.id} at ${whole.version}, not ${entry.version}`);
        const history = expect(await kernel.history(entry.id));
        same(`${entry.id} in the undo model`, history.toString(), entry.text);
      }
      if (entry.ends !== 1) throw new Error(`${entry.id}, a ${entry.kind}, has ended ${entry.ends} times`);
    }
    for (const { viewer, name } of this.nodes) {
      if (viewer?.seq !== this.ledger.seq)
        throw new Error(`viewer ${name} is at ${viewer?.seq}, not ${this.ledger.seq}`);
    }
  }
}

function same(name: string, actual: string, expected: string): void {
  if (actual === expected) return;
  let at = 0;
  while (actual[at] === expected[at]) at++;
  throw new Error(
    `${name} differs at ${at}: ${JSON.stringify(actual.slice(at - 10, at + 30))}, not ${JSON.stringify(expected.slice(at - 10, at + 30))}`,
  );
}

function expect<T>(answer: T | Problem): T {
  if (isProblem(answer)) throw new Error(`${answer.problem}: ${answer.message}`);
  return answer;
}
