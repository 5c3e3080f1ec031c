/** When an agent that is silent, or does not end, is killed. */

import { VirtualEnv } from "@blockyard/kernel";
import { expect, it } from "vitest";
import { AgentWatch } from "./agent-watch.ts";

function watched({ isAsking = false } = {}) {
  const env = new VirtualEnv(1);
  const said: string[] = [];
  const watch = new AgentWatch({
    ...{ env, silentMs: 1_000, lingerMs: 100, isAsking: () => isAsking },
    onSilent: (why) => said.push(why),
    onLingering: (why) => said.push(why),
  });
  return { env, said, watch };
}

it("[D4] silence is counted from the last word, and not while the agent waits for an answer", async () => {
  const { env, said, watch } = watched();
  watch.heard();
  await env.advance(900);
  watch.heard();
  await env.advance(900);
  expect(said).toEqual([]);
  await env.advance(200);
  expect(said).toEqual(["The agent sent nothing for 1 seconds and was stopped."]);
  const asking = watched({ isAsking: true });
  asking.watch.heard();
  await asking.env.advance(5_000);
  expect(asking.said).toEqual([]);
});

it("[D4] an agent that has finished gets a grace period, counted from the first time", async () => {
  const { env, said, watch } = watched();
  watch.linger();
  await env.advance(60);
  watch.linger();
  await env.advance(60);
  expect(said).toEqual(["The agent closed its output before its turn was over, but kept running."]);
});

it("[D4] an agent that continues after its end is not killed, and gets a grace period again later", async () => {
  const { env, said, watch } = watched();
  watch.linger();
  await env.advance(60);
  watch.stay();
  await env.advance(500);
  expect(said).toEqual([]);
  watch.linger();
  await env.advance(120);
  expect(said).toHaveLength(1);
});

it("[D4] nothing is awaited after the turn, whatever the agent still says", async () => {
  const { env, said, watch } = watched();
  watch.heard();
  watch.linger();
  watch.close();
  watch.heard();
  watch.linger();
  await env.advance(5_000);
  expect(said).toEqual([]);
});
