/** The order of queued messages, and prompts that start over. */
import { isProblem, Kernel, MemoryStore, problem, VirtualEnv } from "@blockyard/kernel";
import { expect, test } from "vitest";
import { STREAM } from "./agents.ts";
import type { Driver } from "./driver.ts";
import type { Message } from "./message.ts";
import type { Mode } from "./mode.ts";
import type { Run } from "./run.ts";
import { Turns } from "./turns.ts";

/** A server whose agent logs its prompts, and runs until it is released. */
async function server(env: VirtualEnv, store: MemoryStore) {
  const kernel = new Kernel(env, store);
  const asked: string[] = [];
  const letGo: (() => void)[] = [];
  const messages: Message[] = [];
  /** What the next checks of a model wait for. */
  const checked: Promise<undefined>[] = [];
  const driver: Driver = {
    ...{ provider: "agent", abilities: STREAM, check: () => undefined },
    refusesModel: async () => checked.shift(),
    async start({ request }) {
      asked.push(request.prompt);
      const ended = new Promise<Awaited<Run["ended"]>>((settle) =>
        letGo.push(() => settle({ error: "", isExpected: true, reason: "cancelled" })),
      );
      const end = () => letGo.at(-1)?.();
      const send = async (message: Message) => {
        messages.push(message);
        return message.text.startsWith("refuse") ? problem("busy", "not now") : undefined;
      };
      return { ended, stop: end, kill: end, asks: () => undefined, answer: () => undefined, send };
    },
  };
  const turns = new Turns({ kernel, drivers: [driver] });
  return { kernel, turns, asked, checked, letGo, messages };
}

test("[CM20] queued messages are sent in the order that the user set", async () => {
  const env = new VirtualEnv(1);
  const { kernel, turns, asked, letGo } = await server(env, new MemoryStore("m"));
  const conversation = await kernel.createConversation("root", "queue");
  if (isProblem(conversation)) throw new Error(conversation.message);
  const ids: string[] = [];
  for (const prompt of ["one", "two", "three", "four"]) {
    const started = await turns.start("root", { conversation, provider: "agent", prompt });
    if (isProblem(started)) throw new Error(started.message);
    ids.push(started.turn);
  }
  const [, two, three, four] = ids as [string, string, string, string];
  expect(await turns.move("root", conversation, four, "up")).toEqual({ order: [two, four, three] });
  expect(await turns.move("root", conversation, two, "up")).toMatchObject({ problem: "nothing" });
  expect(await turns.move("root", conversation, ids[0] as string, "up")).toMatchObject({ problem: "gone" });
  for (let i = 0; i < 4; i++) {
    await expect.poll(() => asked.length).toBe(i + 1);
    letGo[i]?.();
  }
  expect(asked).toEqual(["one", "two", "four", "three"]);
});

test("[CM22] a prompt that starts over follows nothing, even if it was queued", async () => {
  const env = new VirtualEnv(1);
  const { kernel, turns, asked, letGo } = await server(env, new MemoryStore("m"));
  const conversation = await kernel.createConversation("root", "anew");
  if (isProblem(conversation)) throw new Error(conversation.message);
  await turns.start("root", { conversation, provider: "agent", prompt: "one" });
  await turns.start("root", { conversation, provider: "agent", prompt: "two", parent: null });
  letGo[0]?.();
  await expect.poll(() => asked).toEqual(["one", "two"]);
  const blocks = await kernel.allBlocks(conversation);
  if (isProblem(blocks)) throw new Error(blocks.message);
  const prompts = blocks.filter(({ side, role }) => role === "user" && !side);
  expect(prompts.map(({ parent }) => parent)).toEqual([null, null]);
});

