// Ingest: block events become committed blocks, in order, in few commits, and none of them is dropped.

import { describe, expect, it } from "vitest";
import type { WholeBlock } from "../model/block.ts";
import type { Turn } from "../model/conversation.ts";
import type { BlockEvent } from "../model/event.ts";
import { limits } from "../model/limits.ts";
import { isProblem } from "../model/problem.ts";
import { closeOrphans } from "../nodes/orphans.ts";
import { MemoryStore } from "../testing/memory-store.ts";
import { VirtualEnv } from "../testing/virtual-env.ts";
import { Kernel } from "../write/kernel.ts";
import { Ingest } from "./ingest.ts";

class World {
  readonly env = new VirtualEnv(3);
  readonly store = new MemoryStore("epoch");
  readonly kernel = new Kernel(this.env, this.store);
  conversation = "";

  async open(
    options: { keep?: boolean; turn?: string; from?: number; begins?: "later" } = {},
  ): Promise<Ingest> {
    if (this.conversation === "")
      this.conversation = (await this.kernel.createConversation("owner", "")) as string;
    const ingest = new Ingest(this.kernel, { conversation: this.conversation, agent: "claude", ...options });
    expect(await ingest.open()).toBeUndefined();
    return ingest;
  }

  async blocks(): Promise<WholeBlock[]> {
    const blocks = await this.store.blocks({ conversation: this.conversation, order: "first", limit: 1000 });
    const whole = await Promise.all(blocks.map(({ id }) => this.kernel.whole(id)));
    return whole.map((block) => {
      if (isProblem(block)) throw new Error(block.message);
      return block;
    });
  }

  /** Blocks in a line each: kind, status, depth, text. */
  async lines(): Promise<string[]> {
    const blocks = await this.blocks();
    return blocks.map(
      ({ kind, status, side, text }) => `${side ? "  " : ""}${kind} ${status} ${JSON.stringify(text)}`,
    );
  }
}

const call: BlockEvent[] = [
  { type: "session", provider: "claude", sessionId: "s1", model: "opus", cwd: "/home/me" },
  { type: "turn-start", turn: "t1", provider: "claude" },
  { type: "block-start", key: "u", kind: "text", role: "user", metadata: {}, text: "Fix the bug\nplease" },
  { type: "block-end", key: "u", status: "done" },
  { type: "block-start", key: "a", kind: "text", role: "model", metadata: { messageId: "m1", index: 0 } },
  { type: "block-append", key: "a", text: "I will " },
  { type: "block-append", key: "a", text: "look." },
  { type: "block-end", key: "a", status: "done" },
  {
    type: "block-start",
    key: "c",
    kind: "tool_call",
    role: "model",
    metadata: { toolUseId: "x", toolName: "Bash" },
  },
  { type: "block-append", key: "c", text: '{"command":' },
  { type: "block-append", key: "c", text: '"ls"}' },
  { type: "block-meta", key: "c", metadata: { stage: "running", input: { command: "ls" } } },
  {
    type: "block-start",
    key: "r",
    parent: "c",
    kind: "command",
    role: "tool",
    metadata: { command: "ls" },
    text: "a\n",
  },
  { type: "block-end", key: "r", status: "done", metadata: { exitCode: 0 } },
  { type: "block-end", key: "c", status: "done", metadata: { shortResult: "1 line" } },
  {
    type: "message-usage",
    messageId: "m1",
    usage: { input: 10, cacheRead: 4, cacheWrite: 0, output: 5, reasoning: 0 },
  },
  {
    type: "turn-end",
    turn: "t1",
    status: "done",
    costUsd: 0.25,
    usage: { input: 10, cacheRead: 4, cacheWrite: 0, output: 5, reasoning: 0 },
  },
];

