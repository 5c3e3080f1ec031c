/**
 * [R6] [R7] Viewers that are a burden: two hundred at once for a long conversation, one that never reads, one that reads ten
 * kilobytes a second. The others must hardly notice, and what waits for the slow ones has bounds.
 */
import { median } from "../../bench/bench.ts";
import { type Driver, FULL } from "../../bench/fanout/driver.ts";
import type { Trial } from "./trial.ts";

const BLOCKS = 10_000;
const CROWD = 200;
const AT_ONCE = 16;
const PAIRS = 5;
const SECONDS = 8;
const SLOW_MINUTES = 5;
const BURDEN = { stalled: 1, slow: 1 };

export const crowd: Trial = {
  name: "crowd",
  question:
    "How long do 200 viewers wait who open a conversation of 10,000 blocks at once, and who waits for them?",
  async run(driver, { tell }) {
    const conversation = await longConversation(driver);
    tell(`a conversation of ${BLOCKS} blocks is there`);
    const play = () => driver.play({ ...FULL, ...driver.blockyard, seconds: SECONDS });
    await play();
    const opened: number[] = [];
    const ratios: number[] = [];
    let blocks = 0;
    for (let pair = 0; pair < PAIRS; pair++) {
      const before = await play();
      const during = play();
      const attached = await driver.attach({ ...driver.blockyard, conversation, attach: CROWD });
      opened.push(attached.allMs);
      blocks += attached.blocks;
      ratios.push((await during).p99Ms / before.p99Ms);
      tell(`all open after ${Math.round(attached.allMs)} ms; p99 ${ratios.at(-1)?.toFixed(2)} times as late`);
    }
    return [
      { rule: "R6", figure: "blocks given to each", value: blocks / CROWD / PAIRS, target: { min: 50 } },
      {
        rule: "R6",
        figure: "200 open after s, at most",
        value: Math.max(...opened) / 1_000,
        target: { max: 10 },
      },
      { rule: "R6", figure: "live p99 against before", value: median(ratios), target: { max: 3 } },
    ];
  },
};

export const slowReaders: Trial = {
  name: "slow-readers",
  question: "What does a viewer cost that never reads, and one at 10 KB/s; do the others notice?",
  async run(driver, { minutes, tell }) {
    const order = { ...FULL, ...driver.blockyard };
    const ratios: number[] = [];
    await driver.play({ ...order, seconds: SECONDS });
    for (let pair = 0; pair < PAIRS; pair++) {
      const burdens = pair % 2 === 0 ? [{}, BURDEN] : [BURDEN, {}];
      const late = new Map<object, number>();
      for (const burden of burdens)
        late.set(burden, (await driver.play({ ...order, ...burden, seconds: SECONDS })).p99Ms);
      ratios.push(late.get(BURDEN)! / late.get(burdens.find((burden) => burden !== BURDEN)!)!);
    }
    const seconds = Math.min(minutes, SLOW_MINUTES) * 60;
    const alone = await driver.peakMb(driver.play({ ...order, seconds }));
    const beside = await driver.peakMb(driver.play({ ...order, ...BURDEN, seconds }));
    tell(`at most ${Math.round(alone.peakMb)} MiB alone, ${Math.round(beside.peakMb)} MiB beside them`);
    const each = (beside.peakMb - alone.peakMb) / (BURDEN.stalled + BURDEN.slow);
    return [
      { rule: "R7", figure: "MiB for each slow reader", value: Math.max(0, each), target: { max: 32 } },
      { rule: "R7", figure: "others' p99 against without them", value: median(ratios), target: { max: 1.2 } },
      { rule: "R7", figure: "lost by the others", value: beside.outcome.lost, target: { max: 0 } },
    ];
  },
};

async function longConversation({ server }: Driver): Promise<string> {
  const { conversation } = await server.do("conversation.create", { title: "long" });
  let made = 0;
  const make = async () => {
    while (made < BLOCKS) {
      const content = `block ${made++}: ${"some text of it ".repeat(10)}\n`;
      await server.do("block.create", { conversation, kind: "text", role: "model", content, status: "done" });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, make));
  return conversation as string;
}
