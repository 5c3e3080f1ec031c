/**
 * The table of docs/guides/agents.md, made from what the drivers say of themselves: `node test/cli/agents-page.ts` writes it into the guide, and a
 * test compares it.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { VirtualEnv } from "@blockyard/kernel";
import { APIS, apiDriver } from "../../packages/server/src/turns/api.ts";
import type { Abilities, Driver } from "../../packages/server/src/turns/driver.ts";
import { acpAgents } from "../../packages/server/src/turns/drivers/acp/agents.ts";
import { acpDriver } from "../../packages/server/src/turns/drivers/acp/driver.ts";
import { CLAUDE_ABILITIES } from "../../packages/server/src/turns/drivers/claude/driver.ts";
import { CODEX_ABILITIES } from "../../packages/server/src/turns/drivers/codex/driver.ts";

const GUIDE = fileURLToPath(new URL("../../docs/guides/agents.md", import.meta.url));
const [BEGIN, END] = ["<!-- abilities: written by test/cli/agents-page.ts -->", "<!-- end of abilities -->"];

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
  const options = { kernel: { env: new VirtualEnv(1) }, root: "/", home: "/", env: {} } as never;
  const acp: readonly Driver[] = acpAgents({}).map((agent) => acpDriver(agent, options));
  const other = acpDriver({ provider: "any other", command: ["agent"] }, options);
  const [api] = APIS.map((source) => apiDriver(source, options));
  const agents: readonly (readonly [string, Abilities])[] = [
    ["`claude`", CLAUDE_ABILITIES],
    ["`codex`", CODEX_ABILITIES],
    ...acp.map(({ provider, abilities }) => [`\`${provider}\``, abilities] as const),
    ["any other over ACP", other.abilities],
    ...(api === undefined ? [] : ([["`anthropic`, `openai`", api.abilities]] as const)),
  ];
  const head = `| | ${agents.map(([name]) => name).join(" | ")} |`;
  const rows = ROWS.map(
    ([name, tell]) => `| ${name} | ${agents.map(([, each]) => tell(each)).join(" | ")} |`,
  );
  return [head, `|${"---|".repeat(agents.length + 1)}`, ...rows].join("\n");
}

/** The guide with the table as it should be. */
export function agentsPage(written = readFileSync(GUIDE, "utf8")): string {
  const [before = "", rest = ""] = written.split(BEGIN);
  const after = rest.split(END)[1] ?? "";
  return `${before}${BEGIN}\n\n${abilitiesTable()}\n\n${END}${after}`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(GUIDE, agentsPage());
