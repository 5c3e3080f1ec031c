/** The write path, against a store that fails, loses answers, is slow, or belongs to two kernels. */

import { describe, expect, it } from "vitest";
import type { Block } from "../model/block.ts";
import type { Change } from "../model/change.ts";
import { limits } from "../model/limits.ts";
import { splicesOf } from "../model/op.ts";
import { isProblem, problem } from "../model/problem.ts";
import type { Commit, CommitAnswer } from "../ports/store.ts";
import { StoreError } from "../ports/store-rules.ts";
import { MemoryStore } from "../testing/memory-store.ts";
import { VirtualEnv } from "../testing/virtual-env.ts";
import { Kernel } from "./kernel.ts";

/** A store whose commits can be held, refused, or left without an answer. */
class OddStore extends MemoryStore {
  commits: Commit[] = [];
  refuse = 0;
  loseAnswers = 0;
  hold: Promise<void> | undefined;
  /** A block that cannot be read. */
  unreadable = "";

  override async block(id: string) {
    if (id === this.unreadable) throw new StoreError("io", "the disk failed");
    return super.block(id);
  }

  override async commit(commit: Commit): Promise<CommitAnswer> {
    await this.hold;
    this.commits.push(commit);
    if (this.refuse > 0) {
      this.refuse--;
      throw new StoreError("full", "no space");
    }
    const answer = await super.commit(commit);
    if (this.loseAnswers > 0) {
      this.loseAnswers--;
      throw new StoreError("io", "the connection is lost");
    }
    return answer;
  }
}

class World {
  readonly env = new VirtualEnv(2);
  readonly store = new OddStore("epoch");
  kernel = new Kernel(this.env, this.store);
  readonly told: Change[] = [];
  conversation = "";

  async open(): Promise<this> {
    this.conversation = (await this.kernel.createConversation("ann", "t")) as string;
    this.store.commits = [];
    this.kernel.listen((told) => this.told.push(told));
    return this;
  }

  create(text: string, agent = "ann", key?: string): Promise<Block> {
    const plan = (draft: Parameters<Parameters<Kernel["write"]>[1]["plan"]>[0]) =>
      draft.create({ kind: "text", role: "user", text });
    return this.kernel.write(this.conversation, { agent, plan, ...(key ? { key } : {}) }) as Promise<Block>;
  }

  async text(id: string, kernel = this.kernel): Promise<string> {
    const whole = await kernel.whole(id);
    return isProblem(whole) ? `problem: ${whole.message}` : whole.text;
  }
}

