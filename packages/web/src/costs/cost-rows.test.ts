/** Costs as a file for spreadsheets, and as days without a gap. */
import { expect, test } from "vitest";
import { type CostRow, csvOf, dayWords, everyDay, usedSubagents } from "./cost-rows.ts";

const row = (parts: Partial<CostRow>): CostRow => ({
  turns: 2,
  conversations: 1,
  input: 1_000,
  cached: 400,
  output: 50,
  subagents: { input: 10, cached: 0, output: 5 },
  cost_usd: 0.25,
  unpriced: { turns: 0, input: 0, output: 0 },
  uncounted: 0,
  unreported: 0,
  ...parts,
});

test("[V110] a row of the file for each row of the table, names as names", () => {
  const rows = [row({ model: "opus, the big one" }), row({ model: "=SUM(A1)", cost_usd: null }), row({})];
  expect(csvOf(rows, "model").split("\r\n")).toEqual([
    "model,turns,conversations,input_tokens,cached_tokens,output_tokens,subagent_input_tokens,subagent_output_tokens,cost_usd,turns_without_price,uncounted_turns,unreported_turns",
    '"opus, the big one",2,1,1000,400,50,10,5,0.25,0,0,0',
    "'=SUM(A1),2,1,1000,400,50,10,5,,0,0,0",
    "Unknown model,2,1,1000,400,50,10,5,0.25,0,0,0",
    "",
  ]);
  // Nobody has said what it used: that is no zero.
  const silent = { ...{ input: 0, cached: 0, output: 0 }, subagents: { input: 0, cached: 0, output: 0 } };
  expect(csvOf([row({ ...silent, agent: "kimi", cost_usd: null, unreported: 2 })], "agent")).toContain(
    "\r\nkimi,2,1,,,,,,,0,0,2\r\n",
  );
  expect(csvOf([row({ conversation: "c1", title: "" })], "conversation")).toContain("\r\nUntitled,c1,2,");
});

test("[V110] sub-agents have a column where one has worked", () => {
  const none = row({ subagents: { input: 0, cached: 0, output: 0 } });
  expect([usedSubagents([]), usedSubagents([none]), usedSubagents([none, row({})])]).toEqual([
    false,
    false,
    true,
  ]);
});

test("[V110] days in which nothing was spent are days too", () => {
  const days = everyDay(
    [row({ day: "2026-11-17" }), row({ day: "2026-11-14", cost_usd: null })],
    "2026-11-18",
  );
  expect(days.map(({ day, costUsd }) => [day, costUsd])).toEqual([
    ["2026-11-14", 0],
    ["2026-11-15", 0],
    ["2026-11-16", 0],
    ["2026-11-17", 0.25],
    ["2026-11-18", 0],
  ]);
  expect(everyDay([], "2026-11-18")).toEqual([]);
  expect(everyDay([], "2026-11-18", "2026-11-12").length).toBe(7);
});

test("[V110] a day is written for people, with its year if that is another", () => {
  const now = new Date(2026, 10, 18);
  expect(dayWords("2026-11-05", now)).toBe("Thu, Nov 5");
  expect(dayWords("2025-12-31", now)).toBe("Wed, Dec 31, 2025");
  expect(dayWords("", now)).toBe("");
});