describe("ingest", () => {
  it("[K1] writes a run of events as blocks, chained, nested, with turn, title and totals", async () => {
    const world = new World();
    const ingest = await world.open();
    await ingest.push(call);
    expect(await ingest.finish()).toBeUndefined();
    expect(await world.lines()).toEqual([
      'text done "Fix the bug\\nplease"',
      'text done "I will look."',
      'tool_call done "{\\"command\\":\\"ls\\"}"',
      '  command done "a\\n"',
    ]);
    const [user, answer, tool, result] = await world.blocks();
    expect(answer?.parent).toBe(user?.id);
    expect(tool?.parent).toBe(answer?.id);
    expect(result?.parent).toBe(tool?.id);
    expect(tool?.metadata).toMatchObject({
      stage: "end",
      success: true,
      input: { command: "ls" },
      turn: "t1",
    });
    const record = await world.kernel.conversation(world.conversation);
    expect(record).toMatchObject({
      title: "Fix the bug",
      costUsd: 0.25,
      running: [],
      sessions: { claude: "s1" },
      turns: 1,
    });
    const turns = await world.kernel.turns(world.conversation);
    expect(turns).toMatchObject([{ id: "t1", status: "done", messages: { m1: { usage: { input: 10 } } } }]);
  });

  it("[P32] keeps a session's facts by provider, the latest value of each", async () => {
    const world = new World();
    const ingest = await world.open();
    const session = { type: "session", provider: "claude", sessionId: "s1" } as const;
    await ingest.push([
      { ...session, details: { permissionMode: "plan", tools: ["Bash"] } },
      { ...session, details: { permissionMode: "default" } },
      { type: "session", provider: "codex", details: { sandbox: "read-only" } },
    ]);
    await ingest.finish();
    expect(await world.kernel.conversation(world.conversation)).toMatchObject({
      metadata: {
        session: {
          claude: { sessionId: "s1", permissionMode: "default", tools: ["Bash"] },
          codex: { sandbox: "read-only" },
        },
      },
    });
  });

  it("[K1] a whole run needs few commits", async () => {
    const world = new World();
    const ingest = await world.open();
    let commits = 0;
    world.kernel.listen(() => commits++);
    await ingest.push(call);
    await ingest.finish();
    expect(commits).toBe(1);
  });

  it("[R20] the same events again add nothing", async () => {
    const world = new World();
    for (let i = 0; i < 3; i++) {
      const ingest = await world.open({ keep: true });
      await ingest.push(call);
      await ingest.finish();
    }
    expect(await world.lines()).toHaveLength(4);
    const record = await world.kernel.conversation(world.conversation);
    expect(record).toMatchObject({ costUsd: 0.25, turns: 1 });
  });

  it("[R20] adds only what is new if a run has grown", async () => {
    const world = new World();
    const first = await world.open({ keep: true });
    await first.push(call.slice(0, 7));
    await world.env.advance(200);
    const again = await world.open({ keep: true });
    await again.push(call);
    await again.finish();
    expect(await world.lines()).toEqual([
      'text done "Fix the bug\\nplease"',
      'text done "I will look."',
      'tool_call done "{\\"command\\":\\"ls\\"}"',
      '  command done "a\\n"',
    ]);
  });

  it("[K1] what is left open is closed as interrupted, once", async () => {
    const world = new World();
    const ingest = await world.open();
    await ingest.push(call.slice(0, 11));
    await ingest.finish();
    const blocks = await world.blocks();
    expect(blocks.map(({ status }) => status)).toEqual(["done", "done", "error"]);
    expect(blocks[2]?.metadata).toMatchObject({ reason: "interrupted", stage: "end", success: false });
  });

  it("[K1] an event that the kernel refuses is shown, not dropped", async () => {
    const world = new World();
    const ingest = await world.open();
    await ingest.push([
      {
        type: "block-start",
        key: "bad",
        kind: "command",
        role: "tool",
        metadata: { nonsense: 1 },
        text: "x",
      },
      { type: "block-append", key: "bad", text: "y" },
      { type: "block-end", key: "bad", status: "done" },
      { type: "block-start", key: "good", kind: "text", role: "model", metadata: {}, text: "fine" },
      { type: "block-end", key: "good", status: "done", metadata: { alsoNonsense: true } },
    ]);
    await ingest.finish();
    const lines = await world.lines();
    expect(ingest.refused).toBe(2);
    expect(lines[0]).toContain("unknown done");
    expect(lines[0]).toContain("nonsense");
    expect(lines[1]).toBe('text done "fine"');
    expect(lines[2]).toContain("alsoNonsense");
  });

  it.each([
    [3_000_000, { omitted: ["images"] }],
    [limits.metadataChars - 100, { omitted: ["images", "input"] }],
  ])(
    "[K1] a call whose metadata is too large in total (input of %i) ends, and names what was left out",
    async (size, extra) => {
      const world = new World();
      const ingest = await world.open({ keep: true });
      const metadata = { toolUseId: "x", toolName: "Paint" };
      await ingest.push([
        { type: "block-start", key: "c", kind: "tool_call", role: "model", metadata },
        { type: "block-meta", key: "c", metadata: { stage: "running", input: "i".repeat(size) } },
        {
          type: "block-end",
          key: "c",
          status: "done",
          metadata: { success: true, shortResult: "1 image", images: [{ data: "A".repeat(3_000_000) }] },
        },
      ]);
      await ingest.finish();
      const [call, ...others] = await world.blocks();
      expect(others).toEqual([]);
      expect(call).toMatchObject({
        status: "done",
        metadata: { success: true, shortResult: "1 image", stage: "end", extra: { key: "c", ...extra } },
      });
    },
  );

  it("[K1] the provider's final text wins over what was streamed, a person's edit inside it over both", async () => {
    const world = new World();
    const ingest = await world.open();
    await ingest.push([
      { type: "block-start", key: "a", kind: "text", role: "model", metadata: {} },
      { type: "block-append", key: "a", text: "hello wrold\n" },
      { type: "block-start", key: "b", kind: "text", role: "model", metadata: {} },
      { type: "block-append", key: "b", text: "hello wrold\n" },
      { type: "block-start", key: "d", kind: "text", role: "model", metadata: {} },
      { type: "block-append", key: "d", text: "hello wrold\n" },
    ]);
    await world.env.advance(10);
    const edit = async (key: string, at: number, del: string, ins: string) => {
      const id = ingest.idOf(key) as string;
      const plan = (draft: import("../write/draft.ts").Draft) => draft.splice(id, [{ at, del, ins }]);
      expect(isProblem(await world.kernel.writeBlock(id, { agent: "amy", plan }))).toBe(false);
    };
    await edit("b", 0, "", "(amy) ");
    await edit("d", 6, "wrold", "Amy");
    for (const key of ["a", "b", "d"]) {
      await ingest.push([{ type: "block-end", key, status: "done", text: "hello world\n" }]);
    }
    await ingest.finish();
    expect((await world.blocks()).map(({ text }) => text)).toEqual([
      "hello world\n",
      "(amy) hello world\n",
      "hello Amy\n",
    ]);
  });

  it("[K1] two blocks of one batch may both end with another text than was streamed", async () => {
    const world = new World();
    const ingest = await world.open();
    const start = (key: string): BlockEvent => ({
      ...{ type: "block-start", key, kind: "text", role: "model", metadata: {}, text: `${key} as streamed` },
    });
    const end = (key: string): BlockEvent => ({ type: "block-end", key, status: "done", text: `${key}!` });
    await ingest.push([start("a"), start("b"), end("b"), end("a")]);
    await ingest.finish();
    expect(await world.lines()).toEqual(['text done "a!"', 'text done "b!"']);
  });

  it("[R12] continues after the store has failed for a while, and loses nothing", async () => {
    const world = new World();
    const ingest = await world.open();
    const { commit } = world.store;
    let failing = true;
    world.store.commit = async (...args) => {
      if (failing) throw new Error("disk full");
      return commit.apply(world.store, args);
    };
    const pushed = ingest.push(call);
    await world.env.advance(3_000);
    expect(await world.lines()).toEqual([]);
    failing = false;
    await world.env.advance(3_000);
    await pushed;
    await ingest.finish();
    expect(await world.lines()).toHaveLength(4);
  });
});

