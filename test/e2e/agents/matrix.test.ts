/**
 * A short selection of the matrix for every test run: what outlives a server, and what a rule answers, with the two agents that have
 * protocols of their own. All of it: `npm run lifecycle -- matrix`.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fetchCli } from "../clis/fetch.ts";
import { Lab } from "../clis/lab.ts";
import { MATRIX_AGENTS } from "./agents.ts";
import { TestHarness } from "./desk.ts";
import { runCell } from "./matrix.ts";
import { HttpOwner } from "./owner-http.ts";
import { SCENARIOS } from "./scenarios.ts";

const SHORT = ["permission with a rule", "kill -9 of the server while asking", "slash command", "model"];
const AGENTS = MATRIX_AGENTS.filter(({ cli }) => cli === "claude" || cli === "codex");
const fetched = new Map(
  await Promise.all(AGENTS.map(async ({ cli }) => [cli, await fetchCli(cli)] as const)),
);

describe.each(AGENTS)("$cli", (agent) => {
  const found = fetched.get(agent.cli) ?? { missing: "not fetched" };
  const why = "missing" in found ? ` (not run: ${found.missing})` : "";
  let harness: TestHarness;
  beforeAll(async () => {
    if (!("program" in found)) return;
    const lab = await Lab.open(agent.cli, found.program);
    harness = new TestHarness(lab, agent, new HttpOwner(lab, agent));
  }, 120_000);
  afterAll(() => harness?.lab.close());

  it.skipIf(why !== "").each(SHORT)(
    `[D60] [D61] [D62] [D64] [D65] %s${why}`,
    async (name) => {
      const scenario = SCENARIOS.find((each) => each.name === name);
      if (scenario === undefined) throw new Error(`no scenario ${name}`);
      expect(await runCell(harness, scenario)).toMatchObject({ cell: "passed" });
    },
    240_000,
  );
});
