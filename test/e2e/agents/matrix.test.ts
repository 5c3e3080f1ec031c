/**
 * A short selection of the matrix for every test run: what outlives a server, and what a rule answers, with the two agents that have
 * protocols of their own; some of it from the page and from `blockyard run`. All of it: `npm run lifecycle -- matrix`.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fetchCli } from "../clis/fetch.ts";
import { Lab } from "../clis/lab.ts";
import { MATRIX_AGENTS } from "./agents.ts";
import { TestHarness } from "./harness.ts";
import { runCell } from "./matrix.ts";
import type { From } from "./owner.ts";
import { type Owners, openOwners } from "./owners.ts";
import { SCENARIOS } from "./scenarios.ts";

const SHORT: Readonly<Record<string, readonly (readonly [From, string])[]>> = {
  claude: [
    ["http", "permission with a rule"],
    ["http", "slash command"],
    ["http", "model"],
    ["run", "steering"],
    ["page", "background task, stopped"],
    ["page", "kill -9 of the server while asking"],
  ],
  codex: [
    ["http", "permission with a rule"],
    ["http", "kill -9 of the server while asking"],
    ["http", "slash command"],
    ["http", "model"],
  ],
};
const AGENTS = MATRIX_AGENTS.filter(({ cli }) => cli in SHORT);
const fetched = new Map(
  await Promise.all(AGENTS.map(async ({ cli }) => [cli, await fetchCli(cli)] as const)),
);

describe.each(AGENTS)("$cli", (agent) => {
  const found = fetched.get(agent.cli) ?? { missing: "not fetched" };
  const why = "missing" in found ? ` (not run: ${found.missing})` : "";
  const owners = new Map<From, Owners>();
  let lab: Lab | undefined;
  beforeAll(async () => {
    if ("program" in found) lab = await Lab.open(agent.cli, found.program);
  }, 120_000);
  afterAll(async () => {
    for (const each of owners.values()) await each.close();
    await lab?.close();
  });

  it.skipIf(why !== "").each(SHORT[agent.cli] ?? [])(
    `[D60] [D61] [D62] [D64] [D65] [CM16] [CM17] [U93] from %s: %s${why}`,
    async (from, name) => {
      const scenario = SCENARIOS.find((each) => each.name === name);
      if (scenario === undefined || lab === undefined) throw new Error(`no scenario ${name}`);
      const there = owners.get(from) ?? (await openOwners(from));
      owners.set(from, there);
      const owner = await there.open(lab, agent);
      try {
        const { cell, why } = await runCell(new TestHarness(lab, agent, owner), scenario);
        expect({ cell, why }).toEqual({ cell: "passed", why: undefined });
      } finally {
        await owner.close();
      }
    },
    240_000,
  );
});
