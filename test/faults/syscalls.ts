/**
 * [R11] The n-th system call that writes, syncs or truncates fails, for every n: with EIO or ENOSPC, once or several
 * times. The caller gets an error, or the write is there; never is something acknowledged and missing.
 */
import { join } from "node:path";
import { Random } from "../sim/random.ts";
import {
  Acknowledged,
  makeDirectory,
  type Outcome,
  type Run,
  removeDirectory,
  startWriter,
  verify,
} from "./lab.ts";

const EIO = 5;
const ENOSPC = 28;

export interface DiskRun extends Run {
  /** The preloaded library. */
  readonly disk: string;
}

export async function failCalls({ rounds, seed, tell, disk }: DiskRun): Promise<Outcome> {
  const random = new Random(seed);
  const failures: string[] = [];
  let refused = 0;
  let unopened = 0;
  for (let n = 1; n <= rounds; n++) {
    const directory = makeDirectory();
    try {
      const path = join(directory, "faulty.db");
      const acked = new Acknowledged();
      const errno = n % 2 === 0 ? EIO : ENOSPC;
      const calls = random.pick(["w", "s", "ws", "wst", "t"]);
      const times = random.pick([1, 1, 2, 5, 40]);
      const where = `call ${n} of ${calls}, ${times} times, errno ${errno}, seed ${seed}`;
      // Half of the writers find a database that a kill has left.
      if (random.chance(0.5)) await leaveDatabase(path, acked, random);
      const config = { path, seed: random.below(2 ** 31), streams: 3, writes: 60 };
      const writer = startWriter(config, acked, {
        LD_PRELOAD: disk,
        FAULT_DIR: `${directory}/`,
        FAULT_FAIL: String(n),
        FAULT_TIMES: String(times),
        FAULT_ERRNO: String(errno),
        FAULT_CALLS: calls,
      });
      const { code, errors } = await writer.ended;
      // It may refuse to open, but it must say so: anything else that ends it is a crash.
      if (code !== 0 && !errors.includes("StoreError"))
        failures.push(`${where}: the writer crashed: ${errors}`);
      if (code !== 0) unopened++;
      if (acked.refused.length > 0) refused++;
      const verdict = await verify(path, acked);
      failures.push(...verdict.complaints.map((complaint) => `${where}: ${complaint}`));
      tell?.(
        `failed ${where}: ${acked.commits} commits, ${acked.refused.length} refused, ${verdict.lost} lost`,
      );
    } finally {
      removeDirectory(directory);
    }
  }
  if (refused + unopened === 0) failures.push("no failure was ever noticed: this test is blind");
  const summary = `${refused} runs were refused commits, ${unopened} did not open`;
  return { name: "failing calls [R11]", rounds, summary, failures };
}

async function leaveDatabase(path: string, acked: Acknowledged, random: Random): Promise<void> {
  const writer = startWriter({ path, seed: random.below(2 ** 31), streams: 3 }, acked);
  let count = random.between(5, 60);
  await writer.said((line) => line.type === "ack" && --count <= 0);
  writer.process.kill("SIGKILL");
  await writer.ended;
}
