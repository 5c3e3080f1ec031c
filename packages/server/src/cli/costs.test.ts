/** The costs as CSV: a spreadsheet reads the same sums, and runs nothing in it. */
import type { CostRow } from "@blockyard/kernel";
import { expect, it } from "vitest";
import { csvOf, tableOf } from "./costs.ts";

const row: CostRow = {
  ...{ turns: 2, conversations: 1, input: 1_000, cached: 600, output: 10, cost_usd: 0.5 },
  ...{ subagents: { input: 1, cached: 0, output: 2 }, unpriced: { turns: 1, input: 3, output: 4 } },
  ...{ uncounted: 0, unreported: 0 },
};

const HEAD =
  "turns,conversations,input_tokens,cached_tokens,output_tokens,subagent_input_tokens,subagent_cached_tokens," +
  "subagent_output_tokens,cost_usd,unpriced_turns,unpriced_input_tokens,unpriced_output_tokens,uncounted_turns,unreported_turns";
const NUMBERS = "2,1,1000,600,10,1,0,2,0.5,1,3,4,0,0";

it.each([
  ["a plain name", "/home/ann/shop", "/home/ann/shop"],
  ["a comma", "/a,b", '"/a,b"'],
  ["a quote", 'say "x"', '"say ""x"""'],
  ["a line break", "a\nb", '"a\nb"'],
  ["a formula", "=1+1", "'=1+1"],
  ["another formula", "@SUM(A1)", "'@SUM(A1)"],
  ["a formula in wide letters", "＝1+1", "'＝1+1"],
  ["a control sequence", "a\u001b]52;c;ZXZpbA==\u0007\u009b2Jb", "a\ufffd2Jb"],
])("[U92] %s", (_, workspace, cell) => {
  expect(csvOf({ rows: [{ ...row, workspace }] }, ["workspace"])).toBe(
    `workspace,${HEAD}\r\n${cell},${NUMBERS}\r\n`,
  );
});

it("[U92] conversations have their titles; an unknown cost is empty", () => {
  const rows = [{ ...row, conversation: "k3vq2mz", title: "Fix, it", cost_usd: null }];
  expect(csvOf({ rows }, ["conversation"])).toBe(
    `conversation,title,${HEAD}\r\nk3vq2mz,"Fix, it",${NUMBERS.replace("0.5", "")}\r\n`,
  );
});

it("[U92] a table fits its terminal, shows a cost only if it is known, and says what to do about the others", () => {
  const none = { ...row, cost_usd: null, turns: 1 };
  const rows = [
    { ...row, conversation: "k3vq2mz", title: "A long title of a conversation", cost_usd: 1_234.5 },
    { ...none, conversation: "b2m8x1q", title: "Short" },
  ];
  const total = { ...row, turns: 3, cost_usd: 1_234.5, unpriced: { turns: 2, input: 6, output: 8 } };
  const lines = tableOf({ rows, total }, ["conversation"], 70).split("\n");
  expect(lines.filter((line) => line.length > 70)).toEqual([]);
  expect(lines.map((line) => line.split(/ +/).at(-1))).toEqual([
    ...["cost", "$1,235+", "–", "$1,235+", "turns,", "directory", ""],
  ]);
  expect(lines.slice(-3).join(" ")).toBe(
    "2 turns without a known price (+, –): to see the cost of later turns, add prices to prices.json in the data directory ",
  );
});

it("[U92] a cost is a minimum if an answer was cut, and the table says so", () => {
  const cut = { ...row, unpriced: { turns: 0, input: 0, output: 0 }, uncounted: 1 };
  const lines = tableOf({ rows: [{ ...cut, model: "opus" }], total: cut }, ["model"], 100).split("\n");
  expect(lines.map((line) => line.split(/ +/).at(-1))).toEqual(["cost", "$0.50+", "$0.50+", "reported", ""]);
});

it("[U92] usage that nobody reported is missing, not zero, and the table says so", () => {
  const nothing = { input: 0, cached: 0, output: 0 };
  const none = { ...row, ...nothing, subagents: nothing, unpriced: { turns: 0, input: 0, output: 0 } };
  const silent = { ...none, agent: "kimi", turns: 2, cost_usd: null, unreported: 2 };
  const total = { ...row, turns: 4, unpriced: none.unpriced, unreported: 2 };
  const rows = [{ ...row, agent: "claude" }, silent];
  const lines = tableOf({ rows, total }, ["agent"], 100).split("\n");
  expect(lines.map((line) => line.trim().split(/ +/)).slice(2, 4)).toEqual([
    ["kimi", "2", "–", "–", "–", "–", "–"],
    ["total", "4", "1,000", "600", "10", "3", "$0.50+"],
  ]);
  expect(lines.at(-2)).toBe("2 turns whose agent reported no usage: what they used is unknown (+, –)");
  expect(csvOf({ rows: [silent] }, ["agent"])).toContain("\r\nkimi,2,1,,,,,,,,0,0,0,0,2\r\n");
});
