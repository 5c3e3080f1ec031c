/**
 * [R1] [R2] [R3] Many agents to many viewers: is all of it there, once and in order; how late is it, against a relay that does
 * nothing; and how long does the last piece of a text take that nothing follows?
 */
import { median } from "../../bench/bench.ts";
import { FULL } from "../../bench/fanout/driver.ts";
import type { Trial } from "./trial.ts";

const PAIRS = 5;
const RELAY_SECONDS = 10;
/** What an unfinished piece waits for, and what it may take on its way. */
const TAIL_MS = 100 + 50;

export const spread: Trial = {
  name: "spread",
  question:
    "Do 20 viewers see all that 50 agents write, once, in order, and hardly later than through a relay?",
  async run(driver, { minutes, tell }) {
    const seconds = (minutes * 60) / PAIRS;
    const pairs = await driver.pairs(PAIRS, { ...FULL, seconds }, Math.min(seconds, RELAY_SECONDS));
    for (const { blockyard, bare } of pairs)
      tell(
        `${blockyard.delivered} pieces, p50 ${blockyard.p50Ms} and p99 ${blockyard.p99Ms} ms; relay ${bare.p50Ms} and ${bare.p99Ms} ms`,
      );
    const sum = (of: "delivered" | "lost" | "doubled" | "reordered") =>
      pairs.reduce((total, { blockyard }) => total + blockyard[of], 0);
    const middle = (of: (pair: (typeof pairs)[number]) => number) => median(pairs.map(of));
    return [
      { rule: "R1", figure: "pieces delivered", value: sum("delivered"), target: { min: expected(minutes) } },
      { rule: "R1", figure: "lost", value: sum("lost"), target: { max: 0 } },
      { rule: "R1", figure: "doubled", value: sum("doubled"), target: { max: 0 } },
      { rule: "R1", figure: "out of order", value: sum("reordered"), target: { max: 0 } },
      { rule: "R2", figure: "relay p50 ms", value: middle(({ bare }) => bare.p50Ms) },
      { rule: "R2", figure: "relay p99 ms", value: middle(({ bare }) => bare.p99Ms) },
      {
        rule: "R2",
        figure: "p50 ms more than the relay's",
        value: middle(({ blockyard, bare }) => blockyard.p50Ms - bare.p50Ms),
        target: { max: 15 },
      },
      {
        rule: "R2",
        figure: "p99 against the relay's",
        value: middle(({ blockyard, bare }) => blockyard.p99Ms / bare.p99Ms),
        target: { max: 4 },
      },
      {
        rule: "R2",
        figure: "p99 ms",
        value: middle(({ blockyard }) => blockyard.p99Ms),
        target: { max: 300 },
      },
    ];
  },
};

/** Nearly all of them: the first moments are not counted. */
function expected(minutes: number): number {
  return 0.8 * FULL.agents * FULL.flushesPerSecond * FULL.viewers * minutes * 60;
}

export const tails: Trial = {
  name: "tails",
  question: "How soon is a piece seen that ends without a newline and is followed by silence?",
  async run(driver) {
    const order = { ...FULL, agents: 20, flushesPerSecond: 2, lineChars: 40, tails: true, seconds: 15 };
    const { p50Ms, p95Ms, delivered, lost } = await driver.play({ ...order, ...driver.blockyard });
    return [
      { rule: "R3", figure: "tails seen", value: delivered, target: { min: 1_000 } },
      { rule: "R3", figure: "tails lost", value: lost, target: { max: 0 } },
      { rule: "R3", figure: "tail p50 ms", value: p50Ms },
      { rule: "R3", figure: "tail p95 ms", value: p95Ms, target: { max: TAIL_MS } },
    ];
  },
};
