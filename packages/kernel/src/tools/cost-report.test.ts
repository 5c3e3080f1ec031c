/** cost.report: sums equal what the turns state, however they are grouped; and it reads only what has changed. */

import { describe, expect, it } from "vitest";
import { NO_USAGE, type Turn } from "../model/conversation.ts";
import { ann, TestHarness } from "../testing/harness.ts";
import type { CostRow } from "./cost-report.ts";

const DAY = 86_400_000;
const NOON = Date.UTC(2026, 10, 17, 12);

const used = (input: number, output: number, cacheRead = 0) => ({ ...NO_USAGE, input, output, cacheRead });

let turns = 0;
function turn(more: Partial<Turn>): Turn {
  const id = `t${++turns}`;
  return { id, provider: "claude", agent: "claude", status: "done", startedAt: NOON, ...more };
}

async function conversation(
  harness: TestHarness,
  cwd: string | undefined,
  ...all: readonly Turn[]
): Promise<string> {
  const id = await harness.conversation(`in ${cwd}`);
  await harness.kernel.write(id, {
    agent: "x",
    plan: (draft) => {
      if (cwd !== undefined) draft.conversation({ metadata: { cwd } });
      for (const each of all) draft.setTurn(each);
      return null;
    },
  });
  return id;
}

async function story() {
  const harness = new TestHarness();
  await harness.env.advance(NOON + DAY);
  const shop = await conversation(
    harness,
    "/shop",
    turn({ model: "opus", usage: used(100, 10, 60), costUsd: 0.5 }),
    turn({ model: "opus", usage: used(50, 5), costUsd: 0.25, startedAt: NOON - DAY }),
  );
  const site = await conversation(
    harness,
    "/site",
    turn({ provider: "codex", agent: "codex", model: "gpt", usage: used(1_000, 100) }),
    turn({ model: "opus", status: "running" }),
  );
  return { harness, shop, site };
}

async function report(harness: TestHarness, input: object) {
  const answer = await harness.ok("cost.report", input);
  return answer as unknown as { rows: readonly CostRow[]; total: CostRow; more: boolean };
}

