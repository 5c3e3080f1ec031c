/** Which models and efforts Claude Code reports as missing. The real one is in test/e2e/agents. */
import { type JsonObject, type Problem, problem } from "@blockyard/kernel";
import { expect, it } from "vitest";
import { modelRefusal } from "./offers.ts";

const MODELS = [
  { value: "default", resolvedModel: "claude-big", supportedEffortLevels: ["low", "high"] },
  { value: "small", resolvedModel: "claude-small", supportedEffortLevels: ["low"] },
];

function peer(models: readonly JsonObject[]): {
  readonly request: (subtype: string) => Promise<JsonObject | Problem>;
} {
  const refused = problem("invalid", "There is no such model.", { code: "not_found" });
  return { request: async (subtype) => (subtype === "initialize" ? { models: [...models] } : refused) };
}

it.each<[string | undefined, string | undefined, string | undefined]>([
  [undefined, undefined, undefined],
  ["small", undefined, undefined],
  ["claude-small", "low", undefined],
  [undefined, "high", undefined],
  [undefined, "utmost", "Claude Code has no effort utmost. Choose one of low, high"],
  ["small", "high", "Claude Code has no effort high. Choose one of low"],
  ["other", "low", "There is no such model. Models: default, small"],
])("[D65] model %s with effort %s: %s", async (model, effort, message) => {
  expect((await modelRefusal(peer(MODELS), model, effort))?.message).toBe(message);
});

it("[D65] an agent that lists no efforts finds it out in the turn", async () => {
  expect(await modelRefusal(peer([{ value: "default" }]), "default", "utmost")).toBeUndefined();
});
