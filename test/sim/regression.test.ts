/**
 * Bugs that the fuzzes and the simulation have found, as short stories: each failed once. The seeds that showed them
 * become useless when a harness changes; these stay.
 */
import {
  type Block,
  type BlockId,
  isProblem,
  Kernel,
  MemoryStore,
  type Op,
  type Problem,
  VirtualEnv,
} from "@blockyard/kernel";
import { describe, expect, it } from "vitest";
import * as Y from "yjs";
import { Random } from "./random.ts";
import { FAIR, SimStore } from "./store.ts";

const env = new VirtualEnv(1);

class Setting {
  readonly store = new SimStore(new MemoryStore("test"), env, new Random(1), () => {});
  readonly kernel = this.open();
  block: BlockId = "";

  open(): Kernel {
    return new Kernel(env, this.store.connect().store);
  }

  get conversation(): string {
    return this.block.split("/")[0] as string;
  }

  static async with(text: string): Promise<Setting> {
    const setting = new Setting();
    const id = good(await setting.kernel.createConversation("model", "story"));
    const made = await setting.kernel.write(id, {
      agent: "model",
      plan: (draft) => draft.create({ kind: "text", role: "model", status: "running", text }),
    });
    setting.block = good(made).id;
    return setting;
  }

  async append(agent: string, text: string, kernel = this.kernel): Promise<void> {
    good(await kernel.append(this.block, agent, text));
    good(await kernel.drain(this.block, agent));
  }

  /** Replaces the first `del` by `ins`. */
  async replace(agent: string, del: string, ins: string, kernel = this.kernel): Promise<Block> {
    const done = await kernel.writeBlock(this.block, {
      agent,
      plan: (draft) => {
        const at = draft.text(this.block).toString().indexOf(del);
        return draft.splice(this.block, [{ at, del, ins }]);
      },
    });
    return good(done);
  }

  async undo(agent: string, type: "undo" | "redo", kernel = this.kernel): Promise<void> {
    good(await kernel.writeBlock(this.block, { agent, plan: (draft) => draft.undo(this.block, type) }));
  }

  async text(kernel = this.kernel): Promise<string> {
    const { text } = good(await kernel.whole(this.block));
    expect(good(await kernel.history(this.block)).toString()).toBe(text);
    expect(await this.store.inner.text(this.block)).toBe(text);
    return text;
  }
}

function good<T>(answer: T | Problem): T {
  if (isProblem(answer)) throw new Error(`${answer.problem}: ${answer.message}`);
  return answer;
}

describe("[R28] merging", () => {
  it("keeps an update that types and deletes again: what its replica sends next builds on it", async () => {
    const setting = await Setting.with("abc");
    const doc = new Y.Doc();
    doc.clientID = 2 ** 31 + 5;
    const text = doc.getText("t");
    const send = async (kernel: Kernel, change: () => void) => {
      const before = Y.encodeStateVector(doc);
      doc.transact(change);
      const update = Y.encodeStateAsUpdate(doc, before);
      good(
        await kernel.writeBlock(setting.block, {
          agent: "eve",
          plan: (draft) => draft.merge(setting.block, update),
        }),
      );
    };
    Y.applyUpdate(doc, good(await setting.kernel.mergeState(setting.block, "eve")).update);
    await send(setting.kernel, () => {
      text.insert(0, "x");
      text.delete(0, 1);
    });
    await send(setting.open(), () => text.insert(3, "d"));
    const fresh = setting.open();
    expect(await setting.text(fresh)).toBe("abcd");
    const copy = new Y.Doc();
    Y.applyUpdate(copy, good(await fresh.mergeState(setting.block, "eve")).update);
    expect(copy.getText("t").toString()).toBe("abcd");
  });

  it("takes an update that builds on what another node has committed", async () => {
    const setting = await Setting.with("abc");
    const other = setting.open();
    expect(await setting.text(other)).toBe("abc");
    good(await other.mergeState(setting.block, "eve"));
    await setting.replace("ana", "c", "cd");
    const doc = new Y.Doc();
    doc.clientID = 2 ** 31 + 5;
    Y.applyUpdate(doc, good(await setting.kernel.mergeState(setting.block, "eve")).update);
    doc.getText("t").insert(4, "e");
    const update = Y.encodeStateAsUpdate(doc);
    good(
      await other.writeBlock(setting.block, {
        agent: "eve",
        plan: (draft) => draft.merge(setting.block, update),
      }),
    );
    expect(await setting.text(other)).toBe("abcde");
  });
});

describe("[R28] a stream continues after its last character", () => {
  it("after somebody has deleted that and taken it back", async () => {
    const setting = await Setting.with("Hel");
    await setting.append("model", "lo ");
    await setting.replace("ana", "lo ", "");
    await setting.undo("ana", "undo");
    await setting.append("model", "world");
    expect(await setting.text()).toBe("Hello world");
  });

  it("after it was undone and redone", async () => {
    const setting = await Setting.with("");
    await setting.replace("ana", "", "|");
    await setting.append("model", "Hello ");
    await setting.undo("model", "undo");
    await setting.undo("model", "redo");
    await setting.append("model", "world");
    expect(await setting.text()).toBe("Hello world|");
  });

  it("also if the history was compacted in between, or before", async () => {
    const setting = await Setting.with("Hello ");
    await setting.replace("ana", "lo ", "");
    await setting.undo("ana", "undo");
    expect(await setting.kernel.compact(setting.block)).toBeUndefined();
    await setting.append("model", "wor");
    expect(await setting.kernel.compact(setting.block)).toBeUndefined();
    await setting.replace("ana", "wor", "");
    await setting.undo("ana", "undo");
    await setting.append("model", "ld");
    expect(await setting.text()).toBe("Hello world");
  });
});

