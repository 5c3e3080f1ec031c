/**
 * The real agents, scenario by scenario: `npm run lifecycle -- matrix [--from page|run|http] [agents, scenarios…]` prints a line for each cell,
 * a table and the figures. `npm run lifecycle -- idle` prints what agents that wait between turns bring and cost.
 *
 * Agents and servers that die, many times: `npm run lifecycle -- [words…] [--rounds 50]`; with words, only the deaths whose
 * names have one of them. Prints one line for each way to die, and ends with 1 if anything was left behind or ended more or
 * less than once.
 */
import { parseArgs } from "node:util";
import { runIdle } from "./agents/idle.ts";
import { figures, runMatrix } from "./agents/matrix.ts";
import { FROMS } from "./agents/owner.ts";
import { DEATHS, die } from "./lifecycle/deaths.ts";
import { killServer } from "./lifecycle/server-kill.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { rounds: { type: "string", default: "50" }, from: { type: "string", default: "http" } },
});
const rounds = Number(values.rounds);

if (positionals[0] === "matrix") {
  const from = FROMS.find((each) => each === values.from);
  if (from === undefined) throw new Error(`--from must be one of ${FROMS.join(", ")}`);
  const rows = await runMatrix(from, positionals.slice(1), (line) => console.log(line));
  console.log(figures(rows));
  process.exit(rows.some(({ cell }) => cell === "failed") || rows.length === 0 ? 1 : 0);
}

if (positionals[0] === "idle") {
  process.exit((await runIdle((line) => console.log(line))) ? 0 : 1);
}

const trials: readonly (readonly [string, () => Promise<string[]>])[] = [
  ...DEATHS.map((death) => [`the agent ${death.name}`, () => die(death)] as const),
  ["the server is killed with 20 agents", () => killServer({ agents: 20, withReaper: false })],
  ["the server and its reaper are killed with 20 agents", () => killServer({ agents: 20, withReaper: true })],
];

const chosen = trials.filter(
  ([name]) => positionals.length === 0 || positionals.some((words) => name.includes(words)),
);
if (chosen.length === 0) throw new Error(`nobody dies like that: ${trials.map(([name]) => name).join(", ")}`);
let failed = 0;
for (const [name, run] of chosen) {
  const complaints: string[] = [];
  for (let round = 0; round < rounds; round++) complaints.push(...(await run()));
  failed += complaints.length;
  console.log(`${complaints.length === 0 ? "ok    " : "FAILED"}  ${name}, ${rounds} times`);
  for (const complaint of complaints) console.log(`        ${complaint}`);
}
process.exitCode = failed > 0 ? 1 : 0;
