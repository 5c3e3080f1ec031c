/** The agents that can run turns here, a line each. */

import { APIS, type ApiOptions, apiDriver } from "../turns/api.ts";
import type { Driver } from "../turns/driver.ts";
import { acpAgents } from "../turns/drivers/acp/agents.ts";
import { acpDriver } from "../turns/drivers/acp/driver.ts";
import { type ClaudeOptions, claudeDriver } from "../turns/drivers/claude/driver.ts";
import { codexDriver } from "../turns/drivers/codex/driver.ts";

export function driversOf(place: ClaudeOptions, loop: ApiOptions): readonly Driver[] {
  return [
    claudeDriver(place),
    codexDriver(place),
    ...acpAgents(place.env).map((agent) => acpDriver(agent, place)),
    ...APIS.map((api) => apiDriver(api, loop)),
  ];
}
