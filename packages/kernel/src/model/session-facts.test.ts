/** The facts of a session as they are shown. */
import { expect, it } from "vitest";
import { sessionFacts } from "./session-facts.ts";

it("[P32] each provider's, with what the record says of the last", () => {
  const session = {
    claude: {
      permissionMode: "plan",
      tools: ["Bash", "Read"],
      mcpServers: [{ name: "db", status: "failed" }, { name: "x" }, 3],
    },
  };
  const record = {
    sessions: { claude: "s1", codex: "t1" },
    provider: "claude",
    model: "m",
    metadata: { cwd: "/w", session },
  };
  expect(sessionFacts(record)).toEqual([
    {
      provider: "claude",
      facts: [
        { label: "Model", value: "m" },
        { label: "Permission mode", value: "Plan" },
        { label: "Folder", value: "/w" },
        { label: "Session", value: "s1" },
        { label: "MCP servers", value: "db (failed), x" },
        { label: "Tools", value: "Bash, Read" },
      ],
    },
    { provider: "codex", facts: [{ label: "Session", value: "t1" }] },
  ]);
  expect(sessionFacts({ sessions: {}, metadata: { session: 7 } })).toEqual([]);
});

it.each([
  ["default", "Ask"],
  ["acceptEdits", "Accept edits"],
  ["bypassPermissions", "Full access"],
  ["on-request", "on-request"],
])("[P32] the mode %s is called %s, as in the menu", (permissionMode, value) => {
  const facts = sessionFacts({ sessions: {}, metadata: { session: { claude: { permissionMode } } } });
  expect(facts[0]?.facts).toEqual([{ label: "Permission mode", value }]);
});
