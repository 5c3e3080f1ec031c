/**
 * Kills, power losses, full and failing disks, at the counts that every change can wait for. `npm run faults` runs them at their full counts. The
 * seeds are fixed here: a failure can be run again.
 */
import { afterAll, expect, it } from "vitest";
import { compareAnswers } from "./answers.ts";
import { fillDisk } from "./full.ts";
import { killWriters } from "./kill.ts";
import { buildDisk, makeDirectory, type Outcome, removeDirectory } from "./lab.ts";
import { losePower } from "./power.ts";
import { killEverywhere } from "./sweep.ts";
import { failCalls } from "./syscalls.ts";

const directory = makeDirectory();
afterAll(() => removeDirectory(directory));

const disk = buildDisk(directory);
const library = "path" in disk ? disk.path : undefined;
const why = "missing" in disk ? ` (not run here: ${disk.missing})` : "";
/** A disk that loses power is written in C: where there is no compiler, that is said in the title. */
const onDisk = library === undefined ? it.skipIf(true) : it;

function check({ failures }: Outcome): void {
  expect(failures).toEqual([]);
}

it("[R9] 10 kills lose nothing acknowledged", async () => {
  check(await killWriters({ rounds: 10, seed: 9 }));
});

onDisk(`[R10] 10 power losses lose nothing acknowledged${why}`, async () => {
  check(await losePower({ rounds: 10, seed: 10, disk: library as string, durability: "full" }));
});

onDisk(`[R10] without syncs, power losses lose something${why}`, async () => {
  check(await losePower({ rounds: 4, seed: 10, disk: library as string, durability: "normal" }));
});

onDisk(`[R11] [S21] a call that fails is an error or no loss${why}`, async () => {
  check(await failCalls({ rounds: 10, seed: 11, disk: library as string }));
});

onDisk(`[R12] [S21] a full disk refuses writes, lets reads go on, and recovers${why}`, async () => {
  check(await fillDisk({ rounds: 1, seed: 12, disk: library as string }));
});

onDisk(
  `[R12] [S48] what is answered on a full or failing disk is true${why}`,
  async () => {
    check(await compareAnswers({ rounds: 6, seed: 48, disk: library as string }));
  },
  120_000,
);

onDisk(
  `[R14] [S43] [S44] [S45] [U30] commands that are killed leave the old or the new, whole${why}`,
  async () => {
    check(await killEverywhere({ rounds: 5, seed: 14, disk: library as string }));
  },
  300_000,
);
