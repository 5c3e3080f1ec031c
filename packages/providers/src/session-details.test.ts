/** Session facts. */
import { expect, it } from "vitest";
import { foldLines, init } from "../../../test/claude-lines.ts";
import { bounds } from "./limits.ts";
import { codexDetails } from "./session-details.ts";

it("[P32] from the init of Claude Code, emitted again only if new", () => {
  const first = init({
    permissionMode: "plan",
    tools: ["Bash", { name: "Read" }, 7],
    mcp_servers: [{ name: "db", status: "connected" }, { name: "x", status: "failed" }, { status: "?" }],
    apiKeySource: "none",
  });
  const { sessions } = foldLines([first, first, { ...first, permissionMode: "default" }]);
  expect(sessions.map(({ details }) => details)).toMatchObject([
    {
      permissionMode: "plan",
      tools: ["Bash", "Read"],
      mcpServers: [
        { name: "db", status: "connected" },
        { name: "x", status: "failed" },
      ],
    },
    { permissionMode: "default" },
  ]);
});

it("[P32] lists are cut at a bound and say so", () => {
  const tools = Array.from({ length: bounds.sessionNames + 5 }, (_, i) => `t${i}`);
  const { sessions } = foldLines([init({ tools: [...tools, "x".repeat(1_000)] })]);
  const kept = sessions[0]?.details?.tools as readonly string[];
  expect([kept.length, kept.at(-1)]).toEqual([bounds.sessionNames + 1, "… 6 more"]);
});

it("[P32] from the turn context of Codex", () => {
  expect(
    codexDetails({ approval_policy: "never", sandbox_policy: { type: "read-only" }, effort: "high" }),
  ).toEqual({
    permissionMode: "never",
    sandbox: "read-only",
    effort: "high",
  });
  expect(codexDetails({ sandbox_policy: { mode: "workspace-write" } })).toEqual({
    sandbox: "workspace-write",
  });
  expect(codexDetails({ approval_policy: 3 })).toEqual({});
});