describe("[E8] import", () => {
  it("imported blocks carry the times of their events", async () => {
    const world = new World();
    world.conversation = "old";
    const at = 1_600_000_000_000;
    await world.kernel.write("old", {
      agent: "owner",
      create: true,
      plan: (draft) => {
        draft.dated(at);
        draft.conversation({ title: "Then" });
        return null;
      },
    });
    const ingest = await world.open({ keep: true, from: at });
    await ingest.push([
      { type: "turn-start", turn: "t", provider: "claude", at: at + 1_000 },
      { type: "block-start", key: "u", kind: "text", role: "user", metadata: {}, text: "Hi", at: at + 2_000 },
      { type: "block-end", key: "u", status: "done" },
      { type: "turn-end", turn: "t", status: "done", at: at + 5_000 },
    ]);
    await ingest.finish();
    const [block] = await world.blocks();
    expect(block).toMatchObject({ createdAt: at + 2_000, updatedAt: at + 2_000 });
    expect(await world.kernel.conversation("old")).toMatchObject({ createdAt: at, updatedAt: at + 5_000 });
  });

  it("[E7] completes a turn that was cut, leaves a whole one alone", async () => {
    const world = new World();
    const usage = { input: 10, cacheRead: 0, cacheWrite: 0, output: 5, reasoning: 0 };
    const start: BlockEvent = { type: "turn-start", turn: "t", provider: "claude", at: 1 };
    const cut: BlockEvent = { type: "turn-end", turn: "t", status: "error", reason: "interrupted", at: 2 };
    const whole: BlockEvent = { type: "turn-end", turn: "t", status: "done", usage, at: 9 };
    const seqs: number[] = [];
    for (const end of [cut, whole, whole]) {
      const ingest = await world.open({ keep: true, from: 1 });
      await ingest.push([start, end]);
      await ingest.finish();
      const record = await world.kernel.conversation(world.conversation);
      seqs.push(isProblem(record) ? -1 : record.seq);
    }
    const [turn] = (await world.kernel.turns(world.conversation)) as readonly Turn[];
    expect(turn).toMatchObject({ status: "done", usage, endedAt: 9 });
    expect(turn).not.toHaveProperty("reason");
    expect(seqs[2]).toBe(seqs[1]);
    expect(await world.kernel.conversation(world.conversation)).toMatchObject({ usage, running: [] });
  });

  it("[D12] a turn that the agent begins by itself behind ours was started by the same person, and ends", async () => {
    const world = new World();
    await world.open();
    const ours = { id: "ours", provider: "claude", agent: "claude", startedBy: "ann" } as const;
    await world.kernel.write(world.conversation, {
      agent: "ann",
      plan: (draft) => draft.setTurn({ ...ours, status: "running", startedAt: 0 }),
    });
    const ingest = await world.open({ turn: "ours" });
    for (const turn of ["a", "b"])
      await ingest.push([
        { type: "turn-start", turn, provider: "claude", sessionId: "s" },
        { type: "turn-end", turn, status: "done" },
      ]);
    await ingest.finish();
    expect(await world.kernel.turns(world.conversation)).toMatchObject([
      { id: "ours", startedBy: "ann", status: "done" },
      { id: "b", startedBy: "ann", status: "done", sessionId: "s", durationMs: expect.any(Number) },
    ]);
  });

  const spent = { input: 10, cacheRead: 4, cacheWrite: 0, output: 5, reasoning: 0 };
  it.each<[string, readonly BlockEvent[], readonly string[], string]>([
    [
      "its messages say",
      [
        { type: "message-usage", messageId: "m0", usage: spent, model: "<synthetic>" },
        { type: "message-usage", messageId: "m1", usage: spent, model: "sonnet-5" },
      ],
      ["opus-5", "sonnet-5"],
      "sonnet-5",
    ],
    ["its end says, without messages", [], ["sonnet-5"], "sonnet-5"],
    ["nobody says", [], [], "sonnet"],
  ])(
    "[T91] a turn names the model that answered, not the requested one: as %s",
    async (_, messages, models, expected) => {
      const world = new World();
      await world.open();
      const asked: Turn = {
        id: "ours",
        provider: "claude",
        agent: "claude",
        status: "running",
        startedAt: 0,
      };
      await world.kernel.write(world.conversation, {
        agent: "owner",
        plan: (draft) => draft.setTurn({ ...asked, startedBy: "owner", model: "sonnet" }) ?? null,
      });
      const ingest = await world.open({ turn: "ours" });
      await ingest.push([
        { type: "turn-start", turn: "t", provider: "claude", model: "opus-5" },
        ...messages,
        { type: "turn-end", turn: "t", status: "done", usage: spent, costUsd: 1, models },
      ]);
      expect(await ingest.finish()).toBeUndefined();
      expect(await world.kernel.turns(world.conversation)).toMatchObject([{ id: "ours", model: expected }]);
    },
  );

  it("[D97] what a turn left open is ended by the stream that continues, once; a turn that begins before ours is another", async () => {
    const world = new World();
    const first = await world.open();
    const command: BlockEvent = { type: "block-start", key: "c", kind: "text", role: "tool", metadata: {} };
    const begin = (turn: string): BlockEvent => ({ type: "turn-start", turn, provider: "claude" });
    const end = (turn: string): BlockEvent => ({ type: "turn-end", turn, status: "done" });
    await first.push([begin("t0"), command, end("t0")]);
    expect(await first.drain()).toBeUndefined();
    expect(first.hasOpen).toBe(true);
    const ours: Turn = { id: "ours", provider: "claude", agent: "claude", status: "running", startedAt: 0 };
    await world.kernel.write(world.conversation, {
      agent: "owner",
      plan: (draft) => draft.setTurn({ ...ours, startedBy: "owner" }) ?? null,
    });
    const second = await world.open({ turn: "ours", begins: "later" });
    second.takeOver(first);
    await second.push([begin("t1"), { type: "block-end", key: "c", status: "done" }, end("t1")]);
    second.claim();
    await second.push([begin("t2"), end("t2")]);
    expect(await second.finish()).toBeUndefined();
    expect(await world.lines()).toEqual(['text done ""']);
    const turns = (await world.kernel.turns(world.conversation)) as readonly Turn[];
    expect(turns.map(({ id, status }) => [id, status])).toEqual([
      ["t0", "done"],
      ["ours", "done"],
      ["t1", "done"],
    ]);
  });

  it("[E7] what a log has not finished can stay open; the next import finishes it", async () => {
    const world = new World();
    const events: BlockEvent[] = [
      { type: "block-start", key: "a", kind: "text", role: "model", metadata: {}, text: "Half" },
    ];
    const first = await world.open({ keep: true });
    await first.push(events);
    await first.drain();
    expect(await world.lines()).toEqual(['text running "Half"']);
    const second = await world.open({ keep: true });
    await second.push([...events, { type: "block-end", key: "a", status: "done", text: "Half and half" }]);
    await second.finish();
    expect(await world.lines()).toEqual(['text done "Half and half"']);
  });
});

