// Other nodes' commits, read while they keep committing.

import { describe, expect, it } from "vitest";
import type { Op } from "../model/op.ts";
import { isProblem } from "../model/problem.ts";
import { MemoryStore } from "../testing/memory-store.ts";
import { VirtualEnv } from "../testing/virtual-env.ts";
import { Kernel } from "../write/kernel.ts";
import { readMissed } from "./missed.ts";
import type { Store } from "./store.ts";

const BLOCKS = 60;

describe("[N1] what was missed", () => {
  it("is read to its end, though others write while it is read", async () => {
    const { store, conversation, write } = await openHarness();
    for (let i = 0; i < BLOCKS; i++) await write();
    let reads = 0;
    const busy = replaced(store, {
      log: async (id, after) => {
        if (++reads % 10 === 0) await write();
        return store.log(id, after);
      },
    });
    const missed = await readMissed(busy, conversation, 1);
    const { seq = 0 } = missed?.record ?? {};
    expect(seq).toBeGreaterThan(BLOCKS + 1);
    expect(missed?.ops.map((op) => op.seq)).toEqual(Array.from({ length: seq - 1 }, (_, i) => i + 2));
    expect(missed?.blocks).toHaveLength(seq - 1);
    expect(reads).toBeLessThan(2 * BLOCKS);
  });

  it("has a run once that grew while it was read", async () => {
    const { store, conversation, write } = await openHarness();
    const block = await write();
    const [first] = (await store.log(block, { version: 0 })).ops as [Op];
    const grown = { ...first, seq: 3, version: 2 };
    let reads = 0;
    const merging = replaced(store, {
      log: async () => {
        if (++reads === 1) {
          await write(block);
          return { ops: [first] };
        }
        return { ops: [grown] };
      },
    });
    const missed = await readMissed(merging, conversation, 1);
    expect(reads).toBe(2);
    expect(missed?.ops).toEqual([grown]);
  });

  it("has no ops of a block that was compacted while it was read", async () => {
    const { store, conversation, write } = await openHarness();
    const block = await write();
    let reads = 0;
    const compacting = replaced(store, {
      log: async (id, after) => {
        if (++reads > 1) return { compacted: { version: 2, text: "", anchors: {} }, ops: [] };
        const log = await store.log(id, after);
        await write(block);
        return log;
      },
    });
    const missed = await readMissed(compacting, conversation, 1);
    expect(missed).toMatchObject({ ops: [], renewed: [block], record: { seq: 3 } });
  });
});

async function openHarness() {
  const store = new MemoryStore("e");
  const kernel = new Kernel(new VirtualEnv(1), store);
  const conversation = good(await kernel.createConversation("ann", ""));
  /** A new block, or one op more for an old one. */
  const write = async (old?: string): Promise<string> => {
    const made = await kernel.write(conversation, {
      agent: "ann",
      plan: (draft) =>
        old === undefined
          ? draft.create({ kind: "text", role: "user", text: "x" })
          : draft.meta(old, { label: "x" }),
    });
    return good(made).id;
  };
  return { store, conversation, write };
}

/** The store with some of its methods replaced. */
function replaced(store: MemoryStore, some: Partial<Store>): Store {
  return {
    ...some,
    conversation: (id: string) => store.conversation(id),
    turns: (id: string) => store.turns(id),
    blocks: (query: Parameters<Store["blocks"]>[0]) => store.blocks(query),
    conversationOps: (id: string, after: number) => store.conversationOps(id, after),
  } as Store;
}

function good<T>(value: T): Exclude<T, { problem: string }> {
  if (isProblem(value)) throw new Error(value.message);
  return value as Exclude<T, { problem: string }>;
}