test("[CM23] a message sent to the agent is marked so until the agent has read it, or rejects it", async () => {
  const env = new VirtualEnv(1);
  const { kernel, turns, messages, letGo } = await server(env, new MemoryStore("m"));
  const conversation = await kernel.createConversation("root", "steered");
  if (isProblem(conversation)) throw new Error(conversation.message);
  const ask = async (prompt: string, when?: "next") => {
    const started = await turns.start("root", {
      conversation,
      provider: "agent",
      prompt,
      ...(when && { when }),
    });
    if (isProblem(started)) throw new Error(started.message);
    return async () => {
      const block = await kernel.block(started.block);
      if (isProblem(block)) throw new Error(block.message);
      return [block.status, block.metadata.queued?.sent];
    };
  };
  await ask("begin");
  const queued = await ask("later");
  const read = await ask("now", "next");
  const refused = await ask("refuse this", "next");
  expect(await queued()).toEqual(["pending", undefined]);
  await expect.poll(read).toEqual(["pending", true]);
  await expect.poll(refused).toEqual(["pending", undefined]);
  await messages.find(({ text }) => text === "now")?.taken();
  expect((await read())[0]).toBe("done");
  const unread = await ask("too late", "next");
  await expect.poll(unread).toEqual(["pending", true]);
  await turns.stop("root", conversation, false);
  letGo[0]?.();
  await turns.release("root", conversation, undefined);
  await expect.poll(async () => (await unread())[1]).toBe(undefined);
});

test.each<[string, object, Mode | undefined, boolean]>([
  ["that is asked for", {}, undefined, true],
  ["that has an allowance", { allow: ["bash"] }, undefined, false],
  ["in a conversation that edits without asking", {}, "edits", false],
])("[AC341] a message %s, changed by its own sender while it waits", async (_, more, mode, isSent) => {
  const { kernel, turns, asked, letGo } = await server(new VirtualEnv(1), new MemoryStore("m"));
  const conversation = await kernel.createConversation("root", "changed");
  if (isProblem(conversation)) throw new Error(conversation.message);
  await turns.start("root", { conversation, provider: "agent", prompt: "one" });
  const waiting = await turns.start("root", { conversation, provider: "agent", prompt: "two", ...more });
  if (isProblem(waiting)) throw new Error(waiting.message);
  await kernel.write(conversation, {
    agent: "root",
    plan: (draft) => {
      if (mode !== undefined) draft.conversation({ metadata: { mode } });
      return draft.append(waiting.block, " and more");
    },
  });
  letGo[0]?.();
  await expect
    .poll(async () => (await kernel.block(waiting.block)) as object)
    .toMatchObject({ status: isSent ? "done" : "error" });
  expect(asked).toEqual(isSent ? ["one", "two and more"] : ["one"]);
});

test("[D62] a message that is sent while a late answer is carried out waits behind it", async () => {
  const { kernel, turns, asked, checked, letGo } = await server(new VirtualEnv(1), new MemoryStore("m"));
  const conversation = await kernel.createConversation("root", "late");
  if (isProblem(conversation)) throw new Error(conversation.message);
  const call = await kernel.write(conversation, {
    agent: "agent",
    plan: (draft) => {
      draft.conversation({ metadata: { switched: { turn: "cut", model: "m" } } });
      const turn = { id: "cut", provider: "agent", agent: "agent", startedBy: "root", startedAt: draft.at };
      draft.setTurn({ ...turn, status: "error", reason: "interrupted" });
      const ask = { id: "a", kind: "permission", state: "expired", input: { command: "ls" } };
      const metadata = { turn: "cut", toolUseId: "a", toolName: "Bash", ask };
      return draft.create({ kind: "tool_call", role: "model", status: "error", text: "", metadata });
    },
  });
  if (isProblem(call)) throw new Error(call.message);
  // The agent is asked whether it has the model, which takes a while.
  let known = () => {};
  checked.push(new Promise((resolve) => (known = () => resolve(undefined))));
  const answer = turns.answer("root", call.id, "a", { allow: true });
  await expect.poll(() => checked.length).toBe(0);
  const prompt = turns.start("root", { conversation, provider: "agent", prompt: "And then?" });
  expect(await prompt).toMatchObject({ queued: true });
  known();
  expect(await answer).toEqual({ state: "allowed" });
  await expect.poll(() => asked.length).toBe(1);
  letGo[0]?.();
  await expect.poll(() => asked.length).toBe(2);
  expect(asked).toEqual([expect.stringContaining("The user allows"), "And then?"]);
});
