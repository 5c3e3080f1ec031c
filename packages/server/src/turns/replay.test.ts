/** Recorded sessions on a store that fails. */
import { isProblem, Kernel, MemoryStore, StoreError } from "@blockyard/kernel";
import { expect, it } from "vitest";
import { nodeEnv } from "../env.ts";
import { RECORDINGS, replay } from "./replay.ts";

it.each(RECORDINGS)(
  "[AC65] $name ends with a reason where the store fails, and rejects nothing",
  async (recording) => {
    const store = new MemoryStore("epoch");
    const kernel = new Kernel(nodeEnv, store);
    store.appendRaw = () => Promise.reject(new StoreError("full", "the disk is full"));
    const played = await replay(kernel, recording, "ann", 1_000);
    if (isProblem(played)) throw new Error(played.message);
    expect(await played.done).toMatchObject({ problem: "storage", message: "the disk is full" });
  },
);
