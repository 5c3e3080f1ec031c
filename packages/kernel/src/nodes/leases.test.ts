/** Leases of agents: what holds a block or a turn open, what ends it, and how its agent continues. In virtual time. */

import { afterEach, describe, expect, it } from "vitest";
import { limits } from "../model/limits.ts";
import { isProblem } from "../model/problem.ts";
import { ann, bob, TestHarness } from "../testing/harness.ts";
import { MemoryNodes } from "../testing/memory-nodes.ts";
import { MemoryStore } from "../testing/memory-store.ts";
import { callTool } from "../tools/index.ts";
import { LlmEvents } from "../wire/llm-events.ts";
import { type LlmMessage, reduceLlm } from "../wire/llm-messages.ts";
import { Kernel } from "../write/kernel.ts";
import { Leases } from "./leases.ts";
import { closeOrphans } from "./orphans.ts";

const LEASE = limits.agentLeaseMs;
/** A lease, plus the time until the next check. */
const LONG = LEASE + LEASE / 5;

const open: Leases[] = [];
afterEach(async () => {
  for (const leases of open.splice(0)) await leases.close();
});

async function leasesOf(kernel: Kernel): Promise<Leases> {
  const leases = new Leases({ kernel, agent: "blockyard" });
  open.push(leases);
  await leases.start();
  return leases;
}

/** A desk past the time in which a process ends nothing. */
async function world() {
  const harness = new TestHarness();
  const leases = await leasesOf(harness.kernel);
  await harness.env.advance(LEASE);
  const conversation = await harness.conversation();
  const made = { conversation, kind: "text", role: "model", content: "one ", status: "running" };
  const create = async (more: object = {}) =>
    (await harness.ok("block.create", { ...made, ...more }, bob))["block_id"] as string;
  const look = async (block_id: string) => harness.ok("block.read", { block_id, line_numbers: false });
  return { harness, leases, conversation, create, look };
}