describe("order", () => {
  it("[K2] nobody reads or is notified of a write before it is committed, and its answer comes last", async () => {
    const world = await new World().open();
    const block = await world.create("a");
    const events: string[] = [];
    world.kernel.listen(({ ops }) => events.push(`told ${ops.length}`));
    let release = () => {};
    world.store.hold = new Promise((done) => {
      release = done;
    });
    const write = world.kernel.append(block.id, "ann", "b\n").then(() => world.kernel.drain(block.id, "ann"));
    write.then(() => events.push("answered"));
    await world.env.advance(1_000);
    expect(events).toEqual([]);
    expect(await world.text(block.id)).toBe("a");
    expect(await world.kernel.block(block.id)).toMatchObject({ version: 1, chars: 1 });
    release();
    expect(await write).toBe(2);
    expect(events).toEqual(["told 1", "answered"]);
    expect(await world.text(block.id)).toBe("ab\n");
    expect((await world.store.block(block.id))?.version).toBe(2);
  });

  it("[K2] a listener that throws blocks neither the writer's answer nor other listeners", async () => {
    const world = new World();
    const thrown: unknown[] = [];
    const env = {
      now: () => world.env.now(),
      monotonic: () => world.env.monotonic(),
      after: (delayMs: number, run: () => void) => world.env.after(delayMs, run),
      random: () => world.env.random(),
      soon: (run: () => void | Promise<void>) =>
        void Promise.resolve()
          .then(run)
          .catch((error: unknown) => thrown.push(error)),
    };
    const kernel = new Kernel(env, world.store);
    let heard = 0;
    const stop = kernel.listen(() => {
      throw new Error("a bug");
    });
    kernel.listen(() => heard++);
    expect(await kernel.createConversation("ann", "t")).toBeTypeOf("string");
    stop();
    expect(await kernel.createConversation("ann", "u")).toBeTypeOf("string");
    expect(heard).toBe(2);
    expect(thrown).toEqual([new Error("a bug")]);
  });

  it("[K3] [K4] queued writes go into one commit, planned and emitted in order, with dense numbers", async () => {
    const world = await new World().open();
    const blocks = await Promise.all(["a", "b", "c"].map((text) => world.create(text)));
    expect(world.store.commits).toHaveLength(1);
    expect(blocks.map(({ id, born }) => [id, born])).toEqual(
      [2, 3, 4].map((seq) => [`${world.conversation}/ann/${seq}`, seq]),
    );
    const [first] = blocks as [Block];
    await Promise.all(
      [..."xyz"].map((ins, i) =>
        world.kernel.write(world.conversation, {
          agent: "bob",
          plan: (draft) => draft.splice(first.id, [{ at: 1 + i, del: "", ins }]),
        }),
      ),
    );
    expect(await world.text(first.id)).toBe("axyz");
    const ops = world.told.flatMap((told) => told.ops);
    expect(ops.map(({ seq }) => seq)).toEqual([2, 3, 4, 5, 6, 7, 8]);
    expect(ops.filter(({ block }) => block === first.id).map(({ version }) => version)).toEqual([
      1, 2, 3, 4, 5,
    ]);
    for (const told of world.told) expect(told.record.seq).toBe(told.ops.at(-1)?.seq);
  });

  it("[K4] a plan that fails or throws leaves nothing, and the others of its batch are kept", async () => {
    const world = await new World().open();
    const base = await world.create("base");
    const write = (plan: Parameters<Kernel["write"]>[1]["plan"]) =>
      world.kernel.write(world.conversation, { agent: "bob", plan });
    const [good, refused, thrown, last] = await Promise.all([
      write((draft) => draft.splice(base.id, [{ at: 0, del: "", ins: "1" }])),
      write((draft) => {
        draft.splice(base.id, [{ at: 0, del: "", ins: "never" }]);
        draft.create({ kind: "text", role: "user", text: "never" });
        draft.conversation({ title: "never" });
        draft.setTurn({ id: "never", provider: "x", agent: "bob", status: "running", startedAt: 0 });
        return problem("nothing", "no");
      }),
      write((draft) => {
        draft.splice(base.id, [{ at: 0, del: "", ins: "neither" }]);
        throw new Error("a bug");
      }),
      write((draft) => draft.splice(base.id, [{ at: 0, del: "", ins: "2" }])),
    ]);
    expect(isProblem(good) || isProblem(last)).toBe(false);
    expect(refused).toMatchObject({ problem: "nothing" });
    expect(thrown).toMatchObject({ problem: "unavailable" });
    expect(await world.text(base.id)).toBe("21base");
    expect(await world.store.conversation(world.conversation)).toMatchObject({
      title: "t",
      blocks: 1,
      running: [],
      turns: 0,
      seq: 5,
    });
    expect(await world.text(base.id, new Kernel(world.env, world.store))).toBe("21base");
  });

  it("[K9] a plan whose block is not in memory waits in its place and runs again", async () => {
    const world = await new World().open();
    const a = await world.create("a");
    const b = await world.create("b");
    const kernel = new Kernel(world.env, world.store);
    let runs = 0;
    const edits = [a, b, a].map(({ id }, i) =>
      kernel.write(world.conversation, {
        agent: "bob",
        plan: (draft) => {
          runs++;
          return draft.splice(id, [{ at: 1, del: "", ins: `${i}` }]);
        },
      }),
    );
    for (const answer of await Promise.all(edits)) expect(isProblem(answer)).toBe(false);
    expect(runs).toBeGreaterThan(3);
    expect(await world.text(a.id, kernel)).toBe("a20");
    expect(await world.text(b.id, kernel)).toBe("b1");
  });

  it("[K9] if it cannot be loaded, only the write that needs it fails, also in a batch that is planned again", async () => {
    const world = await new World().open();
    const block = await world.create("a");
    const kernel = new Kernel(world.env, world.store);
    await kernel.write(world.conversation, {
      agent: "bob",
      plan: (draft) => draft.conversation({ title: "b" }),
    });
    await world.create("faster");
    world.store.unreadable = block.id;
    const create = kernel.write(world.conversation, {
      agent: "bob",
      plan: (draft) => draft.create({ kind: "text", role: "user", text: "new", parent: null }),
    });
    const edit = kernel.write(world.conversation, {
      agent: "bob",
      plan: (draft) => draft.splice(block.id, [{ at: 1, del: "", ins: "!" }]),
    });
    expect(await edit).toMatchObject({ problem: "storage" });
    expect(await create).toMatchObject({ kind: "text", agent: "bob" });
  });
});

