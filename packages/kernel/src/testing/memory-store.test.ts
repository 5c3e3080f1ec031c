/** The store contract, for the in-memory store; and that nobody can change its data from outside. */
import { describe, expect, it } from "vitest";
import { MemoryNodes } from "./memory-nodes.ts";
import { MemoryStore } from "./memory-store.ts";
import { contract, StoreScript } from "./store-contract.ts";

describe("MemoryStore keeps the contract", () => {
  for (const { title, run } of contract) {
    it(title, async () => {
      const store = new MemoryStore("epoch");
      store.nodes = new MemoryNodes(() => 0);
      await run({ store, reopen: async () => store, close: async () => {} });
    });
  }
});

it("[S3] freezes what it is given, so that the caller cannot change it", async () => {
  const store = new MemoryStore("epoch");
  const script = new StoreScript("c");
  const metadata: { label: string; extra: { list: number[] } } = { label: "a", extra: { list: [1] } };
  const block = script.create({ metadata });
  await script.commit(store);
  expect(() => metadata.extra.list.push(2)).toThrow(TypeError);
  expect((await store.block(block))?.metadata).toEqual({ label: "a", extra: { list: [1] } });
});