describe("a lease", () => {
  it("[K70] is renewed by calls and by a connection, and what is held ends once when it runs out", async () => {
    const { harness, leases, create, look } = await world();
    const id = await create();
    for (let i = 0; i < 5; i++) {
      await leases.hold("bob");
      await harness.env.advance(LEASE * 0.8);
    }
    expect(await look(id)).toMatchObject({ status: "running" });
    leases.present = () => ["bob"];
    await harness.env.advance(3 * LEASE);
    expect(await look(id)).toMatchObject({ status: "running" });
    leases.present = () => ["ann"];
    await harness.env.advance(LONG);
    const ended = await look(id);
    expect(ended).toMatchObject({ status: "error", metadata: { reason: "interrupted", lapsed: true } });
    await harness.env.advance(3 * LEASE);
    expect((await look(id)).version).toBe(ended.version);
  });

  it("[K71] its agent, and nobody else, continues what ended this way", async () => {
    const { harness, create, look } = await world();
    const [text, call, ends] = [
      await create(),
      await create({ kind: "tool_call", content: "{}", metadata: { toolUseId: "t", toolName: "x" } }),
      await create(),
    ];
    await harness.env.advance(LONG);
    for (const id of [text, call, ends]) expect(await look(id)).toMatchObject({ status: "error" });
    expect(await harness.problem("block.append", { block_id: text, text: "no" }, ann)).toMatchObject({
      problem: "closed",
    });
    await harness.ok("block.append", { block_id: text, text: "two", wait: true }, bob);
    const again = await look(text);
    expect(again).toMatchObject({ status: "running", content: "one two" });
    expect(again["metadata"]).toEqual({});
    await harness.ok("block.append", { block_id: text, text: ".", wait: true }, bob, "a key");
    await harness.ok("block.status", { block_id: text, status: "done" }, bob);
    expect(await harness.problem("block.append", { block_id: text, text: "no" }, bob)).toMatchObject({
      problem: "closed",
    });
    await harness.ok("block.status", { block_id: call, status: "running" }, bob);
    expect(await look(call)).toMatchObject({ status: "running", metadata: { stage: "running" } });
    await harness.ok("block.status", { block_id: call, status: "done" }, bob);
    expect((await look(call))["metadata"]).toEqual({
      toolUseId: "t",
      toolName: "x",
      stage: "end",
      success: true,
    });
    await harness.ok("block.status", { block_id: ends, status: "done" }, bob);
    expect(await look(ends)).toMatchObject({ status: "done", metadata: {} });
  });

  it("[K79] what an agent goes on with behind the end of its turn is told as llm_* events, and reduces to the blocks", async () => {
    const { harness, conversation, create, look } = await world();
    let messages: readonly LlmMessage[] = [];
    const types: string[] = [];
    const events = new LlmEvents();
    harness.kernel.listen(({ ops, blocks }) => {
      for (const event of events.commit(ops, blocks)) {
        types.push(event.type.slice("llm_".length));
        messages = reduceLlm(messages, event);
      }
    });
    await harness.ok("turn.begin", { conversation }, bob);
    const text = await create();
    const metadata = { toolUseId: "t", toolName: "x" };
    const call = await create({ kind: "tool_call", content: '{"a":', metadata });
    const done = await create({
      kind: "tool_call",
      content: "{}",
      metadata: { toolUseId: "u", toolName: "x" },
    });
    await harness.ok("block.status", { block_id: done, status: "done" }, bob);
    await harness.env.advance(LONG);
    expect(types.slice(-1)).toEqual(["message_stop"]);
    types.length = 0;
    await harness.ok("block.append", { block_id: text, text: "two", wait: true }, bob);
    await harness.ok("block.append", { block_id: text, text: " three", wait: true }, bob);
    await harness.ok("block.status", { block_id: text, status: "done" }, bob);
    expect(types).toEqual(["content_block_delta", "content_block_delta"]);
    await harness.ok("block.append", { block_id: call, text: "1}", wait: true }, bob);
    const output = { conversation, parent_id: call, kind: "tool_result", role: "tool", metadata };
    await harness.ok("block.create", { ...output, content: "42", status: "done" }, bob);
    await harness.ok("block.status", { block_id: call, status: "done" }, bob);
    expect(types.slice(-1)).toEqual(["tool_execution_complete"]);
    expect(messages).toMatchObject([
      {
        isComplete: true,
        contentBlocks: [{ content: "one two three" }, { content: '{"a":1}' }, { content: "{}" }],
        toolExecutions: [
          { toolId: "u", status: "success" },
          { toolId: "t", status: "success", result: "42" },
        ],
      },
    ]);
    expect(await look(text)).toMatchObject({ content: "one two three", status: "done" });
    // What ended with its message emits nothing more, whatever is written to it.
    types.length = 0;
    const edit = { op: "insert", line: 0, content: "x" };
    await harness.ok("block.edit", { block_id: done, operations: [edit] }, ann);
    await harness.ok("block.edit", { block_id: done, operations: [edit] }, ann);
    expect(types).toEqual([]);
  });

  it("[K71] what was ended on purpose stays ended, whatever its reason", async () => {
    const { harness, create } = await world();
    const id = await create();
    const metadata = { reason: "interrupted" };
    await harness.ok("block.status", { block_id: id, status: "error", metadata });
    expect(await harness.problem("block.append", { block_id: id, text: "x" }, bob)).toMatchObject({
      problem: "closed",
    });
    const forged = { block_id: id, metadata: { lapsed: true } };
    expect(await harness.problem("block.status", forged, bob)).toMatchObject({ problem: "forbidden" });
  });

  it("[K72] a restart ends what a process ran, and gives what agents hold a new lease", async () => {
    const { harness, create, look } = await world();
    const held = await create();
    const turn = { provider: "claude", agent: "claude", status: "running", startedAt: 0 } as const;
    const made = await harness.kernel.write(held.split("/", 1)[0] as string, {
      agent: "claude",
      plan: (draft) => {
        draft.setTurn({ ...turn, id: "turn-run" });
        const ran = draft.create({
          kind: "text",
          role: "model",
          status: "running",
          metadata: { turn: "turn-run" },
        });
        const waits = { turn: "turn-next", notice: "queued" };
        const queued = draft.create({
          kind: "text",
          role: "user",
          status: "pending",
          side: true,
          metadata: waits,
        });
        const again = { command: "ls", node: "local" };
        const command = draft.create({ kind: "command", role: "tool", status: "running", metadata: again });
        return [ran, queued, command].map((block) => (isProblem(block) ? "" : block.id));
      },
    });
    for (const leases of open.splice(0)) await leases.close();
    harness.restart();
    expect(await closeOrphans(harness.kernel, "blockyard")).toEqual({ blocks: 3, turns: 1 });
    await leasesOf(harness.kernel);
    for (const id of made as string[]) expect(await look(id)).toMatchObject({ status: "error" });
    await harness.env.advance(LEASE * 0.9);
    expect(await look(held)).toMatchObject({ status: "running" });
    await harness.env.advance(LONG);
    expect(await look(held)).toMatchObject({ status: "error", metadata: { lapsed: true } });
  });

  it("[K72] what a process runs now survives, however long its agent is silent", async () => {
    const { harness, look, conversation } = await world();
    const block = await harness.kernel.write(conversation, {
      agent: "claude",
      plan: (draft) => {
        draft.setTurn({ id: "t", provider: "claude", agent: "claude", status: "running", startedAt: 0 });
        return draft.create({ kind: "text", role: "model", status: "running", metadata: { turn: "t" } });
      },
    });
    await harness.env.advance(5 * LEASE);
    expect(await look(isProblem(block) ? "" : block.id)).toMatchObject({ status: "running" });
  });
});