describe("keys", () => {
  it("[K5] a write is applied once per key and agent, while it is under way, later, after a restart", async () => {
    const world = await new World().open();
    const [one, same] = await Promise.all([world.create("a", "ann", "k"), world.create("a", "ann", "k")]);
    expect(same).toEqual(one);
    expect(await world.create("other", "ann", "k")).toEqual(one);
    world.kernel = new Kernel(world.env, world.store);
    expect(await world.create("a", "ann", "k")).toEqual(one);
    expect((await world.create("b", "bob", "k")).id).not.toBe(one.id);
    expect((await world.store.conversation(world.conversation))?.blocks).toBe(2);
  });

  it("[K5] a problem is not remembered", async () => {
    const world = await new World().open();
    let plans = 0;
    const write = () =>
      world.kernel.write(world.conversation, {
        agent: "ann",
        key: "k",
        plan: (draft) =>
          ++plans === 1 ? problem("nothing", "not yet") : draft.create({ kind: "text", role: "user" }),
      });
    expect(await write()).toMatchObject({ problem: "nothing" });
    expect(await write()).toMatchObject({ kind: "text" });
    await write();
    expect(plans).toBe(2);
  });

  it("[K32] a conversation is created once per key, each time a new one without", async () => {
    const { kernel, store } = new World();
    const id = await kernel.createConversation("ann", "t", "k");
    expect(await kernel.createConversation("ann", "t", "k")).toBe(id);
    expect(await kernel.createConversation("bob", "t", "k")).not.toBe(id);
    expect(await kernel.createConversation("ann", "t")).not.toBe(await kernel.createConversation("ann", "t"));
    expect(await store.conversations({ limit: 10 })).toHaveLength(4);
  });
});

