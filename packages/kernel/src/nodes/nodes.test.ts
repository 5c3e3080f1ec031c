/**
 * Nodes that share a store: what each hears of the other's commits, with hints and without, and who closes what a dead one
 * left. Several kernels on one MemoryStore, in virtual time.
 */

import { describe, expect, it } from "vitest";
import type { Change } from "../model/change.ts";
import type { Turn } from "../model/conversation.ts";
import { limits } from "../model/limits.ts";
import { isProblem } from "../model/problem.ts";
import { type Broadcast, type BroadcastMessage, LocalBroadcast } from "../ports/broadcast.ts";
import { MemoryNodes } from "../testing/memory-nodes.ts";
import { MemoryStore } from "../testing/memory-store.ts";
import { settle, VirtualEnv } from "../testing/virtual-env.ts";
import { PROTOCOL, type ServerFrame } from "../wire/frame.ts";
import { Connection } from "../wire/server/connection.ts";
import { Cursors } from "../write/cursors.ts";
import { Kernel } from "../write/kernel.ts";
import { Nodes } from "./nodes.ts";
import type { Closed } from "./orphans.ts";

class TestHarness {
  readonly env = new VirtualEnv(7);
  readonly store = new MemoryStore("e");
  readonly broadcast = new LocalBroadcast();
  readonly messages: BroadcastMessage[] = [];
  isBrokerDown = false;

  constructor() {
    this.store.nodes = new MemoryNodes(() => this.env.monotonic());
  }

  async node(): Promise<Node> {
    const node = new Node(this);
    await node.nodes.start();
    return node;
  }

  join(): Broadcast {
    const joined = this.broadcast.join();
    return {
      ...joined,
      send: (message) => {
        this.messages.push(message);
        if (!this.isBrokerDown) joined.send(message);
      },
    };
  }
}

class Node {
  readonly kernel: Kernel;
  readonly nodes: Nodes;
  readonly told: Change[] = [];
  readonly closed: Closed[] = [];

  constructor(harness: TestHarness) {
    this.kernel = new Kernel(harness.env, harness.store);
    this.kernel.listen((told) => this.told.push(told));
    const onClosed = (closed: Closed) => this.closed.push(closed);
    this.nodes = new Nodes({ kernel: this.kernel, broadcast: harness.join(), agent: "blockyard", onClosed });
  }

  seqs(): readonly number[] {
    return this.told.flatMap(({ ops }) => ops.map(({ seq }) => seq));
  }
}

