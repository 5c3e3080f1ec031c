/** The user's price table, and the cost of a turn's tokens. */
import { mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { BlockEvent } from "@blockyard/kernel";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Prices } from "./prices.ts";
import { TurnCost } from "./turn-cost.ts";

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "blockyard-prices-"));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const write = (text: string) => writeFileSync(join(home, "prices.json"), text);

describe("the table", () => {
  it("[D80] is the user's file, and is read again when it changes", () => {
    const prices = new Prices(home);
    expect(prices.table).toEqual({});
    write('{"gpt-5.5":{"input":1,"output":2}}');
    expect(prices.table).toEqual({ "gpt-5.5": { input: 1, output: 2 } });
    write('{"gpt-5.5":{"input":3,"output":2}}');
    utimesSync(join(home, "prices.json"), 1, 1);
    expect(prices.table).toEqual({ "gpt-5.5": { input: 3, output: 2 } });
  });

  it.each([
    "{",
    "[]",
    '{"a":{"input":-1,"output":1}}',
    '{"a":{"input":1}}',
    '{"a":{"input":"1","output":1}}',
    '{"a":{"input":1,"output":1,"x":1}}',
  ])("[D80] %s prices nothing, and says why", (text) => {
    write(text);
    const { table, problem } = new Prices(home).read();
    expect(table).toEqual({});
    expect(problem).toContain("prices.json");
  });
});

describe("a turn", () => {
  const usage = { input: 1_000_000, cacheRead: 500_000, cacheWrite: 0, output: 100_000, reasoning: 0 };
  const table = { "gpt-5.5": { input: 2, output: 10, cacheRead: 1 } };
  const end: BlockEvent = { type: "turn-end", turn: "t", status: "done", usage };
  const child: BlockEvent = { type: "message-usage", messageId: "c", parent: "p", model: "gpt-5.5", usage };
  const costOf = (events: readonly BlockEvent[], model?: string) => {
    const cost = new TurnCost(() => table, model);
    const last = events.map((event) => cost.take(event)).at(-1);
    return last?.type === "turn-end" ? last.costUsd : undefined;
  };
  const session: BlockEvent = { type: "session", provider: "codex", model: "gpt-5.5" };

  it.each([
    ["costs what its model's price makes of its tokens", [session, end], undefined, 2.5],
    ["costs as the model that was asked for, where the agent names none", [end], "gpt-5.5", 2.5],
    ["has no cost without a price", [{ ...session, model: "other" }, end], undefined, undefined],
    ["has no cost where nobody knows the model", [end], undefined, undefined],
    ["keeps what its agent says", [session, { ...end, costUsd: 7 }], undefined, 7],
    ["costs what its sub-agents cost too, each once", [session, child, child, end], undefined, 5],
    [
      "has no cost where a sub-agent's price is not known",
      [session, { ...child, model: "x" }, end],
      undefined,
      undefined,
    ],
    [
      "has no cost where its tokens are of several models",
      [session, { ...end, models: ["a", "b"] }],
      undefined,
      undefined,
    ],
  ] as readonly (readonly [string, readonly BlockEvent[], string | undefined, number | undefined])[])(
    "[D81] %s",
    (_, events, model, cost) => {
      expect(costOf(events, model)).toBe(cost);
    },
  );
});
