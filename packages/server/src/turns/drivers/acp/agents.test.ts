/** Agents by one line of the settings, and what modes and models are called by each. */
import { readFileSync } from "node:fs";
import { isProblem, type JsonObject } from "@blockyard/kernel";
import { describe, expect, it } from "vitest";
import { streams } from "../../../../../../test/recordings.ts";
import { MODES } from "../../mode.ts";
import { acpAgents, acpSpec, wordsOf } from "./agents.ts";
import {
  changed,
  currentModel,
  modelSetting,
  modeSetting,
  type Setting,
  settled,
  withUsual,
} from "./settings.ts";

describe("agents", () => {
  it("[Y39] are those that are known, and those that a line of the settings names", () => {
    const names = (env: Record<string, string>) => acpAgents(env).map(({ provider }) => provider);
    expect(names({})).toEqual(["opencode", "gemini", "qwen", "copilot", "kimi"]);
    expect(names({ BLOCKYARD_ACP_GOOSE: "goose acp", BLOCKYARD_ACP_MY_AGENT: "x" })).toEqual(
      expect.arrayContaining(["goose", "my-agent"]),
    );
    const [kimi] = acpAgents({ BLOCKYARD_ACP_KIMI: '/opt/kimi "a b" acp' }).filter(
      ({ provider }) => provider === "kimi",
    );
    expect(kimi).toMatchObject({ command: ["/opt/kimi", "a b", "acp"], install: expect.any(String) });
  });

  it.each([["BLOCKYARD_ACP_CLAUDE"], ["BLOCKYARD_ACP_CODEX"], ["BLOCKYARD_ACP_"], ["BLOCKYARD_ACP_a"]])(
    "[Y39] %s names none",
    (name) => {
      expect(acpAgents({ [name]: "x" })).toHaveLength(5);
    },
  );

  it.each<[string, string[]]>([
    ["goose acp", ["goose", "acp"]],
    ["  a   'b c' \"d\" ", ["a", "b c", "d"]],
    ["", []],
    ["a;b $(c)", ["a;b", "$(c)"]],
  ])("[Y39] the words of %j are %j", (line, words) => {
    expect(wordsOf(line)).toEqual(words);
  });

  it("[Y40] get their own keys and no others", () => {
    const env = { PATH: "/bin", KIMI_API_KEY: "k", OPENAI_API_KEY: "o", DATABASE_PASSWORD: "d" };
    const spec = acpSpec({ provider: "x", command: ["/bin/sh"], variables: /^KIMI_/ }, "/tmp", env);
    expect(isProblem(spec) ? spec : spec.env).toEqual({ PATH: "/bin", KIMI_API_KEY: "k" });
  });

  it("[Y39] a missing one says how to get it", () => {
    const found = acpSpec({ provider: "my-agent", command: ["no-such-program"] }, "/", { PATH: "/bin" });
    expect(found).toMatchObject({
      problem: "unavailable",
      message: expect.stringContaining("BLOCKYARD_ACP_MY_AGENT"),
    });
  });
});

/** The answer to session/new in a recording. */
function sessionOf(name: string): JsonObject {
  const recording = streams.find((each) => each.name === `acp/${name}.jsonl`);
  const lines = readFileSync(recording?.path ?? "", "utf8")
    .trimEnd()
    .split("\n");
  const messages = lines.map((line) => JSON.parse(JSON.parse(line).line) as JsonObject);
  const asked = messages.find(({ method }) => method === "session/new");
  const answered = messages.find(({ id, method }) => method === undefined && id === asked?.["id"]);
  return answered?.["result"] as JsonObject;
}

describe("modes and models", () => {
  it.each<[string, Record<string, string>]>([
    ["opencode/text", { plan: "plan" }],
    ["gemini/text", { plan: "plan", edits: "autoEdit", full: "yolo" }],
    ["qwen/overload", { plan: "plan", ask: "default", edits: "auto-edit", full: "yolo" }],
    ["kimi/text", { plan: "plan", full: "yolo" }],
    ["claude/text", { plan: "plan", edits: "acceptEdits", full: "bypassPermissions" }],
  ])("[Y27] %s has its own names of modes", (name, expected) => {
    const session = sessionOf(name);
    const set = MODES.flatMap((mode) => {
      const params = modeSetting(session, "s", mode)?.params;
      return params === undefined ? [] : [[mode, params["modeId"] ?? params["value"]] as const];
    });
    expect(Object.fromEntries(set)).toEqual(expected);
  });

  it.each<[string, string, string]>([
    ["opencode/text", "opencode/big-pickle", "session/set_config_option"],
    ["gemini/text", "gemini-3.8-flash", "session/set_model"],
  ])("[Y28] %s: a model is set in the agent's way", (name, model, method) => {
    expect(modelSetting(sessionOf(name), "s", model)).toMatchObject({ method });
    expect(modelSetting(sessionOf(name), "s", "no-such")).toContain("no model no-such");
  });

  it.each([
    ["opencode/text", "opencode/big-pickle"],
    ["gemini/text", "gemini-3.8-flash"],
  ])("[D99] %s: what was set is set back for a turn without a choice", (name, model) => {
    const first = sessionOf(name);
    const other = settled(first, modelSetting(first, "s", model) as Setting, {});
    const set = changed(first, other);
    expect(set).toMatchObject({ model });
    expect(withUsual({}, set, first, other)).toMatchObject({ model: currentModel(first) });
    expect(withUsual({ model }, set, first, other)).toMatchObject({ model });
    // What the agent itself has changed stays.
    expect(withUsual({}, {}, first, other)).toEqual({ model: undefined, effort: undefined });
  });
});
