/** What the page knows of the available agents. */
import { expect, it } from "vitest";
import { capabilitiesOf, problemsOf } from "./capabilities.ts";

it("[V86] knows which agents cannot be asked here, and why", () => {
  const agents = [{ provider: "claude" }, { provider: "qwen", problem: "qwen was not found" }];
  expect([...problemsOf({ agents })]).toEqual([["qwen", "qwen was not found"]]);
  expect([...problemsOf(null)]).toEqual([]);
  expect([...problemsOf({ problem: "forbidden", message: "no" })]).toEqual([]);
});

it("takes the agents from what a turn can be asked of", () => {
  const start = { name: "turn.start", input: { properties: { provider: { enum: ["claude", "codex"] } } } };
  expect(capabilitiesOf([start])).toMatchObject({
    providers: ["claude", "codex"],
    tools: new Set(["turn.start"]),
  });
});
