/** Streams: when they are written, that they are written once and in order, and how they continue after their own text. */

import { describe, expect, it } from "vitest";
import type { Block } from "../model/block.ts";
import { limits } from "../model/limits.ts";
import { isProblem } from "../model/problem.ts";
import type { Commit, CommitAnswer } from "../ports/store.ts";
import { StoreError } from "../ports/store-rules.ts";
import { MemoryStore } from "../testing/memory-store.ts";
import { VirtualEnv } from "../testing/virtual-env.ts";
import { Kernel } from "./kernel.ts";

class FullStore extends MemoryStore {
  full = false;
  hold: Promise<void> | undefined;
  override async commit(commit: Commit): Promise<CommitAnswer> {
    const { full } = this;
    await this.hold;
    if (full) throw new StoreError("full", "no space");
    return super.commit(commit);
  }
}

class World {
  readonly env = new VirtualEnv(5);
  readonly store = new FullStore("epoch");
  readonly kernel = new Kernel(this.env, this.store);
  c = "";
  id = "";

  async open(spec: { kind?: "text" | "file"; text?: string } = {}): Promise<this> {
    this.c = (await this.kernel.createConversation("bot", "")) as string;
    const metadata = spec.kind === "file" ? { path: "a" } : {};
    const block = await this.kernel.write(this.c, {
      agent: "bot",
      plan: (draft) => draft.create({ kind: "text", role: "model", metadata, ...spec }),
    });
    this.id = (block as Block).id;
    return this;
  }

  append(text: string, agent = "bot") {
    return this.kernel.append(this.id, agent, text);
  }

  text(): Promise<string> {
    return this.store.text(this.id);
  }

  async appended(): Promise<string[]> {
    const { ops } = await this.store.log(this.id, { version: 1 });
    return ops.flatMap(({ body }) => (body.type === "append" ? [body.text] : []));
  }
}

describe("flushing", () => {
  it("[K15] at a newline, at more than 50 units, or when the oldest piece is 100 ms old", async () => {
    const world = await new World().open();
    await world.append("a");
    await world.append("b\nc");
    await world.env.advance(0);
    expect(await world.appended()).toEqual(["ab\nc"]);
    await world.append("x".repeat(limits.appendFlushChars));
    await world.env.advance(0);
    expect(await world.appended()).toHaveLength(1);
    await world.append("y");
    await world.env.advance(0);
    expect(await world.appended()).toHaveLength(2);
    // A slow trickle shows up as it comes, not when it stops.
    for (let i = 0; i < 6; i++) {
      await world.append(".");
      await world.env.advance(40);
    }
    await world.env.advance(100);
    expect((await world.appended()).slice(2)).toEqual(["...", "..."]);
  });

  it("[K15] the tail shows up even if nothing follows", async () => {
    const world = await new World().open();
    await world.append("tail");
    await world.env.advance(limits.appendFlushMs - 1);
    expect(await world.text()).toBe("");
    await world.env.advance(1);
    expect(await world.text()).toBe("tail");
    expect(world.env.untilNext).toBeUndefined();
  });

  it("[K18] half a character waits for its other half, not for ever", async () => {
    const world = await new World().open();
    await world.append("\n\ud83d");
    await world.env.advance(10);
    expect(await world.text()).toBe("\n");
    await world.append("\ude00");
    await world.env.advance(200);
    expect(await world.text()).toBe("\n😀");
    await world.append("\n\ud83d");
    await world.env.advance(200);
    expect(await world.text()).toBe("\n😀\n\ufffd");
  });

  it("[K17] drain waits for accepted text; other writes of the agent come after it", async () => {
    const world = await new World().open();
    expect(await world.kernel.drain(world.id, "bot")).toBeUndefined();
    await world.append("a");
    expect(await world.kernel.drain(world.id, "bot")).toBe(2);
    await world.append("b");
    const done = await world.kernel.writeBlock(world.id, {
      agent: "bot",
      plan: (draft) => draft.status(world.id, "done"),
    });
    expect(done).toMatchObject({ status: "done", version: 4 });
    expect(await world.text()).toBe("ab");
    await world.kernel.close();
  });

  it("[K17] closing writes everything that was accepted", async () => {
    const world = await new World().open();
    await world.append("a");
    await world.append("b", "ann");
    await world.kernel.close();
    expect([...(await world.text())].sort()).toEqual(["a", "b"]);
  });
});

