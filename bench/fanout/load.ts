/**
 * The load, in a process of its own: agents that write at a steady pace and viewers that see all of it, through our
 * server or through the bare relay. It gets its commands over IPC, one at a time, and answers with what the viewers
 * saw.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { Lateness, lineOf, Seen, TAIL } from "./line.ts";
import type { Attach, Order, Outcome } from "./order.ts";
import { attach, openBlockyard, openRelay, type Stage } from "./stage.ts";

const SETTLE_MS = 10_000;
/** The first moments of an order are not measured: connections and code are cold. */
const WARM_MS = 500;

process.on("message", async (order: Order | Attach) => {
  process.send?.("attach" in order ? await attach(order) : await outcomeOf(order));
});

async function outcomeOf(order: Order): Promise<Outcome> {
  const lateness = new Lateness();
  const seen = Array.from({ length: order.viewers }, () => new Seen(lateness));
  const stage =
    order.target === "blockyard" ? await openBlockyard(order, seen) : await openRelay(order, seen);
  const sent = await play(order, stage, lateness);
  const isThere = () => seen.every((each) => sent.every((count, agent) => each.count(agent) === count));
  for (const since = performance.now(); !isThere() && performance.now() - since < SETTLE_MS; )
    await sleep(20);
  const outcome = judge(seen, sent, lateness);
  stage.close();
  return outcome;
}

/** Writes at a steady pace; how many pieces each agent sent. */
async function play(order: Order, { write }: Stage, lateness: Lateness): Promise<number[]> {
  const { agents, flushesPerSecond, seconds, lineChars } = order;
  const gapMs = 1_000 / flushesPerSecond;
  const end = order.tails ? TAIL : "\n";
  const sent = Array.from({ length: agents }, () => 0);
  // Each agent in its own step of the beat, as agents are that know nothing of each other.
  const due = sent.map((_, agent) => (agent * gapMs) / agents);
  const startMs = performance.now();
  let isWarm = false;
  for (let nowMs = 0; nowMs < seconds * 1_000; nowMs = performance.now() - startMs) {
    if (!isWarm && nowMs > WARM_MS) {
      isWarm = true;
      lateness.forget();
    }
    due.forEach((dueMs, agent) => {
      if (dueMs > nowMs) return;
      write(agent, lineOf(agent, sent[agent]!, performance.now(), lineChars, end));
      sent[agent]!++;
      due[agent] = dueMs + gapMs;
    });
    await sleep(1);
  }
  return sent;
}

function judge(seen: readonly Seen[], sent: readonly number[], lateness: Lateness): Outcome {
  let lost = 0;
  for (const each of seen) {
    lost += each.lost;
    sent.forEach((count, agent) => {
      lost += Math.max(0, count - each.count(agent));
    });
  }
  return {
    p50Ms: lateness.quantileMs(0.5),
    p95Ms: lateness.quantileMs(0.95),
    p99Ms: lateness.quantileMs(0.99),
    delivered: lateness.count,
    lost,
    doubled: seen.reduce((sum, { doubled }) => sum + doubled, 0),
    reordered: seen.reduce((sum, { reordered }) => sum + reordered, 0),
  };
}
