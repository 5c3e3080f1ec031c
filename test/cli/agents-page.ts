/**
 * The table of docs/guides/agents.md, made from the drivers' own statements: `node test/cli/agents-page.ts` writes it
 * into the guide, and a test compares it.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { isDeepStrictEqual } from "node:util";
import { VirtualEnv } from "@blockyard/kernel";
import { driversOf } from "../../packages/server/src/app/drivers.ts";
import type { Abilities, Driver } from "../../packages/server/src/turns/driver.ts";
import { acpAgents } from "../../packages/server/src/turns/drivers/acp/agents.ts";
import { acpDriver } from "../../packages/server/src/turns/drivers/acp/driver.ts";

const GUIDE = fileURLToPath(new URL("../../docs/guides/agents.md", import.meta.url));
const [BEGIN, END] = ["<!-- abilities: written by test/cli/agents-page.ts -->", "<!-- end of abilities -->"];

/** Claude Code as root has full access only where the whole machine is a sandbox. */
const PLACE = {
  ...{ kernel: { env: new VirtualEnv(1) }, root: "/", home: "/", env: { IS_SANDBOX: "1" }, fullAccess: true },
} as never;

const yes = (is: boolean) => (is ? "yes" : "–");
const MODE_WORDS = { plan: "plan", ask: "ask", edits: "accept edits", full: "full access" } as const;

const ROWS: readonly (readonly [string, (abilities: Abilities) => string])[] = [
  ["requests you can answer here", ({ asks }) => asks.join(", ")],
  ["rules", ({ rules }) => yes(rules)],
  [
    "modes (full access only with `--full-access`)",
    ({ modes }) => modes.map((mode) => MODE_WORDS[mode]).join(", "),
  ],
  ["separate sandbox setting", ({ sandboxes }) => sandboxes.join(", ") || "–"],
  [
    "message sent while it works",
    ({ steering }) => (steering === "step" ? "read at its next step" : "sent after the turn"),
  ],
  ["can change while it works", ({ midTurn }) => midTurn.join(", ") || "–"],
  ["resumes its session", ({ resumes }) => yes(resumes)],
  ["process stays alive between turns", ({ staysAlive }) => yes(staysAlive)],
  ["slash commands", ({ commands }) => yes(commands)],
  ["models / efforts", ({ models, efforts }) => `${yes(models)} / ${yes(efforts)}`],
  ["context usage", ({ usage }) => yes(usage)],
  ["account limits / MCP servers", ({ limits, servers }) => `${yes(limits)} / ${yes(servers)}`],
  ["can stop background tasks", ({ stopsTasks }) => yes(stopsTasks)],
];

export function abilitiesTable(): string {
  const drivers = allDrivers();
  const other = acpDriver({ provider: "any other over ACP", command: ["agent"] }, PLACE);
  const lastOverAcp = drivers.findLastIndex(({ provider }) => isOverAcp(provider));
  const named = drivers.map(({ provider, abilities }) => [`\`${provider}\``, abilities] as const);
  const agents = together([
    ...named.slice(0, lastOverAcp + 1),
    [other.provider, other.abilities],
    ...named.slice(lastOverAcp + 1),
  ]);
  const head = `| | ${agents.map(([name]) => name).join(" | ")} |`;
  const rows = ROWS.map(
    ([name, tell]) => `| ${name} | ${agents.map(([, each]) => tell(each)).join(" | ")} |`,
  );
  return [head, `|${"---|".repeat(agents.length + 1)}`, ...rows].join("\n");
}

/** Every driver that a server has, with all that its agent can be allowed. */
export function allDrivers(): readonly Driver[] {
  return driversOf(PLACE, PLACE);
}

const isOverAcp = (provider: string) => acpAgents({}).some((agent) => agent.provider === provider);

/** Neighbours that can do the same share a column. */
function together(
  agents: readonly (readonly [string, Abilities])[],
): readonly (readonly [string, Abilities])[] {
  const shared: (readonly [string, Abilities])[] = [];
  for (const [name, abilities] of agents) {
    const last = shared.at(-1);
    if (last && isDeepStrictEqual(last[1], abilities))
      shared[shared.length - 1] = [`${last[0]}, ${name}`, abilities];
    else shared.push([name, abilities]);
  }
  return shared;
}

/** The guide with the table as it should be. */
export function agentsPage(written = readFileSync(GUIDE, "utf8")): string {
  const [before = "", rest = ""] = written.split(BEGIN);
  const after = rest.split(END)[1] ?? "";
  return `${before}${BEGIN}\n\n${abilitiesTable()}\n\n${END}${after}`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(GUIDE, agentsPage());