describe("order", () => {
  it("[K16] what a full store refused is written first when there is space, once and in order", async () => {
    const world = await new World().open();
    const pieces: string[] = [];
    for (let i = 0; i < 60; i++) {
      if (i % 20 === 5) world.store.full = true;
      if (i % 20 === 15) world.store.full = false;
      pieces.push(`${i}${i % 3 === 0 ? "\n" : " "}`);
      await world.append(pieces[i] as string);
      await world.env.advance(world.env.random() % 300);
    }
    await world.env.advance(5_000);
    expect(await world.text()).toBe(pieces.join(""));
  });

  it("[K16] text sent after a piece that the store then refused does not overtake it", async () => {
    const world = await new World().open();
    let release = () => {};
    world.store.hold = new Promise((done) => {
      release = done;
    });
    world.store.full = true;
    await world.append("1\n");
    await world.env.advance(0); // its commit is under way, and will be refused
    world.store.full = false;
    await world.append("2\n");
    await world.append("3\n");
    release();
    expect(await world.kernel.drain(world.id, "bot")).toMatchObject({ problem: "storage" });
    await world.append("4\n");
    await world.env.advance(5_000);
    expect(await world.text()).toBe("1\n2\n3\n4\n");
  });

  it("[K16] a write of the same agent is not planned before text that must come first", async () => {
    const world = await new World().open();
    world.store.full = true;
    await world.append("text");
    const status = () =>
      world.kernel.writeBlock(world.id, { agent: "bot", plan: (draft) => draft.status(world.id, "done") });
    expect(await status()).toMatchObject({ problem: "storage" });
    world.store.full = false;
    await world.env.advance(2_000);
    expect(await status()).toMatchObject({ status: "done" });
    expect(await world.text()).toBe("text");
  });

  it("[K19] an ended block accepts nothing more, and the stream is told so; a file has no end", async () => {
    const world = await new World().open();
    await world.append("a");
    await world.kernel.write(world.c, { agent: "ann", plan: (draft) => draft.status(world.id, "done") });
    expect(await world.kernel.drain(world.id, "bot")).toMatchObject({ problem: "closed" });
    expect(await world.append("b")).toMatchObject({ problem: "closed", details: { status: "done" } });
    expect(await world.text()).toBe("");
    const file = await new World().open({ kind: "file" });
    await file.kernel.write(file.c, { agent: "ann", plan: (draft) => draft.status(file.id, "done") });
    expect(isProblem(await file.append("x\n"))).toBe(false);
    await file.env.advance(0);
    expect(await file.text()).toBe("x\n");
  });
});

describe("anchors", () => {
  it("[K22] a stream stays in one piece, whatever is typed before, inside or after it", async () => {
    for (let seed = 0; seed < 20; seed++) {
      const world = await new World().open();
      let streamed = "";
      for (let i = 0; i < 25; i++) {
        const piece = `s${i} `;
        streamed += piece;
        await world.append(piece);
        await world.kernel.drain(world.id, "bot");
        const { length } = await world.text();
        const place = (world.env.random() + seed) % 4;
        const at = place === 0 ? 0 : place === 1 ? length : world.env.random() % (length + 1);
        if (place === 3) continue;
        await world.kernel.writeBlock(world.id, {
          agent: "ann",
          plan: (draft) => draft.splice(world.id, [{ at, del: "", ins: "A" }]),
        });
      }
      // Without what the person typed, the stream is whole; and nothing came between its last piece and the one before.
      const text = await world.text();
      expect(text.replaceAll("A", "")).toBe(streamed);
    }
  });

  it("[K22] who types at the end does not part the stream; two streams do not mix", async () => {
    const world = await new World().open();
    const say = async (text: string, agent: string) => {
      await world.append(text, agent);
      await world.kernel.drain(world.id, agent);
    };
    await say("one ", "bot");
    await say("[ann ", "ann");
    await say("two ", "bot");
    await say("types]", "ann");
    await say("three", "bot");
    expect(await world.text()).toBe("one two three[ann types]");
    const again = new Kernel(world.env, world.store);
    await again.append(world.id, "bot", "!");
    await again.drain(world.id, "bot");
    expect(await world.text()).toBe("one two three![ann types]");
  });
});
