/**
 * [R10] The power goes, in front of a random system call. What a file had at its last sync is still there; of what came
 * later, each page is there or not, as chance has it. Nothing acknowledged may be missing. With durability `normal`
 * something must be: otherwise this test would notice nothing.
 */
import { copyFileSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { Random } from "../sim/random.ts";
import {
  Acknowledged,
  copyDatabase,
  filesOf,
  makeDirectory,
  type Outcome,
  type Run,
  removeDirectory,
  startWriter,
  verify,
} from "./lab.ts";

const PAGE_BYTES = 4_096;
/** A new database after so many losses. */
const LOSSES_PER_DATABASE = 20;

export interface PowerRun extends Run {
  /** The preloaded library. */
  readonly disk: string;
  readonly durability: "full" | "normal";
}

export async function losePower({ rounds, seed, tell, disk, durability }: PowerRun): Promise<Outcome> {
  const random = new Random(seed);
  const directory = makeDirectory();
  const failures: string[] = [];
  let commits = 0;
  let lossy = 0;
  let acked = new Acknowledged();
  try {
    for (let round = 0; round < rounds; round++) {
      // After a loss that was expected the writer's memory is of no use: start anew.
      if (round % LOSSES_PER_DATABASE === 0 || durability === "normal") acked = new Acknowledged();
      const path = join(
        directory,
        `${durability === "normal" ? round : Math.floor(round / LOSSES_PER_DATABASE)}.db`,
      );
      const shadow = join(directory, "shadow");
      copyDatabase(path, shadow);
      const before = acked.commits;
      const config = { path, seed: random.below(2 ** 31), streams: random.between(1, 8), durability };
      const call = random.chance(0.3) ? random.between(1, 60) : random.between(60, 4_000);
      const writer = startWriter(config, acked, {
        LD_PRELOAD: disk,
        FAULT_DIR: `${directory}/`,
        FAULT_SHADOW: shadow,
        FAULT_POWER: String(call),
      });
      const { signal, errors } = await writer.ended;
      if (signal !== "SIGKILL") failures.push(`round ${round}: the writer ended by itself: ${errors}`);
      commits += acked.commits - before;
      cutPower(path, shadow, random);
      const verdict = await verify(copyDatabase(path, join(directory, "copy")), acked);
      if (verdict.complaints.length > 0) lossy++;
      if (durability === "full") {
        const where = `round ${round}, seed ${config.seed}, call ${call}`;
        failures.push(...verdict.complaints.map((complaint) => `${where}: ${complaint}`));
      }
      tell?.(`power loss ${round + 1}/${rounds} (${durability}): call ${call}, ${verdict.lost} lost`);
    }
  } finally {
    removeDirectory(directory);
  }
  if (durability === "normal") {
    if (lossy === 0) failures.push("nothing was lost without syncs either: this test is blind");
    return {
      name: "power loss, control [R10]",
      rounds,
      summary: `${lossy} of ${rounds} lost something, as they must`,
      failures,
    };
  }
  if (commits < rounds) failures.push(`only ${commits} commits in ${rounds} rounds: too few to lose one`);
  return { name: "power loss [R10]", rounds, summary: `${commits} commits acknowledged`, failures };
}

/** Makes the files what a power loss may have left of them. */
function cutPower(path: string, shadow: string, random: Random): void {
  rmSync(`${path}-shm`, { force: true });
  // Half of the time everything that was not synced is gone, which is the harder case for what was promised.
  const mixed = random.chance(0.5);
  const names = new Set(
    [...filesOf(path), ...filesOf(join(shadow, basename(path)))].map((file) => basename(file)),
  );
  for (const name of names) {
    const file = join(path, "..", name);
    const synced = join(shadow, name);
    if (!existsSync(synced)) {
      if (!mixed || random.chance(0.5)) rmSync(file);
    } else if (!existsSync(file)) {
      if (!mixed || random.chance(0.5)) copyFileSync(synced, file); // its removal was not synced
    } else if (mixed) writeFileSync(file, mix(readFileSync(synced), readFileSync(file), random));
    else copyFileSync(synced, file);
  }
}

function mix(synced: Buffer, written: Buffer, random: Random): Buffer {
  const length = random.chance(0.5) ? synced.length : written.length;
  const mixed = Buffer.alloc(length);
  for (let at = 0; at < length; at += PAGE_BYTES) {
    const source = random.chance(0.5) ? written : synced;
    const page = source.subarray(at, Math.min(at + PAGE_BYTES, length));
    // A page that one of the two does not have cannot come from it.
    (page.length > 0 ? page : (source === synced ? written : synced).subarray(at, at + PAGE_BYTES)).copy(
      mixed,
      at,
    );
  }
  return mixed;
}