describe("orphans", () => {
  it("[D98] of a turn that a dead process left, what it had used is known, and that it is not all", async () => {
    const world = new World();
    const ingest = await world.open();
    const usage = (input: number) => ({ input, cacheRead: 0, cacheWrite: 0, output: 1, reasoning: 0 });
    const told = (messageId: string, input: number): BlockEvent => ({
      ...{ type: "message-usage", messageId, turn: "t", usage: usage(input) },
    });
    await ingest.push([{ type: "turn-start", turn: "t", provider: "claude" }]);
    await ingest.drain();
    await world.env.advance(limits.turnUsageMs / 2);
    await ingest.push([told("a", 100)]);
    await ingest.drain();
    await world.env.advance(limits.turnUsageMs / 2);
    await ingest.push([told("b", 20)]);
    await ingest.drain();
    await ingest.push([told("c", 3)]);
    await ingest.drain();
    const turns = async () => (await world.store.turns(world.conversation)) as readonly Turn[];
    const [running] = await turns();
    expect(running).toMatchObject({ status: "running", usage: { input: 120, output: 2 } });
    expect(running).not.toHaveProperty("messages");
    await closeOrphans(world.kernel, "owner");
    expect(await turns()).toMatchObject([{ status: "error", usage: { input: 120 }, uncounted: true }]);
    const record = await world.kernel.conversation(world.conversation);
    expect(record).toMatchObject({ usage: { input: 120 }, uncounted: 1 });
  });

  it("[D98] what a turn had used before it waited, as for an answer, is known half a minute later", async () => {
    const world = new World();
    const ingest = await world.open();
    const usage = { input: 100, cacheRead: 0, cacheWrite: 0, output: 5, reasoning: 0 };
    await ingest.push([
      { type: "turn-start", turn: "t", provider: "claude" },
      { type: "message-usage", messageId: "a", turn: "t", usage },
    ]);
    await ingest.drain();
    await world.env.advance(limits.turnUsageMs);
    await ingest.drain();
    await closeOrphans(world.kernel, "owner");
    const turns = await world.store.turns(world.conversation);
    expect(turns).toMatchObject([{ status: "error", usage: { input: 100, output: 5 }, uncounted: true }]);
  });

  it("[R18] what a dead process left open is closed once, with a reason", async () => {
    const world = new World();
    const ingest = await world.open();
    await ingest.push(call.slice(0, 12));
    await world.env.advance(200);
    const next = new Kernel(world.env, world.store);
    expect(await closeOrphans(next, "blockyard")).toEqual({ blocks: 1, turns: 1 });
    expect(await closeOrphans(next, "blockyard")).toEqual({ blocks: 0, turns: 0 });
    const blocks = await world.blocks();
    expect(blocks.at(-1)).toMatchObject({
      status: "error",
      metadata: { reason: "interrupted", stage: "end" },
    });
    const record = await next.conversation(world.conversation);
    expect(record).toMatchObject({ running: [] });
  });
});

