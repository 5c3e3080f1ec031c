/**
 * [R5] Half of the full load for an hour: memory must not rise once it has levelled off, nothing may stay open, and the
 * server must answer in time throughout. And of all writes, nothing is lost, doubled or out of order.
 */
import { median } from "../../bench/bench.ts";
import { type Driver, FULL } from "../../bench/fanout/driver.ts";
import { slope, type Trial } from "./trial.ts";

const MIB = 1024 * 1024;
const LOOK_MS = 10_000;
/** Before this, memory finds its height; a short soak leaves a sixth of itself out. */
const WARM_MINUTES = 10;

interface Look {
  readonly minute: number;
  readonly memoryMb: number;
  readonly usedMb: number;
  readonly files: number;
  readonly lagMs: number;
}

export const soak: Trial = {
  name: "soak",
  question: "Does anything pile up while half of the full load plays for an hour?",
  async run(driver, { minutes, tell }) {
    const looks: Look[] = [];
    const startMs = performance.now();
    const timer = setInterval(() => {
      void look(driver, startMs).then((seen) => {
        looks.push(seen);
        if (looks.length % 6 === 0)
          tell(
            `minute ${seen.minute.toFixed(0)}: ${seen.memoryMb.toFixed(0)} MiB, ${seen.files} files, lag p99 ${seen.lagMs.toFixed(1)} ms`,
          );
      });
    }, LOOK_MS);
    const order = { ...FULL, ...driver.blockyard, agents: FULL.agents / 2, seconds: minutes * 60 };
    // Texts that are being written are kept loaded, up to a bound of their own: so much of a rise is expected.
    const textMb = (order.agents * order.flushesPerSecond * order.lineChars * 60) / MIB;
    const outcome = await driver.play(order);
    clearInterval(timer);
    const steady = looks.filter(
      ({ minute }) => minute >= Math.min(WARM_MINUTES, minutes / 6) && minute < minutes,
    );
    const of = (field: keyof Look) => steady.map((seen) => seen[field]);
    return [
      { rule: "R5", figure: "minutes", value: minutes },
      {
        rule: "R5",
        figure: "pieces delivered",
        value: outcome.delivered,
        target: { min: 0.4 * FULL.agents * FULL.flushesPerSecond * FULL.viewers * minutes * 60 },
      },
      { rule: "R5", figure: "lost", value: outcome.lost, target: { max: 0 } },
      { rule: "R5", figure: "doubled", value: outcome.doubled, target: { max: 0 } },
      { rule: "R5", figure: "out of order", value: outcome.reordered, target: { max: 0 } },
      {
        rule: "R5",
        figure: "memory rises, MiB a minute",
        value: slope(of("minute"), of("memoryMb")),
        target: { max: 1 },
      },
      {
        rule: "R5",
        figure: "of it in use by JavaScript, MiB a minute",
        value: slope(of("minute"), of("usedMb")),
      },
      { rule: "R5", figure: "text written, MiB a minute", value: textMb },
      { rule: "R5", figure: "memory MiB, at the end", value: of("memoryMb").at(-1) ?? Number.NaN },
      {
        rule: "R5",
        figure: "open files, most less fewest",
        value: Math.max(...of("files")) - Math.min(...of("files")),
        target: { max: 0 },
      },
      {
        rule: "R5",
        figure: "lag p99 ms, median of 10 s each",
        value: median(of("lagMs")),
        target: { max: 50 },
      },
      { rule: "R5", figure: "lag p99 ms, worst 10 s", value: Math.max(...of("lagMs")) },
    ];
  },
};

async function look(driver: Driver, startMs: number): Promise<Look> {
  // The connection that asks is kept open by the client: it is the same file each time.
  const lagMs = (await driver.metric("nodejs_eventloop_delay_p99_seconds")) * 1_000;
  const usedMb = (await driver.metric("nodejs_heap_used_bytes")) / MIB;
  const minute = (performance.now() - startMs) / 60_000;
  return { minute, memoryMb: driver.residentMb(), usedMb, files: driver.openFiles(), lagMs };
}