describe("[N14] leases of several nodes", () => {
  it("an agent seen at one node keeps what it holds at all of them; one that is gone does not", async () => {
    const harness = new TestHarness();
    const { env } = harness;
    const store = new MemoryStore("nodes");
    store.nodes = new MemoryNodes(() => env.monotonic());
    const nodes = ["n-a", "n-b"].map((name) => {
      const kernel = new Kernel(env, store);
      kernel.node = name;
      return kernel;
    }) as [Kernel, Kernel];
    const [a, b] = [await leasesOf(nodes[0]), await leasesOf(nodes[1])];
    await env.advance(LEASE);
    const call = async (kernel: Kernel, leases: Leases, tool: string, input: object) => {
      await leases.hold("bob");
      const answer = await callTool({ ...harness.as(bob), kernel }, tool, input);
      if (isProblem(answer)) throw new Error(answer.message);
      return answer as Record<string, string>;
    };
    const { conversation } = await call(nodes[0], a, "conversation.create", {});
    const made = { conversation, kind: "text", role: "model", content: "x", status: "running" };
    const { block_id = "" } = await call(nodes[0], a, "block.create", made);
    await b.look();
    // It continues at the other node; the first one gets no more of it.
    for (let i = 0; i < 5; i++) {
      await env.advance(LEASE * 0.7);
      await call(nodes[1], b, "block.list", {});
    }
    expect((await store.block(block_id))?.status).toBe("running");
    await b.close(); // its node restarts
    await env.advance(LEASE * 0.5);
    expect((await store.block(block_id))?.status).toBe("running");
    await env.advance(LONG);
    expect(await store.block(block_id)).toMatchObject({ status: "error", metadata: { lapsed: true } });
  });
});

