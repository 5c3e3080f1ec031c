// The three outcomes of a write: whatever the store does, from whichever call on, the answer is true.

import { expect, it } from "vitest";
import { Ingest } from "../ingest/ingest.ts";
import type { ConversationId } from "../model/ids.ts";
import { isProblem, type Problem } from "../model/problem.ts";
import type { Store } from "../ports/store.ts";
import { StoreError } from "../ports/store-rules.ts";
import { MemoryStore } from "../testing/memory-store.ts";
import { VirtualEnv } from "../testing/virtual-env.ts";
import { Kernel } from "./kernel.ts";

const OUTAGE_MS = 60_000;

type Lost = "request" | "answer";

class World {
  readonly env = new VirtualEnv(3);
  readonly inner = new MemoryStore("e");
  conversation: ConversationId = "";
  calls = 0;
  /** From this call on the store is away. */
  awayFrom = Number.POSITIVE_INFINITY;
  /** What is lost of the first call: for the others it is the request. */
  lost: Lost = "request";
  kernel = this.#kernel();

  #kernel(): Kernel {
    const store = new Proxy(this.inner, {
      get: (inner, name: keyof MemoryStore) => {
        const value: unknown = inner[name];
        if (typeof value !== "function") return value;
        return async (...given: unknown[]) => {
          const call = this.calls++;
          const isFirst = call === this.awayFrom;
          if (call < this.awayFrom || (isFirst && this.lost === "answer")) {
            const answer: unknown = await (value as (...all: unknown[]) => unknown).apply(inner, given);
            if (!isFirst) return answer;
          }
          throw new StoreError("io", "the connection was lost");
        };
      },
    }) as Store;
    return new Kernel(this.env, store);
  }

  static async open(isKnown: boolean): Promise<World> {
    const world = new World();
    world.conversation = (await world.kernel.createConversation("ann", "t")) as string;
    if (!isKnown) world.kernel = world.#kernel();
    world.calls = 0;
    return world;
  }

  async count(text: string): Promise<number> {
    const query = { conversation: this.conversation, order: "first", limit: 99 } as const;
    const texts = await Promise.all((await this.inner.blocks(query)).map(({ id }) => this.inner.text(id)));
    return texts.filter((each) => each === text).length;
  }

  /** The outcome; time passes meanwhile. */
  async within<T>(work: Promise<T>): Promise<T | undefined> {
    let answer: T | undefined;
    void work.then((said) => {
      answer = said;
    });
    await this.env.advance(OUTAGE_MS);
    return answer;
  }
}

const ROWS = [true, false].flatMap((isKnown) =>
  [undefined, "k"].flatMap((key) =>
    (["request", "answer"] as const).flatMap((lost) =>
      [0, 1, 2, 3, 4].map((from) => ({ isKnown, key, lost, from })),
    ),
  ),
);

it.each(ROWS)(
  "[K36] conversation known: $isKnown, key: $key, the $lost of call $from lost, then silence",
  async (row) => {
    const world = await World.open(row.isKnown);
    const { kernel, conversation } = world;
    const write = (): Promise<unknown> =>
      kernel.write(conversation, {
        agent: "ann",
        ...(row.key === undefined ? {} : { key: row.key }),
        plan: (draft) => draft.create({ kind: "text", role: "user", text: "once", status: "done" }),
      });
    world.lost = row.lost;
    world.awayFrom = row.from;
    const answer = await world.within(write());
    const there = await world.count("once");
    expect(answer, "answered, though the store is away").toBeDefined();
    if (!isProblem(answer)) expect(there).toBe(1);
    else if (answer.problem === "storage") expect(there).toBe(0);
    else expect(answer.problem).toBe("uncertain");
    if (row.key === undefined) return;
    // A repeated request is never reported as undone if it is done, and in the end it exists once.
    const again = await world.within(write());
    if (isProblem(again) && again.problem === "storage") expect(there).toBe(0);
    world.awayFrom = Number.POSITIVE_INFINITY;
    expect(isProblem(await world.within(write()))).toBe(false);
    expect(await world.count("once")).toBe(1);
  },
);

it.each(
  [0, 1, 2, 3, 4, 5, 6].flatMap((from) => (["request", "answer"] as const).map((lost) => ({ from, lost }))),
)(
  "[K37] a stream that the store drops at call $from, the $lost lost, is held and written once",
  async ({ from, lost }) => {
    const world = await World.open(true);
    const ingest = new Ingest(world.kernel, { conversation: world.conversation, agent: "claude" });
    await ingest.open();
    world.lost = lost;
    world.calls = 0;
    world.awayFrom = from;
    const ended: (Problem | undefined)[] = [];
    const stream = async () => {
      await ingest.push([
        { type: "block-start", key: "a", kind: "text", role: "model", metadata: {}, text: "" },
      ]);
      for (const text of ["on", "e\n", "two\n"]) {
        await ingest.push([{ type: "block-append", key: "a", text }]);
        await new Promise<void>((done) => world.env.after(200, done));
      }
      await ingest.push([{ type: "block-end", key: "a", status: "done" }]);
      ended.push(await ingest.finish());
    };
    await world.within(stream());
    world.awayFrom = Number.POSITIVE_INFINITY;
    await world.env.advance(OUTAGE_MS);
    expect(ended).toEqual([undefined]);
    expect(await world.count("one\ntwo\n")).toBe(1);
  },
);

it("[K37] a stream is not held for ever: then its end says why", async () => {
  const world = await World.open(true);
  const ingest = new Ingest(world.kernel, { conversation: world.conversation, agent: "claude" });
  await ingest.open();
  world.awayFrom = 0;
  await ingest.push([
    { type: "block-start", key: "a", kind: "text", role: "model", metadata: {}, text: "x" },
  ]);
  const ended = ingest.finish();
  for (let minute = 0; minute < 12; minute++) await world.env.advance(60_000);
  expect(await ended).toMatchObject({ problem: "uncertain" });
});
