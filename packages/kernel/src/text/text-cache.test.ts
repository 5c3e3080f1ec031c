/** What stays loaded: used texts, within limits; not texts that only a stream extends. */
import { expect, it } from "vitest";
import type { BlockId } from "../model/ids.ts";
import { limits } from "../model/limits.ts";
import { isProblem } from "../model/problem.ts";
import { MemoryStore } from "../testing/memory-store.ts";
import { VirtualEnv } from "../testing/virtual-env.ts";
import { Kernel } from "../write/kernel.ts";

const LINE = `${"x".repeat(99)}\n`;

function countedLoads(): { kernel: Kernel; loads: () => number } {
  const store = new MemoryStore("epoch");
  const log = store.log.bind(store);
  let loads = 0;
  store.log = (...request) => {
    loads++;
    return log(...request);
  };
  return { kernel: new Kernel(new VirtualEnv(3), store), loads: () => loads };
}

async function newBlock(kernel: Kernel): Promise<BlockId> {
  const conversation = must(await kernel.createConversation("ada", "t"));
  const plan = { kind: "text", role: "model", text: LINE } as const;
  return must(await kernel.write(conversation, { agent: "ada", plan: (draft) => draft.create(plan) })).id;
}

async function stream(kernel: Kernel, block: BlockId, chars: number): Promise<void> {
  for (let sent = 0; sent < chars; sent += LINE.length) must(await kernel.append(block, "ada", LINE));
  must(await kernel.drain(block, "ada"));
}

function must<T>(value: T): Exclude<T, { problem: unknown }> {
  if (isProblem(value)) throw new Error(value.message);
  return value as Exclude<T, { problem: unknown }>;
}

it("[K33] a text that somebody reads follows its stream without being loaded again", async () => {
  const { kernel, loads } = countedLoads();
  const block = await newBlock(kernel);
  for (let round = 1; round <= 4; round++) {
    await stream(kernel, block, limits.unreadChars / 2);
    expect(must(await kernel.read(block)).text.length).toBe(must(await kernel.block(block)).chars);
  }
  expect(loads()).toBe(1);
});

it("[K33] a text that only grows is dropped, and loaded again when it is needed", async () => {
  const { kernel, loads } = countedLoads();
  const block = await newBlock(kernel);
  must(await kernel.read(block));
  await stream(kernel, block, 2 * limits.unreadChars);
  const { text } = must(await kernel.whole(block));
  expect(text).toBe(LINE.repeat(text.length / LINE.length));
  expect(text.length).toBe(must(await kernel.block(block)).chars);
  expect(loads()).toBe(2);
});
