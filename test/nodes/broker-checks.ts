/** [R24] The broker goes away, comes back without its state, or stalls. */
import { setTimeout as sleep } from "node:timers/promises";
import { isFull, require } from "../checks.ts";
import { type NodesCheck, newConversation, requireEverything } from "./check.ts";
import { type TestHarness, until } from "./harness.ts";
import { Viewer } from "./viewer.ts";
import { Writer } from "./writer.ts";

const CALM_MS = 5_000;
const GONE_MS = isFull ? 300_000 : 20_000;
const STILL_MS = 8_000;
/** How far behind whoever looks at the other node may be. */
const BEHIND_MS = 2_000;
const CAUGHT_UP_MS = 5_000;
/** Who is hinted at is behind by at most this share of what it is without hints, in the same run: a busy machine slows both. */
const HINTED_SHARE = 0.6;
const MOST = 0.95;

async function outage(
  harness: TestHarness,
  lastsMs: number,
  begin: () => Promise<void>,
  end: () => Promise<void>,
): Promise<string> {
  const conversation = await newConversation(harness, "outage");
  // One that writes would hear of the others by being too late: who looks only looks.
  const viewer = new Viewer(harness, 1, conversation);
  const writers = [
    new Writer(harness, 0, conversation, "a", 100),
    new Writer(harness, 0, conversation, "b", 130),
  ];
  try {
    await sleep(2_000);
    const calmFrom = Date.now();
    await sleep(CALM_MS);
    const goneFrom = Date.now();
    await begin();
    await sleep(lastsMs);
    const backFrom = Date.now();
    await end();
    await sleep(CAUGHT_UP_MS);
    const calmAgain = Date.now();
    await sleep(CALM_MS);
    for (const writer of writers) await writer.stop();
    const count = await requireEverything(harness, conversation, writers, [viewer], CAUGHT_UP_MS);
    const before = viewer.late(calmFrom, goneFrom, MOST);
    const during = viewer.late(goneFrom, calmAgain, 1);
    const unhinted = viewer.late(goneFrom, backFrom, MOST);
    const after = viewer.late(calmAgain, Date.now(), MOST);
    const told = `${count} writes, 0 lost; behind by ${before} ms before, at most ${during} ms during, ${after} ms after`;
    require(during <= BEHIND_MS, `too late: ${told}`);
    const hintedMs = HINTED_SHARE * unhinted;
    require(before <= hintedMs && after <= hintedMs, `hints did not arrive: ${told}; ${unhinted} ms without`);
    require(during > after, `the broker made no difference: ${told}`);
    require(backFrom - goneFrom >= lastsMs, "the outage was too short");
    return told;
  } finally {
    for (const writer of writers) void writer.stop();
    viewer.close();
  }
}

export const brokerChecks: readonly NodesCheck[] = [
  {
    title: `[R24] [N2] the broker is killed for ${GONE_MS / 1_000} s and comes back knowing nothing`,
    run: (harness) =>
      outage(
        harness,
        GONE_MS,
        () => harness.broker.signal("SIGKILL"),
        () => harness.broker.run(),
      ),
  },
  {
    title: "[R24] [N11] the broker stands still for 8 s: nobody waits for it",
    run: (harness) =>
      outage(
        harness,
        STILL_MS,
        () => harness.broker.signal("SIGSTOP"),
        () => harness.broker.signal("SIGCONT"),
      ),
  },
  {
    title: "[N3] a list hears of a conversation that another node has made, with the broker and without",
    async run(harness) {
      const [a, b] = harness.nodes;
      const viewer = new Viewer(harness, 1, await newConversation(harness, "list"));
      const records = new Map<string, string>();
      const took: number[] = [];
      try {
        viewer.replica.watch((changed) => {
          for (const { id, title } of changed) records.set(id, title);
        });
        await until("connected", 5_000, async () => viewer.connections > 0 || undefined);
        await sleep(1_500); // it has looked once
        for (const isDown of [false, true]) {
          if (isDown) await harness.broker.signal("SIGKILL");
          const began = Date.now();
          const { conversation } = await a.do("conversation.create", { title: `is down: ${isDown}` });
          await until("heard of", BEHIND_MS, async () => records.get(conversation));
          took.push(Date.now() - began);
          const { conversations } = await b.do("conversation.list", {});
          require((conversations as { conversation: string }[]).some(
            (each) => each.conversation === conversation,
          ), "it is not in the list");
        }
      } finally {
        await harness.broker.run().catch(() => undefined);
        viewer.close();
      }
      return `after ${took[0]} ms with, ${took[1]} ms without`;
    },
  },
];
