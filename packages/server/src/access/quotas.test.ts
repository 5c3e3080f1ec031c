/** What an agent or viewer may request and store over time. */
import { CALLER_ROLES, limits, type Op, VirtualEnv } from "@blockyard/kernel";
import { expect, it } from "vitest";
import type { Caller } from "./auth.ts";
import { Quotas } from "./quotas.ts";

const caller = (agent: string, role: Caller["role"]): Caller => ({ agent, role, by: "token" });
const op = (body: object) => ({ agent: "ann", seq: 2, body }) as unknown as Op;
const create = (agent: string, text: string) =>
  ({ agent, body: { type: "create", text, metadata: {} } }) as unknown as Op;

it("[AC226] a burst passes, a flood gets a wait time, and the owner is never limited", async () => {
  const env = new VirtualEnv(1);
  const quotas = new Quotas(env);
  const viewer = caller("wall", "viewer");
  let taken = 0;
  while (quotas.take(viewer) === 0) taken++;
  expect(taken).toBeGreaterThanOrEqual(limits.requestBurst);
  expect(taken).toBeLessThan(limits.requestBurst + 3);
  const waitMs = quotas.take(viewer);
  expect(waitMs).toBeGreaterThan(0);
  expect(quotas.take(caller("other", "viewer"))).toBe(0);
  for (let i = 0; i < 10 * limits.requestBurst; i++) expect(quotas.take(caller("root", "owner"))).toBe(0);
  await env.advance(waitMs);
  expect(quotas.take(viewer)).toBe(0);
  await env.advance(60_000);
  taken = 0;
  while (quotas.take(viewer) === 0) taken++;
  expect(taken).toBeGreaterThanOrEqual(limits.requestBurst);
});

it("[AC226] messages that have come already are a debt, long ones more", () => {
  const quotas = new Quotas(new VirtualEnv(1));
  const agent = caller("ann", "agent");
  let waitMs = 0;
  for (let i = 0; i < 2 * limits.requestBurst; i++) waitMs = quotas.charge(agent, 0);
  expect(waitMs).toBeGreaterThan(((limits.requestBurst - 1) / limits.requestsPerMinute) * 60_000);
  const long = quotas.charge(agent, 1024 * 1024) - waitMs;
  expect(long).toBeGreaterThan((60 / limits.requestsPerMinute) * 60_000);
});

it("[AC226] a refused call costs as much as five", () => {
  const quotas = new Quotas(new VirtualEnv(1));
  const viewer = caller("wall", "viewer");
  let asked = 0;
  while (quotas.take(viewer) === 0) {
    quotas.turnedAway(viewer);
    asked++;
  }
  expect(asked).toBe(Math.floor(limits.requestBurst / 5) + 1);
  expect(quotas.waits("wall")).toBeGreaterThan(0);
  for (let i = 0; i < limits.requestBurst; i++) quotas.turnedAway(caller("root", "owner"));
  expect(quotas.take(caller("root", "owner"))).toBe(0);
});

it.each<[string, (quotas: Quotas, chars: number) => void]>([
  ["a turn", (quotas, chars) => quotas.stored([op({ type: "turn", turn: { error: "x".repeat(chars) } })])],
  [
    "an update that changes nothing",
    (quotas, chars) => quotas.stored([op({ type: "splice", splices: [], update: new Uint8Array(chars) })]),
  ],
  ["a file that is opened", (quotas, chars) => quotas.opened("ann", chars)],
  [
    "metadata",
    (quotas, chars) => quotas.stored([op({ type: "meta", metadata: { extra: "x".repeat(chars) } })]),
  ],
])("[AC227] %s counts by its length", (_, store) => {
  const quotas = new Quotas(new VirtualEnv(1));
  const ann = caller("ann", "agent");
  quotas.kept(ann, limits.storedCharsPerHour - 10_000);
  store(quotas, 100);
  expect(quotas.mayStore(ann)).toBeUndefined();
  store(quotas, 10_000);
  expect(quotas.mayStore(ann)).toMatchObject({ problem: "busy" });
});

it.each<[string, (quotas: Quotas) => void]>([
  ["conversations", (quotas) => quotas.stored([{ ...op({ type: "conversation", patch: {} }), seq: 1 }])],
  ["files", (quotas) => quotas.opened("ann", 0)],
])("[AC227] %s count as blocks", (_, store) => {
  const quotas = new Quotas(new VirtualEnv(1));
  for (let i = 0; i < limits.blocksPerHour; i++) store(quotas);
  expect(quotas.mayStore(caller("ann", "agent"))).toMatchObject({
    details: { max_blocks: limits.blocksPerHour },
  });
});

it("[AC227] blocks and text that an agent stores are counted, and it waits when it has stored enough", async () => {
  const env = new VirtualEnv(1);
  const quotas = new Quotas(env);
  const ann = caller("ann", "agent");
  quotas.stored(Array.from({ length: limits.blocksPerHour - 1 }, () => create("ann", "")));
  expect(quotas.mayStore(ann)).toBeUndefined();
  quotas.stored([create("ann", "")]);
  const refused = quotas.mayStore(ann);
  expect(refused).toMatchObject({ problem: "busy", details: { max_blocks: limits.blocksPerHour } });
  expect(quotas.mayStore(caller("ann", "owner"))).toBeUndefined();
  expect(quotas.mayStore(caller("bob", "agent"))).toBeUndefined();
  await env.advance(Number(refused?.details?.["retry_ms"]));
  expect(quotas.mayStore(ann)).toBeUndefined();
  const text = "x".repeat(1024 * 1024);
  for (let i = 0; i <= limits.storedCharsPerHour / text.length; i++) quotas.stored([create("bob", text)]);
  expect(quotas.mayStore(caller("bob", "agent"))).toMatchObject({
    details: { max_chars: limits.storedCharsPerHour },
  });
});

it("[AC227] stored data counts for every role but the owner, whatever else it may do", () => {
  const quotas = new Quotas(new VirtualEnv(1));
  const bytes = limits.storedCharsPerHour + 1;
  for (const role of CALLER_ROLES) quotas.kept(caller(role, role), bytes);
  const refused = CALLER_ROLES.filter((role) => quotas.mayStore(caller(role, role)) !== undefined);
  expect(refused).toEqual(CALLER_ROLES.filter((role) => role !== "owner"));
});
