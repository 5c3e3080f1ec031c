/**
 * [R9] A writer is killed with SIGKILL at a random moment, over and over, on one database that goes on growing. Nothing
 * acknowledged may be missing, the database must be sound, and it must open in time.
 */
import { join } from "node:path";
import { setTimeout as after } from "node:timers/promises";
import { Random } from "../sim/random.ts";
import {
  Acknowledged,
  copyDatabase,
  makeDirectory,
  type Outcome,
  type Run,
  removeDirectory,
  startWriter,
  verify,
} from "./lab.ts";

const OPEN_MS = 3_000;
/** A new database after so many kills, so that new ones are killed as well. */
const KILLS_PER_DATABASE = 25;

export async function killWriters({ rounds, seed, tell }: Run): Promise<Outcome> {
  const random = new Random(seed);
  const directory = makeDirectory();
  const failures: string[] = [];
  let commits = 0;
  let slowestMs = 0;
  let acked = new Acknowledged();
  try {
    for (let round = 0; round < rounds; round++) {
      if (round % KILLS_PER_DATABASE === 0) acked = new Acknowledged();
      const path = join(directory, `${Math.floor(round / KILLS_PER_DATABASE)}.db`);
      const before = acked.commits;
      const config = { path, seed: random.below(2 ** 31), streams: random.between(1, 8) };
      const writer = startWriter(config, acked);
      await writer.said((line) => line.type === "ack");
      await after(random.below(800));
      writer.process.kill("SIGKILL");
      const { signal, errors } = await writer.ended;
      if (signal !== "SIGKILL") failures.push(`round ${round}: the writer ended by itself: ${errors}`);
      commits += acked.commits - before;
      // Mostly a copy is checked, so that the next writer opens what the kill has left and not what we have tidied up.
      const copy = random.chance(0.2) ? path : copyDatabase(path, join(directory, "copy"));
      const verdict = await verify(copy, acked);
      slowestMs = Math.max(slowestMs, verdict.openMs);
      failures.push(
        ...verdict.complaints.map((complaint) => `round ${round}, seed ${config.seed}: ${complaint}`),
      );
      if (verdict.openMs > OPEN_MS)
        failures.push(`round ${round}: opening took ${verdict.openMs.toFixed(0)} ms`);
      tell?.(`kill ${round + 1}/${rounds}: ${acked.commits - before} commits, ${verdict.lost} lost`);
    }
  } finally {
    removeDirectory(directory);
  }
  if (commits < rounds) failures.push(`only ${commits} commits in ${rounds} rounds: too few to lose one`);
  const summary = `${commits} commits acknowledged, slowest opening ${slowestMs.toFixed(0)} ms`;
  return { name: "kill -9 [R9]", rounds, summary, failures };
}
