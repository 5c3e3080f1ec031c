/** Which session a line belongs to. */
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { streams } from "../../../../test/recordings.ts";
import { normalize } from "../normalize.ts";
import { providers } from "../registry.ts";
import { SessionRoutes } from "./routes.ts";

function routed(name: string): { lines: Map<string, string[]>; history: number; agent: string | undefined } {
  const recording = streams.find((each) => each.name === `acp/${name}.jsonl`);
  const routes = new SessionRoutes();
  const lines = new Map<string, string[]>();
  let history = 0;
  for (const line of readFileSync(recording?.path ?? "", "utf8")
    .trimEnd()
    .split("\n")) {
    const found = routes.take(line);
    if (found === undefined) continue;
    lines.set(found.session, [...(lines.get(found.session) ?? []), ...found.lines]);
    if (found.isHistory) history++;
  }
  return { lines, history, agent: routes.agent };
}

it.each([["claude"], ["codex"], ["gemini"], ["kimi"], ["qwen"]])(
  "[Y42] %s: two sessions of a connection are two streams, each whole",
  (agent) => {
    const { lines } = routed(`${agent}/parallel`);
    expect(lines.size).toBe(2);
    const acp = providers.get("acp");
    if (acp === undefined) throw new Error("no acp");
    for (const [session, own] of lines) {
      const folded = normalize(acp, [new TextEncoder().encode(own.join("\n"))]);
      expect(folded.unknown).toEqual({});
      expect(folded.faults).toEqual([]);
      expect(new Set(folded.turns.map(({ sessionId }) => sessionId))).toEqual(new Set([session]));
    }
  },
);

it("[Y42] a loaded session's replay is history; a sub-agent belongs to the session that started it", () => {
  expect(routed("opencode/load.2").history).toBeGreaterThan(4);
  expect(routed("opencode/text").history).toBe(0);
  expect(routed("claude/subagent-all-caps").lines.size).toBe(1);
  expect(routed("kimi/text").agent).toMatch(/kimi/i);
});