describe("[N1] what another node commits", () => {
  it("is told to those who follow, everything once and in order, within the time of a hint", async () => {
    const harness = new TestHarness();
    const [a, b] = [await harness.node(), await harness.node()];
    const id = good(await a.kernel.createConversation("ann", "x"));
    good(await b.kernel.follow(id));
    for (let i = 0; i < 5; i++) {
      await say(a.kernel, id, "ann", `${i}`);
      if (i % 2 === 0) await say(b.kernel, id, "ben", `${i}`);
    }
    await harness.env.advance(limits.hintMs);
    expect(b.seqs()).toEqual(range(2, 9));
    expect(a.seqs().slice(0, 1)).toEqual([1]);
  });

  it("is heard by a viewer who has only ever read, from where it stopped reading", async () => {
    const harness = new TestHarness();
    const [a, b] = [await harness.node(), await harness.node()];
    const id = good(await a.kernel.createConversation("ann", "x"));
    await say(a.kernel, id, "ann", "before");
    const frames: ServerFrame[] = [];
    const viewer = connect(b.kernel, frames);
    viewer.receive({ type: "subscribe", sub: 1, conversation: id });
    await settle();
    await say(a.kernel, id, "ann", "one");
    // Whoever writes here next must not step over what came in between.
    await say(b.kernel, id, "ben", "two");
    await harness.env.advance(50);
    expect(opsOf(frames)).toEqual([3, 4]);
  });

  it("is not told again to a viewer who got it with what it read first", async () => {
    const harness = new TestHarness();
    harness.isBrokerDown = true;
    const [a, b] = [await harness.node(), await harness.node()];
    const id = good(await a.kernel.createConversation("ann", "x"));
    await say(a.kernel, id, "ann", "before");
    const read = harness.store.blocks.bind(harness.store);
    let isFirst = true;
    harness.store.blocks = async (query) => {
      if (isFirst) await say(a.kernel, id, "ann", "between");
      isFirst = false;
      return read(query);
    };
    const frames: ServerFrame[] = [];
    const viewer = connect(b.kernel, frames);
    viewer.receive({ type: "subscribe", sub: 1, conversation: id });
    await settle();
    const [verdict] = frames.filter((frame) => frame.type === "verdict");
    expect(verdict).toMatchObject({ verdict: "reset", seq: 2, blocks: [{}, {}] });
    await harness.env.advance(limits.lookMs + 50);
    expect(opsOf(frames)).toEqual([]);
    await say(a.kernel, id, "ann", "after");
    await harness.env.advance(limits.lookMs + 50);
    expect(opsOf(frames)).toEqual([4]);
  });

  it("[N2] is found by looking where hints are lost, within a second", async () => {
    const harness = new TestHarness();
    harness.isBrokerDown = true;
    const [a, b] = [await harness.node(), await harness.node()];
    const id = good(await a.kernel.createConversation("ann", "x"));
    good(await b.kernel.follow(id));
    await say(a.kernel, id, "ann", "one");
    await harness.env.advance(limits.lookMs);
    expect(b.seqs()).toEqual([2]);
  });

  it("[N2] is found one by one where the store cannot be asked for many", async () => {
    const harness = new TestHarness();
    harness.isBrokerDown = true;
    Object.assign(harness.store, { seqs: undefined });
    const [a, b] = [await harness.node(), await harness.node()];
    const count = limits.lookedAtSingly + 10;
    for (let i = 0; i < count; i++) {
      const id = good(await a.kernel.createConversation("ann", `${i}`));
      good(await b.kernel.follow(id));
      await say(a.kernel, id, "ann", "one");
    }
    await harness.env.advance(2 * limits.lookMs);
    expect(b.seqs()).toHaveLength(count);
  });

  it("[N3] is told to lists, as far as where it stands, though nobody has it open", async () => {
    const harness = new TestHarness();
    const [a, b] = [await harness.node(), await harness.node()];
    await harness.env.advance(limits.lookMs);
    for (const isDown of [false, true]) {
      harness.isBrokerDown = isDown;
      const frames: ServerFrame[] = [];
      const viewer = connect(b.kernel, frames);
      viewer.receive({ type: "watch" });
      const id = good(await a.kernel.createConversation("ann", `title ${isDown}`));
      await harness.env.advance(limits.lookMs + 2 * limits.watchMs);
      const records = frames.flatMap((frame) => (frame.type === "records" ? frame.records : []));
      expect(records.map(({ id: of, title }) => [of, title])).toEqual([[id, `title ${isDown}`]]);
      viewer.close();
    }
  });

  it("[N4] is not kept where nobody follows: what was cached is read anew", async () => {
    const harness = new TestHarness();
    const [a, b] = [await harness.node(), await harness.node()];
    const id = good(await a.kernel.createConversation("ann", "x"));
    await say(b.kernel, id, "ben", "opens it there");
    expect(b.kernel.open().has(id)).toBe(true);
    await harness.env.advance(limits.rivalMs);
    await say(a.kernel, id, "ann", "one");
    await harness.env.advance(limits.hintMs);
    expect(b.kernel.open().has(id)).toBe(false);
    expect(good(await b.kernel.conversation(id)).seq).toBe(3);
  });
});

