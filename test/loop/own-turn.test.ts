/** Turns of programs in the running server: their `llm_*` events, the owner's stop, and what keeps them open. */
import { type Change, isProblem, LlmEvents, type LlmMessage, reduceLlm } from "@blockyard/kernel";
import type { Caller } from "@blockyard/server";
import { afterAll, beforeAll, expect, it } from "vitest";
import { Rig } from "./rig.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await Rig.start();
});
afterAll(() => rig.stop());

const loop: Caller = { agent: "my-loop", role: "agent", by: "token" };

async function as<T = Record<string, string>>(tool: string, input: object): Promise<T> {
  const answer = await rig.ask(tool, input, loop);
  if (isProblem(answer)) throw new Error(`${tool}: ${JSON.stringify(answer)}`);
  return answer as T;
}

it("[D20] a program's turn is told as llm_* events, with its blocks, its tool call and its end", async () => {
  const conversation = await rig.conversation();
  const events = new LlmEvents();
  let messages: readonly LlmMessage[] = [];
  const stop = rig.server.kernel.listen((told: Change) => {
    if (told.conversation !== conversation) return;
    for (const event of events.commit(told.ops, told.blocks)) messages = reduceLlm(messages, event);
  });
  await rig.tool("block.create", { conversation, kind: "text", role: "user", content: "Look." });
  const { turn = "" } = await as("turn.begin", { conversation, model: "m-1" });
  const { block_id } = await as("block.create", { conversation, kind: "text", role: "model" });
  await as("block.append", { block_id, text: "I look.", wait: true });
  await as("block.status", { block_id, status: "done" });
  const metadata = { toolUseId: "t1", toolName: "ls" };
  const call = { conversation, kind: "tool_call", role: "model", content: "{}", metadata };
  const { block_id: called } = await as("block.create", call);
  const result = {
    parent_id: called,
    kind: "tool_result",
    role: "tool",
    content: "a.ts",
    status: "done",
    metadata,
  };
  await as("block.create", result);
  await as("block.status", { block_id: called, status: "done" });
  await as("turn.end", { conversation, turn, stop_reason: "end_turn", usage: { input: 4, output: 2 } });
  stop();
  expect(messages).toMatchObject([
    {
      messageId: turn,
      contentBlocks: [
        { type: "text", content: "I look." },
        { type: "tool_use", toolName: "ls" },
      ],
      toolExecutions: [{ toolId: "t1", status: "success", result: "a.ts" }],
      isComplete: true,
    },
  ]);
  const { turns } = await rig.tool<{ turns: object[] }>("turn.list", { conversation });
  expect(turns).toMatchObject([
    { turn, agent: "my-loop", model: "m-1", status: "done", usage: { input: 4 } },
  ]);
});

it("[D22] the owner's stop ends it as cancelled; what the program writes then is refused", async () => {
  const conversation = await rig.conversation();
  const { turn = "" } = await as("turn.begin", { conversation });
  const { block_id } = await as("block.create", { conversation, kind: "text", role: "model", content: "a" });
  expect(await rig.tool("turn.stop", { conversation, turn: "another" })).toEqual({
    stopped: 0,
    dropped: 0,
    held: 0,
  });
  expect(await rig.tool("turn.stop", { conversation })).toEqual({ stopped: 1, dropped: 0, held: 0 });
  expect(await rig.ask("block.append", { block_id, text: "b" }, loop)).toMatchObject({ problem: "closed" });
  expect(await rig.ask("turn.end", { conversation, turn }, loop)).toMatchObject({ problem: "closed" });
  const { turns } = await rig.tool<{ turns: object[] }>("turn.list", { conversation });
  expect(turns).toMatchObject([{ turn, status: "error", reason: "cancelled" }]);
});

it("[D22] a turn that the server runs is not ended by a program", async () => {
  rig.model.play([{ parts: [{ text: "Hello." }] }]);
  const { conversation, turn } = await rig.run("anthropic", "Hi");
  expect(await rig.ask("turn.end", { conversation, turn: turn.id })).toMatchObject({ problem: "invalid" });
});
