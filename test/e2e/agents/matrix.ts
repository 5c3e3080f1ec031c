/**
 * The matrix: every scenario with every agent, as real programs, from wherever the owner is. `npm run lifecycle -- matrix [--from
 * page|run|http] [agents and scenarios…]` runs all of it, and prints a line for each cell and a table; `npm test` runs a short selection
 * (matrix.test.ts).
 */
import { fetchCli } from "../clis/fetch.ts";
import { Lab } from "../clis/lab.ts";
import { MATRIX_AGENTS, type MatrixAgent } from "./agents.ts";
import { TestHarness } from "./harness.ts";
import type { From } from "./owner.ts";
import { openOwners } from "./owners.ts";
import { SCENARIOS, type Scenario } from "./scenarios.ts";

export type Cell = "passed" | "not offered" | "failed";

export interface Row {
  readonly agent: string;
  readonly scenario: string;
  readonly cell: Cell;
  readonly why?: string;
  readonly seconds: number;
}

/** Agents and scenarios whose names have one of the words; all, without words. */
export async function runMatrix(
  from: From,
  words: readonly string[],
  print: (line: string) => void,
): Promise<readonly Row[]> {
  const isMeant = (name: string, among: readonly string[]) =>
    !words.some((word) => among.some((each) => each.includes(word))) ||
    words.some((word) => name.includes(word));
  const agents = MATRIX_AGENTS.filter(({ cli }) =>
    isMeant(
      cli,
      MATRIX_AGENTS.map((each) => each.cli),
    ),
  );
  const scenarios = SCENARIOS.filter(({ name }) =>
    isMeant(
      name,
      SCENARIOS.map((each) => each.name),
    ),
  );
  const rows: Row[] = [];
  const owners = await openOwners(from);
  for (const agent of agents) {
    const found = await fetchCli(agent.cli);
    if ("missing" in found) {
      print(`${agent.cli}: not run: ${found.missing}`);
      continue;
    }
    let lab = await Lab.open(agent.cli, found.program);
    for (const scenario of scenarios) {
      const owner = await owners.open(lab, agent);
      const row = await runCell(new TestHarness(lab, agent, owner), scenario);
      await owner.close();
      rows.push(row);
      print(lineOf(row));
      if (row.cell !== "failed") continue;
      // What it has left behind is nobody else's.
      await lab.close();
      lab = await Lab.open(agent.cli, found.program);
    }
    await lab.close();
  }
  await owners.close();
  return rows;
}

function lineOf({ cell, agent, scenario, seconds, why }: Row): string {
  const more = why === undefined ? "" : `  (${why.slice(0, 900).replaceAll("\n", " ")})`;
  return `${cell.padEnd(11)}  ${agent.padEnd(8)}  ${scenario}, ${seconds.toFixed(1)} s${more}`;
}

export async function runCell(harness: TestHarness, scenario: Scenario): Promise<Row> {
  const { cli, lacks }: MatrixAgent = harness.agent;
  const row = { agent: cli, scenario: scenario.name };
  const missing = lacks[scenario.name] ?? harness.owner.lacks[scenario.name];
  if (missing !== undefined) return { ...row, cell: "not offered", why: missing, seconds: 0 };
  const since = performance.now();
  const seconds = () => (performance.now() - since) / 1_000;
  try {
    await scenario.run(harness);
    return { ...row, cell: "passed", seconds: seconds() };
  } catch (error) {
    const shown = await harness.owner.shown().catch((lost) => String(lost));
    const why = `${(error as Error).message} ${shown === "" ? "" : `[shown: ${shown}]`}`;
    return { ...row, cell: "failed", why, seconds: seconds() };
  }
}

const SIGNS: Readonly<Record<Cell, string>> = { passed: "passed", "not offered": "–", failed: "FAILED" };

/** Scenarios × agents, as a table and in figures. */
export function figures(rows: readonly Row[]): string {
  const names = [...new Set(rows.map(({ agent }) => agent))];
  const lines = [...new Set(rows.map(({ scenario }) => scenario))].map((scenario) => {
    const cells = names.map(
      (name) => rows.find((row) => row.agent === name && row.scenario === scenario)?.cell,
    );
    return [scenario.padEnd(48), ...cells.map((cell) => (cell ? SIGNS[cell] : "").padEnd(9))].join("");
  });
  const head = ["".padEnd(48), ...names.map((name) => name.padEnd(9))].join("");
  return [head, ...lines, summary(rows)].join("\n");
}

function summary(rows: readonly Row[]): string {
  const count = (cell: Cell) => rows.filter((row) => row.cell === cell).length;
  const agents = new Set(rows.map(({ agent }) => agent)).size;
  const scenarios = new Set(rows.map(({ scenario }) => scenario)).size;
  return `${scenarios} scenarios × ${agents} agents: ${count("passed")} passed, ${count("not offered")} not offered, ${count("failed")} failed`;
}