describe("[T91] sums", () => {
  it("by day, newest first; an unknown cost is missing, with its tokens", async () => {
    const { harness } = await story();
    const { rows, total } = await report(harness, {});
    expect(rows).toEqual([
      {
        ...{ day: "2026-11-17", turns: 3, conversations: 2, input: 1_100, cached: 60, output: 110 },
        ...{ subagents: { input: 0, cached: 0, output: 0 }, cost_usd: 0.5 },
        unpriced: { turns: 1, input: 1_000, output: 100 },
        ...{ uncounted: 0, unreported: 0 },
      },
      {
        ...{ day: "2026-11-16", turns: 1, conversations: 1, input: 50, cached: 0, output: 5 },
        ...{ subagents: { input: 0, cached: 0, output: 0 }, cost_usd: 0.25 },
        unpriced: { turns: 0, input: 0, output: 0 },
        ...{ uncounted: 0, unreported: 0 },
      },
    ]);
    expect(total).toMatchObject({ turns: 4, conversations: 2, input: 1_150, output: 115, cost_usd: 0.75 });
  });

  it("a turn of which nothing was reported is counted as such; one that reports zero, runs or failed is not", async () => {
    const harness = new TestHarness();
    await conversation(
      harness,
      "/shop",
      turn({ agent: "kimi" }),
      turn({ agent: "kimi", status: "running" }),
      turn({ agent: "kimi", status: "error" }),
      turn({ usage: used(0, 0) }),
      turn({ costUsd: 0 }),
      turn({ messages: { m: { usage: used(5, 1) } } }),
    );
    const { rows, total } = await report(harness, { by: ["agent"] });
    expect(rows.map(({ agent, turns, unreported }) => [agent, turns, unreported])).toEqual([
      ["claude", 3, 0],
      ["kimi", 3, 1],
    ]);
    expect(total.unreported).toBe(1);
  });

  it("by workspace, agent, model and conversation, the most expensive first", async () => {
    const { harness, shop, site } = await story();
    const of = async (by: string) =>
      (await report(harness, { by: [by] })).rows.map((row) => [row[by as "agent"], row.turns, row.cost_usd]);
    expect(await of("workspace")).toEqual([
      ["/shop", 2, 0.75],
      ["/site", 2, null],
    ]);
    expect(await of("agent")).toEqual([
      ["claude", 3, 0.75],
      ["codex", 1, null],
    ]);
    expect(await of("model")).toEqual([
      ["opus", 2, 0.75],
      ["gpt", 1, null],
      ["", 1, null],
    ]);
    expect(await of("conversation")).toEqual([
      [shop, 2, 0.75],
      [site, 2, null],
    ]);
    const { rows } = await report(harness, { by: ["conversation"] });
    expect(rows[0]?.title).toBe("in /shop");
    const both = await report(harness, { by: ["day", "agent"] });
    expect(both.rows.map(({ day, agent, cost_usd }) => [day, agent, cost_usd])).toEqual([
      ["2026-11-17", "claude", 0.5],
      ["2026-11-17", "codex", null],
      ["2026-11-16", "claude", 0.25],
    ]);
  });

  it("since, until, of one workspace or agent; days of another zone; rows are bounded", async () => {
    const { harness } = await story();
    const cost = async (input: object) => (await report(harness, input)).total.cost_usd;
    expect(await cost({ since: NOON })).toBe(0.5);
    expect(await cost({ until: NOON })).toBe(0.25);
    expect(await cost({ workspace: "/site" })).toBe(null);
    expect(await cost({ agent: "codex" })).toBe(null);
    const days = await report(harness, { time_zone: "Pacific/Auckland" });
    expect(days.rows.map(({ day }) => day)).toEqual(["2026-11-18", "2026-11-17"]);
    const first = await report(harness, { limit: 1 });
    expect([first.rows.length, first.more, first.total.turns]).toEqual([1, true, 4]);
  });

  it.each([
    ["in the turn's tokens", used(300, 30), 300],
    ["beside the turn's tokens", used(100, 10), 300],
    ["where the turn states none", undefined, 300],
  ])("sub-agents %s", async (_, usage, input) => {
    const harness = new TestHarness();
    const messages = {
      a: { usage: used(100, 10), model: "opus" },
      b: { usage: used(200, 20, 50), model: "haiku", parent: "c/claude/1" },
    };
    await conversation(
      harness,
      "/w",
      turn({ model: "opus", ...(usage ? { usage } : {}), messages, costUsd: 1 }),
    );
    const { total } = await report(harness, {});
    expect(total).toMatchObject({ input, output: 30, subagents: { input: 200, cached: 50, output: 20 } });
    const { rows } = await report(harness, { by: ["model"] });
    expect(rows.map(({ model, input: read, cost_usd }) => [model, read, cost_usd])).toEqual([
      ["opus", 100, 1],
      ["haiku", 200, null],
    ]);
  });

  it("[T91] sub-agents in the background once, in the turn that states them", async () => {
    const harness = new TestHarness();
    const native = { model_usage_since_last_result: {} };
    const own = { usage: used(100, 10), model: "opus" };
    const theirs = { usage: used(200, 20), model: "opus", parent: "c/claude/1" };
    await conversation(
      harness,
      "/w",
      turn({ model: "opus", native, usage: used(100, 10), messages: { own, theirs }, costUsd: 1 }),
      turn({
        model: "opus",
        native,
        usage: used(260, 26),
        messages: { own: { ...own, usage: used(60, 6) } },
        costUsd: 2,
      }),
    );
    expect((await report(harness, {})).total).toMatchObject({
      ...{ input: 360, output: 36, cost_usd: 3 },
      subagents: { input: 200, output: 20 },
    });
  });

  it("the cost of each model, if the agent states it", async () => {
    const harness = new TestHarness();
    const messages = { a: { usage: used(100, 10), model: "opus" }, b: { usage: used(7, 1), model: "haiku" } };
    const native = { model_usage_since_last_result: { opus: { costUSD: 0.9 }, haiku: { costUSD: 0.1 } } };
    await conversation(
      harness,
      "/w",
      turn({ model: "opus", usage: used(107, 11), messages, native, costUsd: 1 }),
    );
    const { rows } = await report(harness, { by: ["model"] });
    expect(rows.map(({ model, cost_usd }) => [model, cost_usd])).toEqual([
      ["opus", 0.9],
      ["haiku", 0.1],
    ]);
  });

  it("a turn that an import has brought again counts once, where it was first; without that one, in the copy", async () => {
    const harness = new TestHarness();
    const spent = turn({ model: "opus", usage: used(100, 10), costUsd: 0.5 });
    const copies = [await conversation(harness, "/w", spent), await conversation(harness, "/w", spent)];
    await harness.kernel.write(copies[0] ?? "", {
      agent: "x",
      plan: (draft) => {
        draft.conversation({ metadata: { imported: { epoch: "e" } } });
        return null;
      },
    });
    const later = turn({ model: "opus", usage: used(7, 1), costUsd: 0.1 });
    const other = await conversation(harness, "/w", { ...later, id: spent.id, startedAt: NOON + 1 });
    const rows = async () =>
      (await report(harness, { by: ["conversation"] })).rows.map((row) => [row.conversation, row.cost_usd]);
    const last = [other, 0.1];
    expect(await rows()).toEqual([[copies[1], 0.5], last]);
    await harness.ok("conversation.delete", { conversation: copies[1] });
    expect(await rows()).toEqual([[copies[0], 0.5], last]);
  });

  it("what was recorded elsewhere does not count, and no program can claim that", async () => {
    const { harness, shop } = await story();
    await harness.kernel.write(shop, {
      agent: "x",
      plan: (draft) => {
        draft.conversation({ metadata: { recorded: true } });
        return null;
      },
    });
    expect((await report(harness, {})).total).toMatchObject({ turns: 2, cost_usd: null });
    const claimed = await harness.problem("conversation.create", { metadata: { recorded: true } });
    expect(claimed).toMatchObject({ problem: "forbidden" });
  });

  it("names turns that were cut before they were counted", async () => {
    const harness = new TestHarness();
    const cut = turn({ model: "opus", usage: used(100, 0), uncounted: true });
    const id = await conversation(harness, "/w", turn({ model: "opus", costUsd: 0.5 }), cut);
    expect((await report(harness, {})).total).toMatchObject({ cost_usd: 0.5, uncounted: 1 });
    const view = await harness.ok("conversation.read", { conversation: id, blocks: 0 });
    expect(view).toMatchObject({ conversation: { cost_usd: 0.5, uncounted: 1 } });
  });

  it("deleted conversations do not count", async () => {
    const { harness, shop } = await story();
    await harness.ok("conversation.delete", { conversation: shop });
    expect((await report(harness, {})).total).toMatchObject({ turns: 2, cost_usd: null });
  });
});

it("[T92] a report reads the turns of what has changed since the last one", async () => {
  const { harness, shop } = await story();
  let reads = 0;
  const { turns: read } = harness.store;
  harness.store.turns = (id) => {
    reads++;
    return read.call(harness.store, id);
  };
  await report(harness, {});
  expect(reads).toBe(2);
  await report(harness, { by: ["model"] });
  expect(reads).toBe(2);
  await harness.ok("turn.begin", { conversation: shop }, ann);
  expect((await report(harness, {})).total.turns).toBe(5);
  expect(reads).toBe(3);
});

it("[T91] more conversations than a page has, many of one moment", async () => {
  const harness = new TestHarness();
  const count = 1_250;
  for (let i = 0; i < count; i++) await conversation(harness, "/w", turn({ usage: used(1, 1), costUsd: 1 }));
  expect((await report(harness, {})).total).toMatchObject({ turns: count, cost_usd: count });
});