describe("[R11] a store that fails", () => {
  it("does not turn a stream around", async () => {
    const setting = await Setting.with("");
    setting.store.weather = { ...FAIR, failBefore: 1 };
    for (const piece of ["one\n", "two\n", "three\n"])
      good(await setting.kernel.append(setting.block, "model", piece));
    await env.advance(50);
    setting.store.weather = FAIR;
    good(await setting.kernel.append(setting.block, "model", "four\n"));
    good(await setting.kernel.drain(setting.block, "model"));
    expect(await setting.text()).toBe("one\ntwo\nthree\nfour\n");
  });

  it("does not let a write past the stream that it must come behind", async () => {
    const setting = await Setting.with("");
    good(await setting.kernel.append(setting.block, "model", "tail"));
    const end = () =>
      setting.kernel.writeBlock(setting.block, {
        agent: "model",
        plan: (draft) => draft.status(setting.block, "done"),
      });
    setting.store.weather = { ...FAIR, failBefore: 1 };
    expect(await end()).toMatchObject({ problem: "storage" });
    setting.store.weather = FAIR;
    expect(good(await end()).status).toBe("done");
    expect(await setting.text()).toBe("tail");
  });

  it("[R22] does not double a stream when the answer to a commit is lost", async () => {
    const setting = await Setting.with("");
    setting.store.weather = { ...FAIR, failAfter: 1 };
    const told: Op[] = [];
    setting.kernel.listen(({ ops }) => told.push(...ops));
    await setting.append("model", "once\n");
    setting.store.weather = FAIR;
    await setting.append("model", "twice\n");
    expect(await setting.text()).toBe("once\ntwice\n");
    expect(told.map(({ version }) => version)).toEqual([2, 3]);
  });

  it("answers every write once when it fails while another node's commits are read", async () => {
    const setting = await Setting.with("");
    const other = setting.open();
    await setting.append("model", "a\n", other);
    setting.store.weather = { ...FAIR, failRead: 1 };
    const write = () =>
      setting.kernel.write(setting.conversation, {
        agent: "ana",
        plan: (draft) => {
          draft.conversation({ title: "once" });
          return { done: true };
        },
      });
    expect(await write()).toMatchObject({ problem: "storage" });
    setting.store.weather = FAIR;
    expect(await write()).toEqual({ done: true });
    const ops = await setting.store.inner.conversationOps(setting.conversation, 0);
    expect(ops.filter(({ agent }) => agent === "ana")).toHaveLength(1);
  });
});

describe("[R25] two nodes", () => {
  it("plan on a text and a record of one version, though another node has written", async () => {
    const setting = await Setting.with("abc");
    const other = setting.open();
    good(
      await other.write(setting.conversation, { agent: "ben", plan: (draft) => draft.block(setting.block) }),
    );
    await setting.replace("ana", "b", "B");
    good(await other.log(setting.block, { version: 0 }));
    expect(good(await other.whole(setting.block)).text).toBe("aBc");
    await setting.replace("ben", "c", "C", other);
    expect(await setting.text(other)).toBe("aBC");
  });

  it("create under the next free number, though they have read the block that took theirs", async () => {
    const setting = await Setting.with("");
    const other = setting.open();
    good(
      await other.write(setting.conversation, { agent: "ben", plan: (draft) => draft.block(setting.block) }),
    );
    const create = (kernel: Kernel) =>
      kernel.write(setting.conversation, {
        agent: "ana",
        plan: (draft) => draft.create({ kind: "text", role: "user", text: "x" }),
      });
    const first = good(await create(setting.kernel));
    expect(good(await other.whole(first.id)).text).toBe("x");
    const second = good(await create(other));
    expect(second.born).toBe(first.born + 1);
  });

  it("tell everything once and in order, also if they are woken while they write", async () => {
    const setting = await Setting.with("");
    const other = setting.open();
    good(
      await other.write(setting.conversation, { agent: "ben", plan: (draft) => draft.block(setting.block) }),
    );
    const told: number[] = [];
    other.listen(({ ops }) => told.push(...ops.map(({ seq }) => seq)));
    setting.store.weather = { ...FAIR, delayMs: 7 };
    const work: Promise<unknown>[] = [];
    for (let i = 0; i < 12; i++) {
      work.push(setting.replace("ana", "", `${i} `), setting.replace("ben", "", `(${i}) `, other));
      work.push(other.wake(setting.conversation));
      await env.advance(3);
    }
    for (let i = 0; i < 400; i++) await env.advance(5);
    await Promise.all(work);
    setting.store.weather = FAIR;
    await other.wake(setting.conversation);
    const record = await setting.store.inner.conversation(setting.conversation);
    expect(told).toEqual(Array.from({ length: (record?.seq ?? 0) - 2 }, (_, i) => i + 3));
  });

  it("[R29] can read a log in which one of them undid what the other had compacted", async () => {
    const setting = await Setting.with("");
    const other = setting.open();
    await setting.replace("ana", "", "x", other);
    await setting.replace("ana", "", "-", other);
    expect(good(await other.history(setting.block)).units("ana")).toHaveLength(2);
    expect(await setting.open().compact(setting.block)).toBeUndefined();
    await setting.replace("ben", "x", "", other);
    await setting.undo("ana", "undo", other);
    await setting.undo("ana", "undo", other);
    await setting.undo("ben", "undo", other);
    expect(await setting.text(other)).toBe("");
    expect(await setting.text(setting.open())).toBe("");
  });
});