describe("asks", () => {
  const asked = { id: "q", kind: "permission", state: "asked", input: { command: "ls" } };
  const meta = (ask: object): BlockEvent => ({
    type: "block-meta",
    key: "c",
    metadata: { ask: { ...asked, ...ask } },
  });

  async function ask(world: World): Promise<{ ingest: Ingest; id: string }> {
    const ingest = await world.open();
    await ingest.push([...call.slice(0, 12), meta({})]);
    await world.env.advance(200);
    return { ingest, id: (await world.blocks()).at(-1)?.id as string };
  }

  it("[D7] the owner's answer stands, whatever the stream says later", async () => {
    const world = new World();
    const { ingest, id } = await ask(world);
    const answered = { ...asked, state: "denied", answeredBy: "owner", answeredAt: 5, message: "no" };
    await world.kernel.writeBlock(id, { agent: "owner", plan: (d) => d.meta(id, { ask: answered }) });
    const before = await world.kernel.block(id);
    await ingest.push([meta({ state: "expired" })]);
    await world.env.advance(200);
    expect(await world.kernel.block(id)).toEqual(before);
    const metadata = { ask: { ...asked, state: "allowed" }, shortResult: "ok" };
    await ingest.push([{ type: "block-end", key: "c", status: "done", metadata }]);
    await ingest.finish();
    expect(await world.kernel.block(id)).toMatchObject({
      status: "done",
      metadata: { ask: answered, shortResult: "ok" },
    });
  });

  it.each([
    ["since its leave", 70_000, 80_000, 10_000],
    ["all of it, where what is told is from before the answer", 70_000, 5_000, 4_000],
  ])("[V122] how long a call with an ask took: %s", async (_, answeredAt, at, durationMs) => {
    const world = new World();
    const ingest = await world.open();
    await ingest.push([
      ...call.slice(0, 8),
      { ...(call[8] as BlockEvent & { type: "block-start" }), at: 1_000 },
      ...call.slice(9, 12),
      meta({}),
    ]);
    await world.env.advance(200);
    const id = (await world.blocks()).at(-1)?.id as string;
    const answered = { ...asked, state: "allowed", answeredBy: "owner", answeredAt };
    await world.kernel.writeBlock(id, { agent: "owner", plan: (d) => d.meta(id, { ask: answered }) });
    await ingest.push([{ type: "block-end", key: "c", status: "done", at }]);
    await ingest.finish();
    expect(await world.kernel.block(id)).toMatchObject({ metadata: { durationMs } });
  });

  it("[D7] a later request of the same call is a new one", async () => {
    const world = new World();
    const { ingest, id } = await ask(world);
    const answered = { ...asked, state: "allowed", answeredBy: "owner" };
    await world.kernel.writeBlock(id, { agent: "owner", plan: (d) => d.meta(id, { ask: answered }) });
    await ingest.push([meta({ id: "r" })]);
    await world.env.advance(200);
    expect(await world.kernel.block(id)).toMatchObject({
      metadata: { ask: { id: "r", state: "asked" } },
    });
  });

  it("[D6] an unanswered question ends with its call", async () => {
    const world = new World();
    const { id } = await ask(world);
    const next = new Kernel(world.env, world.store);
    await closeOrphans(next, "blockyard");
    expect(await next.block(id)).toMatchObject({
      status: "error",
      metadata: { reason: "interrupted", ask: { ...asked, state: "expired" } },
    });
  });
});

