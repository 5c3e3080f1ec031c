/**
 * The matrix: every scenario with every agent, as real programs. `npm run lifecycle -- matrix [agents and scenarios…]` runs all of it and prints a
 * line for each cell; `npm test` runs a short selection (matrix.test.ts).
 */
import { fetchCli } from "../clis/fetch.ts";
import { Lab } from "../clis/lab.ts";
import { MATRIX_AGENTS, type MatrixAgent } from "./agents.ts";
import { TestHarness } from "./desk.ts";
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
  for (const agent of agents) {
    const found = await fetchCli(agent.cli);
    if ("missing" in found) {
      print(`${agent.cli}: not run: ${found.missing}`);
      continue;
    }
    const lab = await Lab.open(agent.cli, found.program);
    try {
      for (const scenario of scenarios) {
        const row = await runCell(new TestHarness(lab, agent), scenario);
        rows.push(row);
        const why = row.why === undefined ? "" : `  (${row.why.slice(0, 400).replaceAll("\n", " ")})`;
        print(
          `${row.cell.padEnd(11)}  ${row.agent.padEnd(8)}  ${row.scenario}, ${row.seconds.toFixed(1)} s${why}`,
        );
      }
    } finally {
      await lab.close();
    }
  }
  return rows;
}

export async function runCell(harness: TestHarness, scenario: Scenario): Promise<Row> {
  const { cli, lacks }: MatrixAgent = harness.agent;
  const row = { agent: cli, scenario: scenario.name };
  const missing = lacks[scenario.name];
  if (missing !== undefined) return { ...row, cell: "not offered", why: missing, seconds: 0 };
  const since = performance.now();
  const seconds = () => (performance.now() - since) / 1_000;
  try {
    await scenario.run(harness);
    return { ...row, cell: "passed", seconds: seconds() };
  } catch (error) {
    return { ...row, cell: "failed", why: String((error as Error).message), seconds: seconds() };
  }
}

/** Scenarios × agents, in figures. */
export function figures(rows: readonly Row[]): string {
  const count = (cell: Cell) => rows.filter((row) => row.cell === cell).length;
  const agents = new Set(rows.map(({ agent }) => agent)).size;
  const scenarios = new Set(rows.map(({ scenario }) => scenario)).size;
  return `${scenarios} scenarios × ${agents} agents: ${count("passed")} passed, ${count("not offered")} not offered, ${count("failed")} failed`;
}
