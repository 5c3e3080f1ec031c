/**
 * Turns of several nodes on one store: what is asked at one of them for a turn that runs on another. Two kernels on one
 * MemoryStore in virtual time; what runs in a turn is made up.
 */

import {
  type BlockId,
  type Broadcast,
  type Draft,
  Ingest,
  isProblem,
  type JsonObject,
  Kernel,
  LocalBroadcast,
  limits,
  MemoryNodes,
  MemoryStore,
  Nodes,
  problem,
  type Reason,
  type Turn,
  VirtualEnv,
} from "@blockyard/kernel";
import { describe, expect, it } from "vitest";
import { fenced } from "../ingest/fence.ts";
import { STREAM } from "./agents.ts";
import type { Driver } from "./driver.ts";
import type { Answer, Run, RunEnd, TurnStart } from "./run.ts";
import { Turns } from "./turns.ts";

class TestHarness {
  readonly env = new VirtualEnv(3);
  readonly store = new MemoryStore("e");
  readonly broadcast = new LocalBroadcast();
  hasBroker = true;
  conversation = "";

  constructor() {
    this.store.nodes = new MemoryNodes(() => this.env.monotonic());
  }

  async nodes(): Promise<[Node, Node]> {
    const [a, b] = [new Node(this), new Node(this)];
    await a.nodes.start();
    await b.nodes.start();
    this.conversation = good(await a.kernel.createConversation("ann", ""));
    return [a, b];
  }

  /** What it comes to, with as much time as it may need. */
  async within<T>(ms: number, asked: Promise<T>): Promise<T> {
    let isDone = false;
    void asked.then(() => {
      isDone = true;
    });
    for (let spent = 0; !isDone && spent < ms; spent += 10) await this.env.advance(10);
    expect(isDone, `within ${ms} ms`).toBe(true);
    return asked;
  }
}

class Node {
  readonly kernel: Kernel;
  readonly nodes: Nodes;
  readonly turns: Turns;
  readonly runs: FakeRun[] = [];
  readonly #conversation: () => string;
  /** It stands still: nothing that it would do of itself happens. */
  isStill = false;
  /** A prompt that cannot be sent here. */
  refused = "";

  constructor(harness: TestHarness) {
    const env = {
      now: () => harness.env.now(),
      monotonic: () => harness.env.monotonic(),
      random: () => harness.env.random(),
      soon: (run: () => void) => harness.env.soon(run),
      after: (ms: number, run: () => void): (() => void) => {
        const late = () => (this.isStill ? void harness.env.after(1, late) : run());
        return harness.env.after(ms, late);
      },
    };
    this.kernel = new Kernel(env, harness.store);
    const joined = harness.broadcast.join();
    const broadcast: Broadcast = {
      ...joined,
      send: (word) => harness.hasBroker && joined.send(word),
      listen: (listener) => joined.listen((word) => !this.isStill && listener(word)),
    };
    this.nodes = new Nodes({ kernel: this.kernel, broadcast, agent: "blockyard" });
    const driver: Driver = {
      provider: "fake",
      abilities: STREAM,
      check: ({ prompt }) => (prompt === this.refused ? problem("invalid", "not here") : undefined),
      start: async (start) => {
        const run = new FakeRun(start);
        this.runs.push(run);
        return run;
      },
    };
    this.turns = new Turns({ kernel: this.kernel, drivers: [driver] });
    this.#conversation = () => harness.conversation;
  }