describe("[N20] nodes that write to one conversation", () => {
  /** How often a commit was too late, on a way that takes its time. */
  function tooLate({ store }: TestHarness): () => number {
    const commit = store.commit.bind(store);
    let count = 0;
    store.commit = async (given) => {
      await settle();
      const answer = await commit(given);
      if (answer.type === "moved") count++;
      return answer;
    };
    return () => count;
  }

  it("take turns: after the first collision no commit is too late, and everything is there once", async () => {
    const harness = new TestHarness();
    const nodes = [await harness.node(), await harness.node(), await harness.node()];
    const id = good(await nodes[0]!.kernel.createConversation("ann", "x"));
    const late = tooLate(harness);
    await Promise.all(
      range(1, 12).map(async (writer) => {
        for (let n = 0; n < 10; n++) await say(nodes[writer % 3]!.kernel, id, `w${writer}`, `${n}`);
      }),
    );
    expect(late()).toBeLessThanOrEqual(nodes.length); // each of them meets the others once
    const ops = await harness.store.blocks({ conversation: id, order: "first", limit: 1_000 });
    expect(ops.map(({ born }) => born)).toEqual(range(2, 121));
    for (const node of nodes) {
      await node.kernel.wake(id);
      expect(good(await node.kernel.conversation(id)).seq).toBe(121);
      expect(node.seqs()).toEqual(range(node.seqs()[0] ?? 0, 121));
    }
  });

  it("do a write with a key once, at whichever of them it comes in at the same time", async () => {
    const harness = new TestHarness();
    const nodes = [await harness.node(), await harness.node()];
    const id = good(await nodes[0]!.kernel.createConversation("ann", "x"));
    for (let round = 0; round < 20; round++) {
      const made = await Promise.all(
        [0, 1, 0, 1].map((n) =>
          nodes[n]!.kernel.write(id, {
            agent: "ann",
            key: `k${round}`,
            plan: (draft) => draft.create({ kind: "text", role: "user", text: `${round}`, status: "done" }),
          }),
        ),
      );
      expect(new Set(made.map((block) => JSON.stringify(good(block)))).size).toBe(1);
    }
    expect(good(await nodes[0]!.kernel.allBlocks(id))).toHaveLength(20);
  });

  it("do it once also where it comes in again while the keys of others are looked for", async () => {
    const harness = new TestHarness();
    const nodes = [await harness.node(), await harness.node()];
    const id = good(await nodes[0]!.kernel.createConversation("ann", "x"));
    const write = (node: number, key: string) =>
      nodes[node]!.kernel.write(id, {
        agent: "ann",
        key,
        plan: (draft) => draft.create({ kind: "text", role: "user", text: key, status: "done" }),
      });
    await write(1, "first");
    const made = good(await write(0, "again"));
    const inTurn = harness.store.commitInTurn.bind(harness.store);
    const came: ReturnType<typeof write>[] = [];
    harness.store.commitInTurn = (turned) =>
      inTurn({
        ...turned,
        keys: () => {
          const keys = turned.keys();
          if (came.length === 0) came.push(write(1, "again"));
          return keys;
        },
      });
    await write(1, "second");
    expect(await came[0]).toEqual(made);
    expect(good(await nodes[0]!.kernel.allBlocks(id))).toHaveLength(3);
  });

  it("go together with those that came while their turn was waited for, each done once", async () => {
    const harness = new TestHarness();
    const nodes = [await harness.node(), await harness.node()];
    const id = good(await nodes[0]!.kernel.createConversation("ann", "x"));
    const write = (node: number, key: string) =>
      nodes[node]!.kernel.write(id, {
        agent: "ann",
        key,
        plan: (draft) => draft.create({ kind: "text", role: "user", text: key, status: "done" }),
      });
    await write(1, "first");
    const made = good(await write(0, "again"));
    const inTurn = harness.store.commitInTurn.bind(harness.store);
    const came: ReturnType<typeof write>[] = [];
    let turns = 0;
    harness.store.commitInTurn = (turned) =>
      inTurn({
        ...turned,
        keys: () => {
          turns++;
          return turned.keys();
        },
        moreKeys: () => {
          if (came.length === 0) for (const key of ["again", "a", "b"]) came.push(write(1, key));
          return turned.moreKeys();
        },
      });
    await write(1, "second");
    expect(await came[0]).toEqual(made);
    await Promise.all(came);
    expect(turns).toBe(1);
    expect(good(await nodes[0]!.kernel.allBlocks(id))).toHaveLength(5);
  });

  it("are told what is not known, and what was not written, of a turn that ends badly", async () => {
    const harness = new TestHarness();
    const nodes = [await harness.node(), await harness.node()];
    const id = good(await nodes[0]!.kernel.createConversation("ann", "x"));
    for (const { kernel } of nodes) await say(kernel, id, "ann", "begins");
    const inTurn = harness.store.commitInTurn.bind(harness.store);
    const write = (key: string) =>
      nodes[0]!.kernel.write(id, {
        agent: "ann",
        key,
        plan: (draft) => draft.create({ kind: "text", role: "user", text: key, status: "done" }),
      });
    // The answer is lost: it is found to be there.
    harness.store.commitInTurn = async (turned) => {
      await inTurn(turned);
      throw new Error("lost");
    };
    expect(good(await write("a"))).toMatchObject({ chars: 1 });
    // The transaction begins again after it was planned: it is planned anew, and is there once.
    harness.store.commitInTurn = async (turned) => {
      turned.keys();
      turned.plan(undefined, new Map());
      return inTurn(turned);
    };
    await Promise.all([write("b"), write("c"), say(nodes[1]!.kernel, id, "ben", "between")]);
    // It never came to its turn.
    harness.store.commitInTurn = async () => {
      throw new Error("no connection");
    };
    expect(await write("d")).toMatchObject({ problem: "uncertain" });
    const texts = good(await nodes[1]!.kernel.allBlocks(id)).map(({ id: block }) =>
      harness.store.text(block),
    );
    expect((await Promise.all(texts)).slice(2).sort()).toEqual(["a", "b", "between", "c"]);
  });
});

