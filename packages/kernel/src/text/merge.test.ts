/** Merge documents: replicas that edit apart and meet, updates that do not fit, pieces of a large text. */

import { describe, expect, it } from "vitest";
import * as Y from "yjs";
import type { Block } from "../model/block.ts";
import { limits } from "../model/limits.ts";
import { isProblem } from "../model/problem.ts";
import { MemoryStore } from "../testing/memory-store.ts";
import { VirtualEnv } from "../testing/virtual-env.ts";
import { Kernel } from "../write/kernel.ts";
import { MergeDocument, REPLICA_MIN } from "./merge.ts";
import { Text } from "./text.ts";

/** A merging replica, like an editor. */
class Replica {
  readonly doc = new Y.Doc();
  readonly text = this.doc.getText("t");

  constructor(id: number, state: Uint8Array) {
    this.doc.clientID = REPLICA_MIN + id;
    Y.applyUpdate(this.doc, state);
  }

  edit(change: (text: Y.Text) => void): Uint8Array {
    const before = Y.encodeStateVector(this.doc);
    this.doc.transact(() => change(this.text));
    return Y.encodeStateAsUpdate(this.doc, before);
  }
}

async function world(text: string) {
  const env = new VirtualEnv(6);
  const store = new MemoryStore("epoch");
  const kernel = new Kernel(env, store);
  const c = (await kernel.createConversation("bot", "")) as string;
  const block = (await kernel.write(c, {
    agent: "bot",
    plan: (draft) => draft.create({ kind: "text", role: "model", text }),
  })) as Block;
  const { id } = block;
  const join = async (n: number) => {
    const state = await kernel.mergeState(id, `p${n}`);
    if (isProblem(state)) throw new Error(state.message);
    return new Replica(n, state.update);
  };
  const send = (update: Uint8Array, agent = "p1") =>
    kernel.writeBlock(id, { agent, plan: (draft) => draft.merge(id, update) });
  const catchUp = async (replica: Replica) => {
    const state = await kernel.mergeState(id, "p1", Y.encodeStateVector(replica.doc));
    if (!isProblem(state)) Y.applyUpdate(replica.doc, state.update);
  };
  return { env, store, kernel, id, join, send, catchUp };
}