  start(prompt: string) {
    return this.turns.start("ann", { conversation: this.#conversation(), provider: "fake", prompt });
  }

  stop(queued = false, only?: string) {
    return this.turns.stop("ben", this.#conversation(), queued, only);
  }

  release(only?: string) {
    return this.turns.release("ben", this.#conversation(), only);
  }

  async list(): Promise<readonly Turn[]> {
    return good(await this.kernel.turns(this.#conversation()));
  }

  /** The agent asks for leave. */
  async ask(turn: string): Promise<BlockId> {
    const ask = { id: "q1", kind: "permission", state: "asked", input: { command: "ls" } };
    const metadata = { toolUseId: "u", toolName: "Bash", turn, ask };
    const made = await this.kernel.write(this.#conversation(), {
      agent: "fake",
      plan: (draft: Draft) =>
        draft.create({ kind: "tool_call", role: "model", status: "running", text: "", metadata }),
    });
    return good(made).id;
  }
}

class FakeRun implements Run {
  readonly start: TurnStart;
  readonly ended: Promise<RunEnd>;
  readonly said: Answer[] = [];
  readonly reasons: Reason[] = [];
  asking: BlockId | undefined;
  isDeaf = false;
  end: (end: RunEnd) => void = () => undefined;

  constructor(start: TurnStart) {
    this.start = start;
    this.ended = new Promise((end) => {
      this.end = end;
    });
  }

  stop(reason: Reason): void {
    this.reasons.push(reason);
    if (!this.isDeaf) this.end({ error: "Stopped.", reason, isExpected: true });
  }

  kill(reason: Reason): void {
    this.stop(reason);
  }

  asks(ask: string): BlockId | undefined {
    return ask === "q1" ? this.asking : undefined;
  }

  answer(answer: Answer): void {
    this.said.push(answer);
  }
}

describe("[N7] what is asked for a turn of another node", () => {
  for (const hasBroker of [true, false]) {
    const how = hasBroker ? "with a broker" : "without one";

    it(`stops it, ${how}`, async () => {
      const harness = new TestHarness();
      const [a, b] = await harness.nodes();
      harness.hasBroker = hasBroker;
      good(await a.start("go"));
      expect(await harness.within(hasBroker ? 200 : 4_000, b.stop())).toEqual({
        stopped: 1,
        dropped: 0,
        held: 0,
      });
      expect(a.runs[0]?.reasons).toEqual(["cancelled"]);
      expect(outcome(await b.list())).toEqual([["error", "cancelled"]]);
    });

    it(`is answered once, with what was shown, ${how}`, async () => {
      const harness = new TestHarness();
      const [a, b] = await harness.nodes();
      harness.hasBroker = hasBroker;
      const { turn } = good(await a.start("go"));
      const call = await a.ask(turn);
      const [run] = a.runs as [FakeRun];
      run.asking = call;
      const answered = b.turns.answer("ben", call, "q1", { allow: true });
      expect(await harness.within(hasBroker ? 200 : 4_000, answered)).toEqual({ state: "allowed" });
      expect(run.said).toMatchObject([{ ask: "q1", allow: true, input: { command: "ls" } }]);
      const { metadata } = good(await b.kernel.block(call));
      expect(metadata["ask"]).toMatchObject({ state: "allowed", answeredBy: "ben" });
      const again = await b.turns.answer("ben", call, "q1", { allow: false });
      expect(again).toMatchObject({ problem: "conflict" });
      expect(run.said).toHaveLength(1);
    });
  }

  it("is given to nobody where the running agent has not asked it", async () => {
    const harness = new TestHarness();
    const [a, b] = await harness.nodes();
    const { turn } = good(await a.start("go"));
    const call = await a.ask(turn);
    const answered = await harness.within(
      2 * limits.commandMs,
      b.turns.answer("ben", call, "q1", { allow: true }),
    );
    expect(answered).toMatchObject({ problem: "unavailable" });
    expect(a.runs[0]?.said).toEqual([]);
  });

  it("says so where that node does nothing, and is done when it is back", async () => {
    const harness = new TestHarness();
    const [a, b] = await harness.nodes();
    good(await a.start("go"));
    a.isStill = true;
    expect(await harness.within(2 * limits.commandMs, b.stop())).toMatchObject({ problem: "unavailable" });
    a.isStill = false;
    await harness.env.advance(2 * limits.lookMs);
    expect(a.runs[0]?.reasons).toEqual(["cancelled"]);
  });

  it("drops what waits there, by name or all of it, and it is never sent", async () => {
    const harness = new TestHarness();
    const [a, b] = await harness.nodes();
    good(await a.start("go"));
    const first = good(await a.start("first"));
    good(await a.start("second"));
    expect(first.queued).toBe(true);
    expect(await harness.within(500, b.stop(false, first.turn))).toEqual({ stopped: 0, dropped: 1, held: 0 });
    expect(await harness.within(500, b.stop(true))).toEqual({ stopped: 1, dropped: 1, held: 0 });
    await harness.env.advance(5_000);
    expect(a.runs).toHaveLength(1);
  });
});

describe("[D15] what waits when a turn is stopped", () => {
  it("is held wherever it waits, and sent when somebody says so, at whichever node", async () => {
    const harness = new TestHarness();
    const [a, b] = await harness.nodes();
    good(await a.start("go"));
    good(await a.start("here"));
    const there = good(await b.start("there"));
    expect(await harness.within(500, b.stop())).toEqual({ stopped: 1, dropped: 0, held: 2 });
    await harness.env.advance(5_000);
    expect([a.runs.length, b.runs.length]).toEqual([1, 0]);
    expect(good(await a.release(there.turn))).toEqual({ sent: 1 });
    await harness.env.advance(200);
    expect(a.runs.map(({ start }) => start.request.prompt)).toEqual(["go", "there"]);
    expect(await a.release(there.turn)).toMatchObject({ problem: "gone" });
    a.runs[1]?.end({ error: "over", isExpected: true });
    await harness.env.advance(5_000);
    expect(b.runs).toHaveLength(0);
    expect(good(await b.release())).toEqual({ sent: 1 });
    await harness.env.advance(200);
    expect(b.runs.map(({ start }) => start.request.prompt)).toEqual(["here"]);
  });

  it("is sent as far as it can be: one that cannot does not keep those before it", async () => {
    const harness = new TestHarness();
    const [a] = await harness.nodes();
    good(await a.start("go"));
    good(await a.start("first"));
    good(await a.start("second"));
    good(await harness.within(500, a.stop()));
    a.refused = "second";
    expect(await a.release()).toMatchObject({ problem: "invalid" });
    await harness.env.advance(200);
    expect(a.runs.map(({ start }) => start.request.prompt)).toEqual(["go", "first"]);
  });

  it("is one of two releases' only", async () => {
    const harness = new TestHarness();
    const [a, b] = await harness.nodes();
    good(await a.start("go"));
    good(await a.start("next"));
    good(await a.stop());
    const both = await harness.within(500, Promise.all([a.release(), b.release()]));
    expect(both.reduce((sum, each) => sum + (isProblem(each) ? 0 : each.sent), 0)).toBe(1);
    await harness.env.advance(500);
    expect(a.runs.length + b.runs.length).toBe(2);
  });

  it("outlives the node that was to send it", async () => {
    const harness = new TestHarness();
    const [a, b] = await harness.nodes();
    good(await a.start("go"));
    good(await a.start("next"));
    a.isStill = true;
    await harness.env.advance(2 * limits.leaseMs);
    expect(b.runs).toHaveLength(0);
    expect(good(await b.release())).toEqual({ sent: 1 });
    await harness.env.advance(200);
    expect(b.runs.map(({ start }) => start.request.prompt)).toEqual(["next"]);
  });
});

describe("[N8] one turn at a time", () => {
  it("waits here while another node runs one, and begins when that has ended", async () => {
    const harness = new TestHarness();
    const [a, b] = await harness.nodes();
    good(await a.start("one"));
    expect(good(await b.start("two")).queued).toBe(true);
    expect(good(await b.start("three")).queued).toBe(true);
    await harness.env.advance(5_000);
    expect(b.runs).toHaveLength(0);
    a.runs[0]?.end({ error: "over", isExpected: true });
    await harness.env.advance(200);
    expect(b.runs.map(({ start }) => start.request.prompt)).toEqual(["two"]);
    b.runs[0]?.end({ error: "over", isExpected: true });
    await harness.env.advance(200);
    expect(b.runs.map(({ start }) => start.request.prompt)).toEqual(["two", "three"]);
  });

  it("begins one of two that are started at the same moment", async () => {
    const harness = new TestHarness();
    const [a, b] = await harness.nodes();
    const both = await harness.within(500, Promise.all([a.start("one"), b.start("two")]));
    expect(both.map((started) => good(started).queued).sort()).toEqual([false, true]);
    expect(a.runs.length + b.runs.length).toBe(1);
    for (const run of [...a.runs, ...b.runs]) run.end({ error: "over", isExpected: true });
    await harness.env.advance(500);
    expect(a.runs.length + b.runs.length).toBe(2);
  });

  it("begins what waits when the node that ran one has died", async () => {
    const harness = new TestHarness();
    const [a, b] = await harness.nodes();
    good(await a.start("one"));
    good(await b.start("two"));
    a.isStill = true;
    await harness.env.advance(2 * limits.leaseMs);
    expect(outcome(await b.list())).toEqual([
      ["error", "interrupted"],
      ["running", undefined],
    ]);
    expect(b.runs).toHaveLength(1);
  });
});

describe("[N9] a node that stood still until it was taken for dead", () => {
  it("ends what it ran when it goes on, and what that said is not written", async () => {
    const harness = new TestHarness();
    const [a, b] = await harness.nodes();
    const { turn } = good(await a.start("one"));
    const [run] = a.runs as [FakeRun];
    run.isDeaf = true;
    const { conversation } = harness;
    const ingest = new Ingest(fenced(a.kernel, turn), { conversation, agent: "fake", turn });
    good(await ingest.open());
    await ingest.push([
      { type: "turn-start", turn: "t", provider: "fake", model: "m" },
      { type: "block-start", key: "k", kind: "text", role: "model", metadata: {}, text: "said before" },
    ]);
    await harness.within(500, ingest.drain());
    a.isStill = true;
    await harness.env.advance(2 * limits.leaseMs);
    expect(outcome(await b.list())).toEqual([["error", "interrupted"]]);
    // It goes on in the middle of what it was about to write, planned on what it knew then.
    const late = ingest.push([
      { type: "block-append", key: "k", text: ", said after" },
      { type: "block-end", key: "k", status: "done" },
      { type: "turn-end", turn: "t", status: "done" },
    ]);
    a.isStill = false;
    await harness.within(500, late);
    expect(await harness.within(500, ingest.finish())).toMatchObject({ problem: "gone" });
    expect(outcome(await b.list())).toEqual([["error", "interrupted"]]);
    const [, block] = good(await b.kernel.blocks({ conversation, order: "first", limit: 9 }));
    expect(block).toMatchObject({ status: "error", metadata: { reason: "interrupted" } });
    expect(good(await b.kernel.whole(block?.id ?? "")).text).toBe("said before");
    expect(run.reasons).toEqual(["interrupted"]);
  });

  it("finds a stream that was piped in ended too, whatever its turns are called", async () => {
    const harness = new TestHarness();
    const [a, b] = await harness.nodes();
    const { conversation } = harness;
    const ingest = new Ingest(fenced(a.kernel), { conversation, agent: "fake" });
    good(await ingest.open());
    await ingest.push([
      { type: "turn-start", turn: "t", provider: "fake" },
      { type: "turn-start", turn: "t", provider: "fake", model: "m" },
      { type: "block-start", key: "k", kind: "text", role: "model", metadata: {}, text: "piped" },
    ]);
    await harness.within(500, ingest.drain());
    expect(await b.list()).toMatchObject([{ status: "running", node: a.nodes.id }]);
    expect(good(await b.start("meanwhile")).queued).toBe(false); // it takes no orders, and nobody waits for it
    a.isStill = true;
    await harness.env.advance(2 * limits.leaseMs);
    a.isStill = false;
    await ingest.push([{ type: "turn-end", turn: "t", status: "done" }]);
    expect(await harness.within(500, ingest.finish())).toMatchObject({ problem: "gone" });
    expect(outcome(await b.list())[0]).toEqual(["error", "interrupted"]);
  });

  it("lets the run that ends its turn itself say its last words", async () => {
    const harness = new TestHarness();
    const [a] = await harness.nodes();
    const { turn } = good(await a.start("one"));
    const { conversation } = harness;
    const ingest = new Ingest(fenced(a.kernel, turn), { conversation, agent: "fake", turn });
    good(await ingest.open());
    await ingest.push([{ type: "turn-start", turn: "t", provider: "fake" }]);
    await harness.within(500, ingest.drain());
    await ingest.push([{ type: "turn-end", turn: "t", status: "done" }]);
    await harness.within(500, ingest.drain());
    const metadata = {} satisfies JsonObject;
    await ingest.push([
      { type: "block-start", key: "k", kind: "text", role: "model", metadata, text: "late" },
    ]);
    expect(await harness.within(500, ingest.finish())).toBeUndefined();
    expect(outcome(await a.list())).toEqual([["done", undefined]]);
    expect(a.runs[0]?.reasons).toEqual([]);
  });
});

function outcome(turns: readonly Turn[]) {
  return turns.map(({ status, reason }) => [status, reason]);
}

function good<T>(value: T): Exclude<T, { problem: string }> {
  if (isProblem(value)) throw new Error(value.message);
  return value as Exclude<T, { problem: string }>;
}
