/** Turns of the loop on a kernel of their own: what depends on time, and what remains of a turn when its server stops. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inlineMatcher, isProblem, Kernel, MemoryStore } from "@blockyard/kernel";
import { afterEach, beforeEach, expect, it } from "vitest";
import { call, say } from "../../../../test/model/script.ts";
import { ModelServer } from "../../../../test/model/server.ts";
import { ProcessTracker } from "../processes/process-tracker.ts";
import { nodeEnv } from "../system/env.ts";
import { APIS, apiDriver } from "./api.ts";
import { Turns } from "./turns.ts";

let model: ModelServer;
let folder: string;
let tracker: ProcessTracker;
beforeEach(async () => {
  model = await ModelServer.start();
  folder = mkdtempSync(join(tmpdir(), "blockyard-api-"));
  tracker = new ProcessTracker(join(folder, "home"));
});
afterEach(async () => {
  await model.stop();
  await tracker.close();
  rmSync(folder, { recursive: true });
});

async function open(silentMs?: number) {
  const kernel = new Kernel(nodeEnv, new MemoryStore("m"));
  const options = {
    kernel,
    root: folder,
    home: join(folder, "home"),
    env: { ANTHROPIC_API_KEY: "k", ANTHROPIC_BASE_URL: model.url, PATH: process.env["PATH"] },
    tracker,
    matcher: inlineMatcher(() => performance.now()),
    schemas: () => [],
    call: async () => null,
    onFault: (_: string, error: unknown) => {
      throw error;
    },
    silentMs,
  };
  const turns = new Turns({ kernel, drivers: APIS.map((api) => apiDriver(api, options)) });
  const conversation = await kernel.createConversation("ann", "t");
  if (isProblem(conversation)) throw new Error(conversation.message);
  const blocks = async () => kernel.store.blocks({ conversation, order: "first", limit: 100 });
  const ended = (): Promise<void> =>
    new Promise((resolve) => {
      const stop = kernel.listen(({ ops }) => {
        const isOver = ops.some(({ body }) => body.type === "turn" && body.turn.status !== "running");
        if (isOver) stop();
        if (isOver) resolve();
      });
    });
  return { kernel, turns, conversation, blocks, ended };
}

const never = new Promise<void>(() => undefined);

it("[L23] a silent model is asked again", async () => {
  const { turns, conversation, blocks, ended } = await open(400);
  model.play([say("Hm", { hold: { after: 3, until: never } }), say("Here I am.")]);
  const over = ended();
  await turns.start("ann", { conversation, provider: "anthropic", prompt: "Hi" });
  await over;
  const shown = await blocks();
  const retry = shown.find(({ metadata }) => metadata["notice"] === "retry");
  expect(retry?.metadata["extra"]).toMatchObject({ code: "silent" });
  expect(shown.at(-1)).toMatchObject({ kind: "text", role: "model", status: "done" });
  expect(model.asked.length).toBeGreaterThan(1);
  await turns.close();
});

it("[L27] [D15] when the server stops, a turn is interrupted, its command killed; queued messages are held", async () => {
  const { kernel, turns, conversation, blocks } = await open();
  model.play([{ parts: [call("bash", { command: "echo on; sleep 600" })] }]);
  const began = new Promise<void>((resolve) => {
    const stop = kernel.listen(({ ops }) => {
      if (!ops.some(({ body }) => body.type === "append" && body.text.includes("on"))) return;
      stop();
      resolve();
    });
  });
  const request = { conversation, provider: "anthropic", prompt: "Go", allow: ["bash"] as const };
  await turns.start("ann", request);
  await turns.start("ann", { ...request, prompt: "Wait" });
  await began;
  await turns.close();
  expect(await tracker.living()).toEqual([]);
  expect(turns.running).toBe(0);
  const all = await blocks();
  const statuses = all.map(({ kind, status, metadata }) => [kind, status, metadata["reason"]]);
  expect(all[1]?.metadata["queued"]).toEqual({ provider: "anthropic", allow: ["bash"], held: "restarted" });
  expect(statuses).toEqual([
    ["text", "done", undefined],
    ["text", "pending", undefined],
    ["tool_call", "error", "interrupted"],
    ["command", "error", "interrupted"],
  ]);
  const [turn, ...others] = (await kernel.store.turns(conversation)) ?? [];
  expect([turn?.status, turn?.reason, others.length]).toEqual(["error", "interrupted", 0]);
  expect(await turns.start("ann", request)).toMatchObject({ problem: "unavailable" });
});
