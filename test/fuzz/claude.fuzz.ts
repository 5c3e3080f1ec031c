/**
 * A Claude Code that says anything (protocol.ts): recordings of its control protocol, changed, to the adapter and as a process to the driver.
 */
import { fileURLToPath } from "node:url";
import type { Json, JsonObject } from "@blockyard/kernel";
import { claudeDriver } from "../../packages/server/src/turns/drivers/claude/driver.ts";
import { bytesOf, streams } from "../recordings.ts";
import type { Fuzz } from "./fuzz.ts";
import { type Protocol, pick, type Random, runProtocol, SOMETIMES } from "./protocol.ts";

const FAKE = fileURLToPath(new URL("../e2e/agents/replay-claude.mjs", import.meta.url));

const ASKS = ["can_use_tool", "elicitation", "mcp_message", "hook_callback", "brand_new"];
const TOOLS = ["Bash", "Edit", "AskUserQuestion", "ExitPlanMode", "mcp__x__y", "Nothing"];

const protocol: Protocol = {
  provider: "claude-control",
  turnsOf: "claude",
  recordings: streams.filter(
    (each) =>
      each.provider === "claude-control" &&
      bytesOf(each).length < 200_000 &&
      Buffer.from(bytesOf(each)).toString().includes('\\"type\\":\\"user\\"'),
  ),
  ids: {
    asked: ({ type, request_id }) => (type === "control_request" ? request_id : undefined),
    answered: ({ type, response }) => (type === "control_response" ? idIn(response) : undefined),
  },
  question,
  driver: (options, recording, log) => {
    const env = { ...options.env, BLOCKYARD_CLAUDE: FAKE, CLAUDE_REPLAY: JSON.stringify({ recording, log }) };
    return claudeDriver({ ...options, env, idleMs: 0 });
  },
};

export const fuzz: Fuzz = {
  name: "claude",
  sometimes: SOMETIMES,
  run: (seed) => runProtocol(protocol, seed),
};

function idIn(response: Json | undefined): Json | undefined {
  return (response as JsonObject | undefined)?.["request_id"];
}

function question(random: Random, said: JsonObject): JsonObject {
  const questions = [{ question: "?", header: "Q", multiSelect: false, options: [{ label: "A" }] }];
  const input = pick<Json>(random, [{ command: "ls" }, { questions }, { plan: "# P" }, null, [], "x"]);
  return {
    type: "control_request",
    request_id: `q${random(3)}`,
    request: {
      subtype: pick(random, ASKS),
      tool_name: pick(random, TOOLS),
      input,
      tool_use_id: pick<Json>(random, ["x", "y", said["uuid"] ?? null]),
      permission_suggestions: pick<Json>(random, [[], null, [{ type: "addRules" }], "x"]),
    },
  };
}