describe("[N5] hints", () => {
  it("are gathered, and what was heard from others is not hinted at again", async () => {
    const harness = new TestHarness();
    const [a, b] = [await harness.node(), await harness.node()];
    const id = good(await a.kernel.createConversation("ann", "x"));
    good(await b.kernel.follow(id));
    await harness.env.advance(100);
    harness.messages.length = 0;
    for (let i = 0; i < 200; i++) {
      await say(a.kernel, id, "ann", `${i}`);
      await harness.env.advance(1);
    }
    await harness.env.advance(100);
    expect(harness.messages.length).toBeLessThan(15);
    expect(b.seqs().at(-1)).toBe(201);
  });

  it("are not sent by a kernel that has its store alone", async () => {
    const kernel = new Kernel(new VirtualEnv(1), new MemoryStore("e"));
    expect(kernel.isShared).toBe(false);
    expect(() => new Nodes({ kernel, broadcast: new LocalBroadcast().join(), agent: "x" })).toThrow(
      "register",
    );
  });
});

describe("[N10] a cursor that is set at one node", () => {
  it("is shown at another, where its text is by then, until it is taken away", async () => {
    const harness = new TestHarness();
    const [a, b] = [await harness.node(), await harness.node()];
    const [atA, atB] = [new Cursors(a.kernel), new Cursors(b.kernel)];
    a.nodes.shareCursors(atA);
    b.nodes.shareCursors(atB);
    const id = good(await a.kernel.createConversation("ann", "x"));
    await say(a.kernel, id, "ann", "one two");
    const block = `${id}/ann/2`;
    const cursor = { agent: "ann", block, anchor: 4, head: 7 };
    atA.set(cursor, id, 1);
    await settle();
    expect(atB.of(id)).toEqual([]); // nobody there has it open
    for (const { kernel } of [a, b]) good(await kernel.follow(id));
    const insert = (kernel: Kernel) =>
      kernel.writeBlock(block, {
        agent: "ben",
        plan: (draft) => draft.splice(block, [{ at: 0, del: "", ins: "> " }]),
      });
    good(await insert(b.kernel));
    atA.set(cursor, id, 1); // before it has heard of that
    await harness.env.advance(100);
    const shown = { agent: "ann", block, anchor: 6, head: 9 };
    expect(atA.of(id).find(({ agent }) => agent === "ann")).toEqual(shown);
    expect(atB.of(id).find(({ agent }) => agent === "ann")).toEqual(shown);
    atA.remove("ann");
    await settle();
    expect(atB.of(id).map(({ agent }) => agent)).toEqual(["ben"]);
  });
});