describe("replicas", () => {
  it("[K23] concurrent edits converge everywhere, while a stream continues", async () => {
    const { env, store, kernel, id, join, send, catchUp } = await world("shared\n");
    const replicas = [await join(1), await join(2), await join(3)];
    for (let round = 0; round < 60; round++) {
      const replica = replicas[env.random() % 3] as Replica;
      const update = replica.edit((text) => {
        const at = env.random() % (text.length + 1);
        if (env.random() % 3 === 0 && at < text.length) text.delete(at, 1);
        else text.insert(at, `${round}é`);
      });
      expect(isProblem(await send(update))).toBe(false);
      if (round % 3 === 0) {
        await kernel.append(id, "bot", `bot ${round}\n`);
        await kernel.drain(id, "bot");
      }
      if (env.random() % 4 === 0) await catchUp(replica);
      if (round === 30) await kernel.compact(id);
    }
    for (const replica of replicas) await catchUp(replica);
    const text = await store.text(id);
    for (const replica of replicas) expect(replica.text.toString()).toBe(text);
    expect(((await kernel.read(id)) as { text: Text }).text.toString()).toBe(text);
  });

  it("[K23] an update that is known changes nothing; a gap is stale until it is filled", async () => {
    const { store, id, join, send } = await world("ab");
    const replica = await join(1);
    const first = replica.edit((text) => text.insert(1, "1"));
    const second = replica.edit((text) => text.insert(2, "2"));
    expect(await send(second)).toMatchObject({ problem: "stale" });
    expect(await store.text(id)).toBe("ab");
    const { version } = (await send(first)) as Block;
    expect(await send(first)).toMatchObject({ version });
    expect(await send(second)).toMatchObject({ version: version + 1 });
    expect(await store.text(id)).toBe("a12b");
  });

  it("[K23] reserved writers, invalid updates, and anything but text are refused and leave nothing", async () => {
    const { store, kernel, id, join, send } = await world("ab");
    const forger = await join(1);
    const before = (await store.block(id))?.version;
    forger.doc.clientID = 1;
    const forged = forger.edit((text) => text.insert(0, "x"));
    expect(await send(forged)).toMatchObject({ problem: "forbidden" });
    for (const bytes of [
      new Uint8Array([1, 2, 3]),
      new Uint8Array(),
      Uint8Array.from({ length: 64 }, (_, i) => (i * 37) % 251),
    ]) {
      expect(await send(bytes)).toMatchObject({ problem: expect.stringMatching(/invalid|stale|forbidden/) });
    }
    const rich = await join(2);
    expect(await send(rich.edit((text) => text.format(0, 1, { bold: true })))).toMatchObject({
      problem: "invalid",
    });
    const map = await join(3);
    const update = Y.encodeStateVector(map.doc);
    map.doc.getMap("other").set("k", 1);
    expect(await send(Y.encodeStateAsUpdate(map.doc, update))).toMatchObject({ problem: "invalid" });
    const lone = await join(4);
    expect(await send(lone.edit((text) => text.insert(0, "a\0")))).toMatchObject({ problem: "invalid" });
    expect((await store.block(id))?.version).toBe(before);
    // And the kernel continues as if nothing had happened.
    const good = await join(5);
    await send(good.edit((text) => text.insert(2, "c")));
    expect(await store.text(id)).toBe("abc");
    expect(((await kernel.read(id)) as { text: Text }).text.toString()).toBe("abc");
  });

  it("[K29] a replica from before a compaction still merges", async () => {
    const { store, kernel, id, join, send } = await world("one two");
    const offline = await join(1);
    await kernel.writeBlock(id, {
      agent: "ann",
      plan: (draft) => draft.splice(id, [{ at: 3, del: " two", ins: " 2 three" }]),
    });
    await kernel.compact(id);
    await send(offline.edit((text) => text.insert(0, ">> ")));
    expect(await store.text(id)).toBe(">> one 2 three");
  });
});

describe("documents", () => {
  it("[K20] the base is built the same way everywhere, in pieces that cut no character", () => {
    const text = `${"😀".repeat(limits.pieceChars)}end`;
    const one = MergeDocument.fromText(text);
    const two = MergeDocument.fromText(text);
    expect(one.toString()).toBe(text);
    expect(one.state()).toEqual(two.state());
    const update = one.splice([{ at: text.length, del: "", ins: "!" }]);
    two.load(update);
    expect(two.toString()).toBe(`${text}!`);
    expect(MergeDocument.fromUpdates([one.state()]).toString()).toBe(`${text}!`);
  });

  it("[K22] an anchor stays after its character", () => {
    const document = MergeDocument.fromText("hello");
    const anchor = document.anchor(5);
    document.splice([{ at: 5, del: "", ins: " world" }]);
    expect(document.resolve(anchor)).toBe(5);
    document.splice([{ at: 0, del: "", ins: ">>" }]);
    expect(document.resolve(anchor)).toBe(7);
    expect(document.isGone(anchor)).toBe(false);
    document.splice([{ at: 5, del: "lo", ins: "" }]);
    expect(document.resolve(anchor)).toBe(5);
    expect(document.isGone(anchor)).toBe(true);
    expect(MergeDocument.fromText("").resolve(MergeDocument.fromText("").anchor(0))).toBe(0);
  });

  it("[K23] returns an update's effect on the text", () => {
    const document = MergeDocument.fromText("hello world");
    const replica = new Replica(1, document.state());
    const update = replica.edit((text) => {
      text.delete(0, 5);
      text.insert(0, "HELLO");
      text.insert(text.length, "!");
    });
    const text = Text.of("hello world");
    const merged = document.merge(update, text);
    if (isProblem(merged)) throw new Error(merged.message);
    expect(text.apply(merged.splices).toString()).toBe("HELLO world!");
    expect(document.toString()).toBe("HELLO world!");
  });
});
