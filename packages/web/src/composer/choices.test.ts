/** Which agent the composer starts with. */
import { expect, it } from "vitest";
import { agentOf } from "./choices.ts";

const PROVIDERS = ["claude", "codex", "qwen"];
const MISSING = { provider: "claude", problem: "claude was not found" };
const AGENTS = [MISSING, { provider: "codex" }, { provider: "qwen" }];

it.each([
  ["nothing was chosen", [undefined], AGENTS, "codex"],
  ["the agent of the conversation is not ready", ["claude"], AGENTS, "claude"],
  ["the chosen agent is gone", ["goose", "qwen"], AGENTS, "qwen"],
  ["none is ready", [], [MISSING], "claude"],
  ["the agents are not known yet", [], [], "claude"],
] as const)("[CM2] where %s", (_, wished, agents, agent) => {
  expect(agentOf(wished, PROVIDERS, agents)).toBe(agent);
});