it("[E21] [U31] a block is recognised by its key, also if what its events say of it changes later", async () => {
  const world = new World();
  const events: BlockEvent[] = [
    {
      type: "block-start",
      key: "n",
      kind: "text",
      role: "system",
      metadata: { extra: { attempt: 1 } },
      text: "",
    },
    { type: "block-meta", key: "n", metadata: { extra: { attempt: 2 } } },
    { type: "block-end", key: "n", status: "done", metadata: { extra: { attempt: 3 } } },
  ];
  for (let times = 0; times < 2; times++) {
    const ingest = await world.open({ keep: true });
    await ingest.push(events);
    await ingest.finish();
  }
  const blocks = await world.store.blocks({ conversation: world.conversation, order: "first", limit: 9 });
  expect(blocks.map(({ metadata }) => metadata["extra"])).toEqual([{ attempt: 3, key: "n" }]);
});

describe("[E21] two imports of one session at the same time", () => {
  const events: BlockEvent[] = Array.from({ length: 8 }, (_, i): BlockEvent[] => [
    { type: "block-start", key: `b${i}`, kind: "text", role: "model", metadata: {}, text: "" },
    { type: "block-append", key: `b${i}`, text: `text ${i}\n` },
    { type: "block-end", key: `b${i}`, status: "done" },
  ]).flat();
  const whole = Array.from({ length: 8 }, (_, i) => `text done "text ${i}\\n"`);

  const rows = [1, 2, 3, 5].flatMap((first) => [0, 1, 4].map((headStart) => ({ first, headStart })));
  it.each(rows)("in steps of $first, $headStart steps apart: every block is there once", async (row) => {
    const world = new World();
    world.conversation = (await world.kernel.createConversation("owner", "")) as string;
    const other = new Kernel(world.env, world.store); // another process on the same store
    const ends: unknown[] = [];
    const run = async (kernel: Kernel, step: number) => {
      const { conversation } = world;
      const ingest = new Ingest(kernel, { conversation, agent: "claude", keep: true });
      expect(await ingest.open()).toBeUndefined();
      for (let at = 0; at < events.length; at += step) {
        await ingest.push(events.slice(at, at + step));
        await new Promise<void>((done) => world.env.after(10, done));
      }
      ends.push(await ingest.drain());
    };
    const a = run(world.kernel, row.first);
    await world.env.advance(10 * row.headStart);
    const b = run(other, 2);
    await world.env.advance(10_000);
    await Promise.all([a, b]);
    // At least one imported everything; one that gave way names the other.
    expect(ends).toContain(undefined);
    for (const end of ends) if (end) expect(end).toMatchObject({ details: { importing: true } });
    expect([...(await world.lines())].sort()).toEqual(whole);
  });

  it("continues after another import that has ended, although its process knew the conversation before", async () => {
    const world = new World();
    const first = await world.open({ keep: true });
    const other = new Kernel(world.env, world.store);
    await other.write(world.conversation, { agent: "ann", plan: () => null }); // it keeps what it has read
    await first.push(events.slice(0, 15));
    await first.drain();
    const second = new Ingest(other, { conversation: world.conversation, agent: "claude", keep: true });
    await second.open();
    let end: unknown = "never";
    const ended = (async () => {
      await second.push(events);
      end = await second.drain();
    })();
    await world.env.advance(10_000);
    expect(end).toBeUndefined();
    await ended;
    expect(await world.lines()).toEqual(whole);
  });

  it("does not give way to people who write in the conversation at the same time", async () => {
    const world = new World();
    const ingest = await world.open({ keep: true });
    await ingest.push(events.slice(0, 3));
    await ingest.drain();
    await world.kernel.write(world.conversation, {
      agent: "ann",
      plan: (draft) => draft.create({ kind: "text", role: "user", text: "a remark", status: "done" }),
    });
    await ingest.push(events.slice(3));
    expect(await ingest.drain()).toBeUndefined();
    expect(await world.lines()).toHaveLength(9);
  });
});

it("[K97] a provider's title takes the place of the prompt's, and never that of a person's", async () => {
  const world = new World();
  const ingest = await world.open();
  const title = async () => ((await world.store.conversation(world.conversation)) as { title: string }).title;
  const named = (text: string): BlockEvent => ({ type: "session", provider: "claude", title: text });
  await ingest.push([
    { type: "block-start", key: "p", kind: "text", role: "user", text: "Fix the parser. Now.", metadata: {} },
  ]);
  await ingest.drain();
  expect(await title()).toBe("Fix the parser");
  for (const text of ["Parser fix", "Parser fix, done"]) {
    await ingest.push([named(text)]);
    await ingest.drain();
    expect(await title()).toBe(text);
  }
  const { seq } = (await world.store.conversation(world.conversation)) as { seq: number };
  await ingest.push([named("Parser fix, done")]);
  await ingest.drain();
  expect(await world.store.conversation(world.conversation)).toMatchObject({ seq });
  await world.kernel.write(world.conversation, {
    agent: "owner",
    plan: (draft) => {
      draft.conversation({ title: "Mine", metadata: { titled: null } });
      return null;
    },
  });
  await ingest.push([named("Another")]);
  await ingest.drain();
  expect(await title()).toBe("Mine");
});
