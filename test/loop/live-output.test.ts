/** What simple clients receive of a command of the built-in loop: requested, started, its output while it runs, its end. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type JsonObject, type LlmEvent, LlmEvents } from "@blockyard/kernel";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { openReplica } from "../access/transports.ts";
import { call, say } from "../model/script.ts";
import { Rig } from "./rig.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await Rig.start();
});
afterAll(() => rig.stop());
afterEach(() => expect(rig.faults).toEqual([]));

it("[AC46] [W31] a command waits for leave, then starts, and its output comes while it runs", async () => {
  const command = "echo first; until [ -e go ]; do sleep 0.05; done; echo second";
  rig.model.play([{ parts: [call("bash", { command })] }, say("Done.")]);
  const conversation = await rig.conversation();
  const events = new LlmEvents();
  const told: LlmEvent[] = [];
  const stop = rig.server.kernel.listen((commit) => {
    if (commit.conversation === conversation) told.push(...events.commit(commit.ops, commit.blocks));
  });
  const { replica, socket } = await openReplica(rig.server.url, rig.server.auth.ownerToken);
  const updates: string[] = [];
  const running = Promise.withResolvers<void>();
  const over = Promise.withResolvers<void>();
  replica.listenTools(({ stage, waiting, result }) => {
    updates.push([stage, waiting ?? "", result ?? ""].join("|"));
    if (stage === "streaming" && result === "first\n") running.resolve();
    if (stage === "end") over.resolve();
  });
  replica.subscribe(conversation);
  const { turn } = await rig.start("anthropic", "Run", { conversation });
  const asked = await rig.block(conversation, ({ metadata }) => metadata["ask"] !== undefined);
  const types = () => told.map(({ type }) => type).filter((type) => type.startsWith("llm_tool"));
  expect(types()).toEqual(["llm_tool_execution_waiting"]);
  const { id } = asked.metadata["ask"] as JsonObject;
  await rig.tool("turn.answer", { block_id: asked.id, ask_id: id, allow: true });
  await running.promise; // and the command has not ended: it waits for the file
  expect(types()).not.toContain("llm_tool_execution_complete");
  writeFileSync(join(rig.root, "go"), "");
  await rig.ended(conversation, turn);
  await over.promise;
  stop();
  socket.close();
  expect(types().slice(0, 3)).toEqual([
    "llm_tool_execution_waiting",
    "llm_tool_execution_start",
    "llm_tool_execution_progress",
  ]);
  expect(told.filter(({ type }) => type === "llm_tool_execution_start")).toHaveLength(1);
  expect(told.find(({ type }) => type === "llm_tool_execution_complete")).toMatchObject({ success: true });
  const waits = updates.findIndex((update) => update.includes("approval"));
  const runs = updates.findIndex((update) => update.startsWith("running|"));
  expect([waits !== -1, waits < runs, updates.filter((update) => update.startsWith("end|")).length]).toEqual([
    true,
    true,
    1,
  ]);
});
