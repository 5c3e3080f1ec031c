/** How agents are started: what becomes an argument, what is refused, what an absent one is told. */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isProblem } from "@blockyard/kernel";
import { afterAll, expect, it } from "vitest";
import { AGENTS, type Agent, childSpec } from "./agents.ts";

const folder = mkdtempSync(join(tmpdir(), "blockyard-agents-"));
const program = join(folder, "claude");
writeFileSync(program, "#!/bin/sh\n");
chmodSync(program, 0o755);
afterAll(() => rmSync(folder, { recursive: true }));

const claude = AGENTS.get("claude") as Agent;
const codex = AGENTS.get("codex") as Agent;

function start(agent: Agent, names: { model?: string; session?: string }, env: Record<string, string>) {
  return childSpec(agent, { prompt: "; touch x", cwd: folder, env, ...names });
}

it("[D5] the prompt goes to its input, names go into arguments of their own", () => {
  const spec = start(claude, { model: "opus[1m]", session: "0-a" }, { PATH: folder });
  expect(spec).toMatchObject({ file: program, cwd: folder });
  if (isProblem(spec)) return;
  expect(spec.args).toContain("--model=opus[1m]");
  expect(spec.args).toContain("--resume=0-a");
  expect(spec.args.join(" ")).not.toContain("touch");
});

const hostile = [
  "--dangerously-skip-permissions",
  "-x",
  "",
  "a b",
  "a\nb",
  "$(touch x)",
  "`touch x`",
  "a;touch x",
  "a|b",
  "../../x y",
  "a\0b",
  "a'b",
  'a"b',
  "é",
  "x".repeat(300),
];

it.each(hostile)("[D5] [R39] a model or session named %j is refused", (value) => {
  for (const agent of [claude, codex]) {
    for (const names of [{ model: value }, { session: value }]) {
      const env = { PATH: folder, BLOCKYARD_CODEX: program };
      expect(start(agent, names, env)).toMatchObject({ problem: "invalid" });
    }
  }
});

it("[D5] an agent that is not there is told how to get it", () => {
  const absent = start(codex, {}, { PATH: folder });
  expect(absent).toMatchObject({ problem: "unavailable", details: { command: "codex" } });
  expect(isProblem(absent) && absent.message).toMatch(/npm install -g @openai\/codex.*BLOCKYARD_CODEX/);
});

it("[D5] a program that is named by the configuration is taken from there alone", () => {
  expect(start(claude, {}, { PATH: "", BLOCKYARD_CLAUDE: program })).toMatchObject({ file: program });
  expect(start(claude, {}, { PATH: folder, BLOCKYARD_CLAUDE: join(folder, "no") })).toMatchObject({
    problem: "unavailable",
  });
});