describe("[N6] a node that starts or notices a death", () => {
  it("leaves alone what a living node runs", async () => {
    const harness = new TestHarness();
    const a = await harness.node();
    const id = good(await a.kernel.createConversation("ann", "x"));
    await run(a, id, "turn-1");
    await say(a.kernel, id, "model", "of nobody's turn", {});
    const b = await harness.node();
    expect(good(await b.kernel.turns(id)).map(({ status }) => status)).toEqual(["running"]);
    const open = await b.kernel.blocks({ conversation: id, status: "running", order: "first", limit: 9 });
    expect(open).toHaveLength(2);
    await harness.env.advance(10 * limits.leaseMs);
    expect(good(await b.kernel.turns(id)).map(({ status }) => status)).toEqual(["running"]);
    expect(b.closed).toEqual([]);
  });

  it("ends what a dead node ran, once, and what waited for it; nothing else", async () => {
    const harness = new TestHarness();
    const [a, b, c] = [await harness.node(), await harness.node(), await harness.node()];
    const id = good(await a.kernel.createConversation("ann", "x"));
    await run(a, id, "turn-a");
    await run(b, id, "turn-b");
    const waits = { turn: "turn-c", notice: "queued", node: a.nodes.id };
    await say(a.kernel, id, "ann", "waits", waits);
    await say(c.kernel, id, "model", "of nobody's turn", {});
    await a.nodes.close();
    await harness.store.nodes?.beat(a.nodes.id, limits.leaseMs); // as if it had been killed instead
    await harness.env.advance(2 * limits.leaseMs);
    const turns = good(await b.kernel.turns(id));
    expect(turns.map(({ id: of, status, reason }) => [of, status, reason])).toEqual([
      ["turn-a", "error", "interrupted"],
      ["turn-b", "running", undefined],
    ]);
    const blocks = good(await b.kernel.blocks({ conversation: id, order: "first", limit: 10 }));
    expect(blocks.map(({ status }) => status)).toEqual(["error", "running", "error", "running"]);
    const sum = [...b.closed, ...c.closed].reduce((all, { turns: ended }) => all + ended, 0);
    expect(sum).toBe(1);
  });

  it("ends every turn where it is alone, as a restart does, and nothing that an agent holds", async () => {
    const harness = new TestHarness();
    const a = await harness.node();
    const id = good(await a.kernel.createConversation("ann", "x"));
    await run(a, id, "turn-a");
    await say(a.kernel, id, "model", "open", {});
    await a.nodes.close();
    const b = new Node(harness);
    expect(await b.nodes.start()).toEqual({ blocks: 1, turns: 1 });
  });
});