describe("stores that go wrong", () => {
  it("[K7] a commit that fails is a problem of its writes alone", async () => {
    const world = await new World().open();
    const block = await world.create("a");
    world.store.refuse = 1;
    const told = world.told.length;
    const failed = await Promise.all([world.create("b"), world.create("c")]);
    for (const answer of failed) expect(answer).toMatchObject({ problem: "storage" });
    expect(world.told).toHaveLength(told);
    const edited = await world.kernel.write(world.conversation, {
      agent: "bob",
      plan: (draft) => draft.splice(block.id, [{ at: 1, del: "", ins: "!" }]),
    });
    expect(edited).toMatchObject({ version: 3 });
    expect(await world.text(block.id)).toBe("a!");
    expect((await world.store.conversation(world.conversation))?.blocks).toBe(1);
  });

  it("[K7] a commit whose answer is lost is found, emitted and answered once", async () => {
    const world = await new World().open();
    world.store.loseAnswers = 1;
    const block = await world.create("a");
    expect(block).toMatchObject({ kind: "text", version: 1 });
    expect(world.told.flatMap(({ ops }) => ops).map(({ seq }) => seq)).toEqual([2]);
    expect((await world.create("b")).born).toBe(3);
  });

  it("[K6] two kernels on one store: each applies the other's writes, then plans again", async () => {
    const world = await new World().open();
    const other = new Kernel(world.env, world.store);
    const heard: number[] = [];
    other.listen(({ ops }) => heard.push(...ops.map(({ seq }) => seq)));
    const block = await world.create("base ");
    const kernels = [world.kernel, other];
    await Promise.all(
      Array.from({ length: 40 }, (_, i) =>
        (kernels[i % 2] as Kernel).write(world.conversation, {
          agent: i % 2 ? "bob" : "ann",
          key: `${i}`,
          plan: (draft) => {
            const at = draft.text(block.id).length;
            return draft.splice(block.id, [{ at, del: "", ins: `${i},` }]);
          },
        }),
      ),
    );
    await other.wake(world.conversation);
    await world.kernel.wake(world.conversation);
    const text = await world.text(block.id);
    expect(await world.text(block.id, other)).toBe(text);
    expect(
      text
        .slice(5, -1)
        .split(",")
        .map(Number)
        .sort((a, b) => a - b),
    ).toEqual(Array.from({ length: 40 }, (_, i) => i));
    const { seq } = (await world.store.conversation(world.conversation)) as { seq: number };
    const last = heard.slice(heard.indexOf(3));
    expect(last).toEqual(Array.from({ length: seq - 2 }, (_, i) => i + 3));
  });

  it("[K8] a conversation that is not there, and a queue that is full, are problems", async () => {
    const world = await new World().open();
    const nowhere = await world.kernel.write("nowhere", {
      agent: "ann",
      plan: (draft) => draft.create({ kind: "text", role: "user" }),
    });
    expect(nowhere).toMatchObject({ problem: "not_found" });
    expect(await world.store.conversation("nowhere")).toBeUndefined();
    let release = () => {};
    world.store.hold = new Promise((done) => {
      release = done;
    });
    const first = world.create("a");
    await world.env.advance(0);
    const many = Array.from({ length: limits.queuedWrites + 5 }, () =>
      world.kernel.write(world.conversation, { agent: "ann", plan: () => null }),
    );
    expect(await many.at(-1)).toMatchObject({ problem: "busy", details: { waiting: limits.queuedWrites } });
    release();
    await first;
    expect(await many[0]).toBeNull();
  });
});

