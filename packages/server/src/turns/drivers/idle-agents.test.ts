/** Agents that wait between turns: for how long, how many, and for whom. */
import { VirtualEnv } from "@blockyard/kernel";
import { expect, it } from "vitest";
import type { Child } from "../../processes/child.ts";
import { IdleAgents } from "./idle-agents.ts";
import { bounds } from "./limits.ts";

class Agent {
  isKilled = false;
  isBusy = false;
  end: () => void = () => undefined;
  readonly child = {
    isOver: false,
    ended: new Promise<void>((resolve) => {
      this.end = resolve;
    }),
    kill: () => {
      this.isKilled = true;
      this.end();
    },
  } as unknown as Child;
}

it("[D56] waits for a while, and is taken by its own conversation alone", async () => {
  const env = new VirtualEnv(1);
  const idle = new IdleAgents<Agent>(env, 1_000);
  const agent = new Agent();
  idle.put("a", agent);
  expect(idle.take("b", () => true)).toBeUndefined();
  await env.advance(900);
  expect(idle.take("a", () => true)).toBe(agent);
  await env.advance(5_000);
  expect(agent.isKilled).toBe(false);
  idle.put("a", agent);
  await env.advance(1_100);
  expect(agent.isKilled).toBe(true);
  expect(idle.size).toBe(0);
});

it("[D56] is limited in number; one that does not fit ends", async () => {
  const idle = new IdleAgents<Agent>(new VirtualEnv(1));
  const agents = Array.from({ length: bounds.idleAgents + 1 }, () => new Agent());
  for (const [i, agent] of agents.entries()) idle.put(`c${i}`, agent);
  expect(agents.map(({ isKilled }) => isKilled)).toEqual([true, ...agents.slice(1).map(() => false)]);
  expect(idle.take("c1", () => false)).toBeUndefined();
  expect(agents[1]?.isKilled).toBe(true);
  await idle.close();
  expect(agents.every(({ isKilled }) => isKilled)).toBe(true);
  const late = new Agent();
  idle.put("late", late);
  expect(late.isKilled).toBe(true);
});

it("[D56] one with background tasks waits longer, beside the next one, and is counted separately", async () => {
  const env = new VirtualEnv(1);
  const idle = new IdleAgents<Agent>(env, 1_000);
  const busy = Array.from({ length: bounds.busyAgents }, () => Object.assign(new Agent(), { isBusy: true }));
  for (const agent of busy) idle.put("a", agent);
  const next = new Agent();
  idle.put("a", next);
  expect(idle.take("a", (agent) => agent === next)).toBe(next);
  idle.put("a", next);
  await env.advance(1_100);
  expect([next.isKilled, busy.some(({ isKilled }) => isKilled)]).toEqual([true, false]);
  // Its tasks have ended: it waits as any other does.
  const [first, second] = busy as [Agent, Agent];
  first.isBusy = false;
  idle.put("a", first);
  await env.advance(1_100);
  expect([first.isKilled, second.isKilled]).toEqual([true, false]);
  await env.advance(bounds.busyMs);
  expect(busy.every(({ isKilled }) => isKilled)).toBe(true);
});

it("[D56] one that wakes restarts its wait, unless it was taken by then", async () => {
  const env = new VirtualEnv(1);
  const idle = new IdleAgents<Agent>(env, 1_000);
  const agent = new Agent();
  idle.put("a", agent);
  await env.advance(900);
  idle.renew(agent);
  await env.advance(900);
  expect(agent.isKilled).toBe(false);
  expect(idle.take("a", () => true)).toBe(agent);
  idle.renew(agent);
  idle.changed(agent);
  expect(idle.size).toBe(0);
  await env.advance(5_000);
  expect(agent.isKilled).toBe(false);
});

it("[D56] [AC320] one whose tasks change waits by its current tasks, and never longer than it could from the start", async () => {
  const env = new VirtualEnv(1);
  const idle = new IdleAgents<Agent>(env, 1_000);
  const agent = Object.assign(new Agent(), { isBusy: true });
  idle.put("a", agent);
  await env.advance(5_000);
  agent.isBusy = false;
  idle.changed(agent);
  await env.advance(900);
  expect(agent.isKilled).toBe(false);
  await env.advance(200);
  expect(agent.isKilled).toBe(true);
  // It cannot keep itself alive by reporting new tasks.
  const other = Object.assign(new Agent(), { isBusy: true });
  idle.put("b", other);
  const later = Object.assign(new Agent(), { isBusy: true });
  idle.put("c", later);
  for (let passed = 0; passed < bounds.busyMs - 1_000; passed += 1_000) {
    await env.advance(1_000);
    idle.changed(other);
  }
  expect([other.isKilled, idle.of("b")]).toEqual([false, [other]]);
  await env.advance(1_100);
  expect(other.isKilled).toBe(true);
});

it("[AC320] nor is one that reports so the last to make room", async () => {
  const env = new VirtualEnv(1);
  const idle = new IdleAgents<Agent>(env);
  const agents = Array.from({ length: bounds.busyAgents + 1 }, () =>
    Object.assign(new Agent(), { isBusy: true }),
  );
  for (const [i, agent] of agents.slice(0, -1).entries()) {
    idle.put(`c${i}`, agent);
    await env.advance(10);
  }
  idle.changed(agents[0] as Agent);
  idle.put("last", agents.at(-1) as Agent);
  expect(agents.map(({ isKilled }) => isKilled)).toEqual([true, ...agents.slice(1).map(() => false)]);
});
