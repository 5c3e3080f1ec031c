/** What `agent.list` says. */
import { type Call, Kernel, MemoryStore, problem, VirtualEnv } from "@blockyard/kernel";
import { expect, it } from "vitest";
import { agentTools } from "./agent-tools.ts";
import { STREAM } from "./agents.ts";
import type { Driver } from "./driver.ts";
import { Turns } from "./turns.ts";

it("[D64] [CM16] the tasks of a running or waiting agent are returned without other queries", async () => {
  const tasks = [{ id: "b1", description: "npm run dev" }];
  const turns = {
    liveIn: (id: string) => (id === "c" ? { run: { tasks: async () => tasks } } : undefined),
    drivers: { tasks: (id: string) => (id === "waits" ? tasks : []) },
  };
  const [, offers] = agentTools(turns as unknown as Turns, "/");
  const asked = (conversation: string) =>
    offers.run({} as unknown as Call, { conversation, only: "tasks" } as never);
  expect(await asked("c")).toEqual({ tasks });
  expect(await asked("waits")).toEqual({ tasks });
  expect(await asked("nobody")).toEqual({ tasks: [] });
});

it("[D54] each agent with its abilities, and why it cannot run", async () => {
  const kernel = new Kernel(new VirtualEnv(1), new MemoryStore("m"));
  const driver = (provider: string, refused?: string): Driver => ({
    ...{ provider, abilities: { ...STREAM, steering: provider === "steered" ? "step" : "turn" } },
    check: () => (refused === undefined ? undefined : problem("unavailable", refused)),
    start: async () => problem("unavailable", "no"),
  });
  const turns = new Turns({ kernel, drivers: [driver("steered"), driver("missing", "Install it")] });
  const [list] = agentTools(turns, "/");
  const said = await list?.run({ kernel } as unknown as Call, {} as never);
  expect(said).toMatchObject({
    agents: [
      { provider: "steered", abilities: { steering: "step", asks: [] } },
      { provider: "missing", problem: "Install it" },
    ],
  });
});