describe("turns of agents", () => {
  it("[D20] what an agent creates between begin and end belongs to its turn, and the end states its usage", async () => {
    const { harness, conversation, create, look } = await world();
    const { turn } = await harness.ok("turn.begin", { conversation, model: "m-1" }, bob);
    const text = await create();
    const other = await harness.block(conversation, "ann's", ann);
    expect(await look(text)).toMatchObject({ metadata: { turn } });
    expect((await look(other))["metadata"]).toEqual({});
    await harness.ok("block.status", { block_id: text, status: "done" }, bob);
    const usage = { input: 10, output: 3 };
    const end = { conversation, turn, usage, cost_usd: 0.25, stop_reason: "end_turn" };
    const ended = await harness.ok("turn.end", end, bob);
    expect(ended).toMatchObject({
      ended_blocks: 0,
      turn: {
        turn,
        agent: "bob",
        provider: "bob",
        model: "m-1",
        status: "done",
        stop_reason: "end_turn",
        cost_usd: 0.25,
      },
    });
    expect(await harness.ok("conversation.read", { conversation })).toMatchObject({
      conversation: { running: [], cost_usd: 0.25, usage: { input: 10, output: 3 } },
      turns: [{ turn, status: "done" }],
    });
    expect(await harness.problem("turn.end", end, bob)).toMatchObject({ problem: "closed" });
    const after = await create();
    expect((await look(after))["metadata"]).toEqual({});
  });

  it("[T12] what an agent names at the beginning or end of its turn is sanitized like any text", async () => {
    const { harness, conversation } = await world();
    const names = (end: string) => ({ model: `m${end}`, provider: `p${end}`, session_id: `s${end}` });
    for (const [given, kept] of [
      ["\ud800", "\ufffd"],
      ["\0", "\u2400"],
      ["\u{1f600}", "\u{1f600}"],
    ] as const) {
      const { turn } = await harness.ok("turn.begin", { conversation, ...names(given) }, bob);
      const { turns } = await harness.ok("conversation.read", { conversation });
      expect((turns as { turn: string }[]).find((each) => each.turn === turn)).toMatchObject(names(kept));
      const end = { conversation, turn, model: given, stop_reason: given, error: given };
      const ended = await harness.ok("turn.end", end, bob);
      expect(ended["turn"]).toMatchObject({ model: kept, stop_reason: kept, error: kept });
    }
  });

  it("[D21] what is open ends with it: done with done, interrupted otherwise, and calls always", async () => {
    const { harness, conversation, create, look } = await world();
    const tool = { kind: "tool_call", content: "{}", metadata: { toolUseId: "t", toolName: "x" } };
    const { turn } = await harness.ok("turn.begin", { conversation }, bob);
    const [text, call] = [await create(), await create(tool)];
    expect(await harness.ok("turn.end", { conversation, turn }, bob)).toMatchObject({ ended_blocks: 2 });
    expect(await look(text)).toMatchObject({ status: "done" });
    expect(await look(call)).toMatchObject({ status: "error", metadata: { reason: "interrupted" } });
    const second = await harness.ok("turn.begin", { conversation }, bob);
    const left = await create();
    const error = "the API is down";
    const failed = await harness.ok("turn.end", { conversation, turn: second["turn"], error }, bob);
    expect(failed).toMatchObject({ turn: { status: "error", reason: "failed", error } });
    expect(await look(left)).toMatchObject({ status: "error", metadata: { reason: "failed" } });
  });

  it.each([
    ["done", "done", { status: "done", metadata: { success: true } }],
    ["error", "done", { status: "error", metadata: { success: false, reason: "failed" } }],
    ["running", "done", { status: "error", metadata: { success: false, reason: "interrupted" } }],
    ["done", "error", { status: "error", metadata: { success: false, reason: "failed" } }],
  ])(
    "[D21] a call that nobody ended, with a result that is %s, in a turn that is %s",
    async (result, status, ended) => {
      const { harness, conversation, create, look } = await world();
      const metadata = { toolUseId: "t", toolName: "x" };
      const { turn } = await harness.ok("turn.begin", { conversation }, bob);
      const call = await create({ kind: "tool_call", content: "{}", metadata });
      await create({ kind: "tool_result", role: "tool", parent_id: call, status: result, metadata });
      await harness.ok("turn.end", { conversation, turn, status }, bob);
      expect(await look(call)).toMatchObject(ended);
    },
  );

  it("[D22] one at a time: the next one ends the one before; only its agent and the owner end it", async () => {
    const { harness, conversation, create, look } = await world();
    const first = await harness.ok("turn.begin", { conversation }, bob);
    const block = await create();
    const second = await harness.ok("turn.begin", { conversation }, bob);
    expect(await look(block)).toMatchObject({ status: "error", metadata: { reason: "interrupted" } });
    expect(await harness.problem("turn.end", { conversation, turn: first["turn"] }, bob)).toMatchObject({
      problem: "closed",
    });
    const eva = { agent: "eva", role: "agent" } as const;
    await harness.ok("turn.begin", { conversation }, eva);
    expect(await harness.problem("turn.end", { conversation, turn: second["turn"] }, eva)).toMatchObject({
      problem: "forbidden",
    });
    await harness.ok("turn.end", { conversation, turn: second["turn"] }, ann);
    expect(await harness.problem("turn.end", { conversation, turn: "none" }, bob)).toMatchObject({
      problem: "not_found",
    });
  });

  it("[D23] it ends when its agent goes away; the agent may still report the real end", async () => {
    const { harness, conversation, create, look } = await world();
    const events = new LlmEvents();
    let messages: readonly LlmMessage[] = [];
    harness.kernel.listen(({ ops, blocks }) => {
      for (const event of events.commit(ops, blocks)) messages = reduceLlm(messages, event);
    });
    const { turn } = await harness.ok("turn.begin", { conversation }, bob);
    const block = await create();
    await harness.env.advance(LONG);
    expect(await look(block)).toMatchObject({ status: "error", metadata: { reason: "interrupted" } });
    expect(messages).toMatchObject([{ isComplete: true, stopReason: "interrupted" }]);
    const turns = async () => (await harness.ok("conversation.read", { conversation }))["turns"];
    expect(await turns()).toMatchObject([{ turn, status: "error", reason: "interrupted" }]);
    await harness.ok("block.append", { block_id: block, text: "two", wait: true }, bob);
    await harness.ok("turn.end", { conversation, turn, usage: { output: 7 } }, bob);
    expect(await look(block)).toMatchObject({ status: "done", content: "one two" });
    expect(await turns()).toMatchObject([{ turn, status: "done", usage: { output: 7 } }]);
    expect((await turns()) as object[]).not.toMatchObject([{ reason: "interrupted" }]);
    // Clients that have the message get its new end; it does not begin again.
    expect(messages).toMatchObject([
      { contentBlocks: [{ content: "one two" }], isComplete: true, stopReason: "end_turn" },
    ]);
  });
});