describe("[N15] an outage of the store", () => {
  it.each([0, 16_000, 60_000])(
    "of %i ms is no death to a node that starts behind it; one that died in it is noticed",
    async (ms) => {
      const harness = new TestHarness();
      const [a, b] = [await harness.node(), await harness.node()];
      const id = good(await a.kernel.createConversation("ann", "x"));
      await run(a, id, "turn-a");
      await run(b, id, "turn-b");
      const register = harness.store.nodes as MemoryNodes;
      const beat = register.beat.bind(register);
      register.beat = async () => {
        throw new Error("the database is away");
      };
      await harness.env.advance(ms);
      b.nodes.close(); // killed: it says no goodbye that anybody hears
      register.remove = async () => undefined;
      register.beat = beat;
      const starting = await harness.node(); // before any other node has renewed its lease
      const status = async () => good(await starting.kernel.turns(id)).map((turn) => turn.status);
      expect(await status()).toEqual(["running", "running"]);
      await harness.env.advance(3 * limits.leaseMs);
      expect(await status()).toEqual(["running", "error"]);
    },
  );

  it.each([9_000, 12_000, 14_000, 20_000, 61_000])(
    "of %i ms ends no turn of a living node; one that died in it is noticed",
    async (ms) => {
      const harness = new TestHarness();
      const nodes = [await harness.node(), await harness.node(), await harness.node()];
      await harness.env.advance(1_700);
      const late = await harness.node(); // beats at other moments than the others
      const [a, b, c] = nodes as [Node, Node, Node];
      const id = good(await a.kernel.createConversation("ann", "x"));
      for (const [i, node] of [...nodes, late].entries()) await run(node, id, `turn-${i}`);
      const register = harness.store.nodes as MemoryNodes;
      const beat = register.beat.bind(register);
      await harness.env.advance(2_000);
      register.beat = async () => {
        throw new Error("the database is away");
      };
      await harness.env.advance(ms);
      c.nodes.close(); // killed: it says no goodbye that anybody hears
      register.remove = async () => undefined;
      register.beat = beat;
      await harness.env.advance(3 * limits.leaseMs);
      const ended = good(await b.kernel.turns(id)).filter(({ status }) => status !== "running");
      expect(ended.map((turn) => turn.id)).toEqual(["turn-2"]);
    },
  );
});

async function run(node: Node, conversation: string, id: string): Promise<void> {
  const turn: Turn = {
    id,
    provider: "claude",
    agent: "claude",
    status: "running",
    startedAt: 0,
    node: node.nodes.id,
  };
  good(
    await node.kernel.write(conversation, {
      agent: "claude",
      plan: (draft) => {
        draft.setTurn(turn);
        return draft.create({
          kind: "text",
          role: "model",
          status: "running",
          text: "",
          metadata: { turn: id },
        });
      },
    }),
  );
}

async function say(
  kernel: Kernel,
  conversation: string,
  agent: string,
  text: string,
  metadata?: object,
): Promise<void> {
  const open = metadata === undefined ? ({ status: "done" } as const) : ({ status: "running" } as const);
  const plan = {
    kind: "text",
    role: "user",
    text,
    ...open,
    ...(metadata ? { metadata: { ...metadata } } : {}),
  } as const;
  good(await kernel.write(conversation, { agent, plan: (draft) => draft.create(plan) }));
}

function connect(kernel: Kernel, frames: ServerFrame[]): Connection {
  const connection = new Connection({
    kernel,
    agent: "viewer",
    role: "viewer",
    call: async () => null,
    pipe: { send: (frame) => frames.push(frame), buffered: () => 0, close: () => undefined },
  });
  connection.receive({ type: "hello", protocol: PROTOCOL });
  return connection;
}

function opsOf(frames: readonly ServerFrame[]): readonly number[] {
  return frames.flatMap((frame) => (frame.type === "changes" ? frame.ops.map(({ seq }) => seq) : []));
}

function range(from: number, to: number): readonly number[] {
  return Array.from({ length: to - from + 1 }, (_, i) => from + i);
}

function good<T>(value: T): Exclude<T, { problem: string }> {
  if (isProblem(value)) throw new Error(value.message);
  return value as Exclude<T, { problem: string }>;
}