describe("texts in the end", () => {
  it("[K21] the text is the sum of the splices, for every reader and after a restart", async () => {
    const world = await new World().open();
    const block = await world.create("a\n");
    for (let i = 0; i < 120; i++) {
      const agent = i % 3 === 0 ? "ann" : "bob";
      const { text } = (await world.kernel.read(block.id)) as { text: { length: number } };
      const at = world.env.random() % (text.length + 1);
      await world.kernel.writeBlock(block.id, {
        agent,
        plan: (draft) => {
          if (i % 7 === 6) return draft.undo(block.id, i % 2 ? "undo" : "redo");
          if (i % 5 === 0) return draft.append(block.id, `${i}\n`);
          const now = draft.text(block.id);
          return draft.splice(block.id, [{ at, del: now.slice(at, at + (i % 3)), ins: `<${i}>` }]);
        },
      });
      if (i === 60) await world.kernel.compact(block.id);
      if (i % 20 === 0) world.kernel = new Kernel(world.env, world.store);
    }
    const { compacted, ops } = await world.store.log(block.id, { version: 0 });
    let text = compacted?.text ?? "";
    for (const op of ops) {
      for (const { at, del, ins } of splicesOf(op)) {
        expect(text.startsWith(del, at)).toBe(true);
        text = text.slice(0, at) + ins + text.slice(at + del.length);
      }
    }
    expect(await world.text(block.id)).toBe(text);
    const state = await new Kernel(world.env, world.store).whole(block.id);
    expect(state).toMatchObject({ text, chars: text.length, newlines: text.split("\n").length - 1 });
  });

  it("[K29] a compaction changes nothing but how far back history reaches", async () => {
    const world = await new World().open();
    const block = await world.create("");
    const { id } = block;
    await world.kernel.append(id, "ann", "one ");
    await world.kernel.drain(id, "ann");
    await world.kernel.writeBlock(id, {
      agent: "bob",
      plan: (draft) => draft.splice(id, [{ at: 4, del: "", ins: "(bob)" }]),
    });
    const before = await world.kernel.whole(id);
    const version = (before as Block).version;
    expect(await world.kernel.compact(id)).toBeUndefined();
    world.kernel = new Kernel(world.env, world.store);
    expect(await world.kernel.whole(id)).toEqual(before);
    expect(await world.store.log(id, { version: 0 })).toMatchObject({
      compacted: { version, text: "one (bob)" },
      ops: [],
    });
    // The stream continues where it was, and earlier steps can no longer be undone.
    await world.kernel.append(id, "ann", "two ");
    await world.kernel.drain(id, "ann");
    expect(await world.text(id)).toBe("one two (bob)");
    expect(
      await world.kernel.writeBlock(id, { agent: "bob", plan: (draft) => draft.undo(id, "undo") }),
    ).toMatchObject({ problem: "nothing" });
    await world.kernel.writeBlock(id, { agent: "ann", plan: (draft) => draft.undo(id, "undo") });
    expect(await world.text(id)).toBe("one (bob)");
  });

  it("[K30] finished blocks are compacted after a while, busy ones after many ops", async () => {
    const world = await new World().open();
    const quiet = await world.create("a");
    const open = await world.create("b");
    const edit = (id: string) =>
      world.kernel.writeBlock(id, {
        agent: "bob",
        plan: (draft) => draft.splice(id, [{ at: 0, del: "", ins: "x" }]),
      });
    await edit(quiet.id);
    await edit(open.id);
    await world.kernel.writeBlock(quiet.id, {
      agent: "ann",
      plan: (draft) => draft.status(quiet.id, "done"),
    });
    expect(await world.kernel.maintain()).toBe(0);
    await world.env.advance(limits.compactAfterMs + 1);
    expect(await world.kernel.maintain()).toBe(1);
    expect((await world.store.log(quiet.id, { version: 0 })).compacted?.text).toBe("xa");
    expect((await world.store.log(open.id, { version: 0 })).compacted).toBeUndefined();
    for (let i = 0; i < limits.compactAfterOps; i++) await edit(open.id);
    expect(await world.kernel.maintain()).toBe(1);
    const { compacted, ops } = await world.store.log(open.id, { version: 0 });
    expect(compacted).toBeDefined();
    expect(ops.length).toBeGreaterThanOrEqual(limits.undoUnits);
    expect(await world.text(open.id)).toHaveLength(limits.compactAfterOps + 2);
  });
});

describe("[K34] all blocks of a long conversation", () => {
  it("come in order, and who writes meanwhile does not wait for the last of them", async () => {
    const world = await new World().open();
    const { kernel, conversation, store } = world;
    const spec = { kind: "text", role: "user", text: "x" } as const;
    for (let i = 0; i < 12; i++) {
      await kernel.write(conversation, {
        agent: "ann",
        plan: (draft) => Array.from({ length: 100 }, () => draft.create(spec)).at(-1) as Block,
      });
    }
    const reads: number[] = [];
    const blocks = store.blocks.bind(store);
    store.blocks = async (query) => {
      const found = await blocks(query);
      reads.push(found.length);
      return found;
    };
    const reading = kernel.allBlocks(conversation);
    const written = kernel.write(conversation, { agent: "bob", plan: (draft) => draft.create(spec) });
    await written;
    expect(reads.length).toBeLessThan(3);
    const all = await reading;
    if (isProblem(all)) throw new Error(all.message);
    expect(reads.every((count) => count <= 500)).toBe(true);
    expect(all.map(({ born }) => born)).toEqual(all.map(({ born }) => born).toSorted((a, b) => a - b));
    expect(new Set(all.map(({ id }) => id)).size).toBe(1_201);
  });
});
