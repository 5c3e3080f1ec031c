/**
 * The fault tests at the counts that every change can wait for. `npm run faults` runs them at their full counts. The
 * seeds are fixed here: a failure can be run again.
 */
import { afterAll, expect, it } from "vitest";
import { compareAnswers } from "./answers.ts";
import { backUp, readOlder } from "./backups.ts";
import { killSavers, raceLinks, tryPaths } from "./files.ts";
import { flipAudit, flipBytes, flipLog } from "./flips.ts";
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

it("[R13] [S25] 60 flipped bytes are refused or without effect, with sums", async () => {
  check(await flipBytes({ rounds: 60, seed: 13, sums: true }));
});

it("[R13] [S25] 60 flipped bytes are refused or without effect, without sums", async () => {
  check(await flipBytes({ rounds: 60, seed: 14, sums: false }));
});

it("[R13] [AC265] a byte is changed in the audit log, with sums and as after a crash", async () => {
  check(await flipAudit({ rounds: 40, seed: 16, sums: true }));
  check(await flipAudit({ rounds: 80, seed: 17, sums: false }));
});

it("[R13] [S25] 30 flipped bytes in the log of a killed process take away its last transaction at most", async () => {
  check(await flipLog({ rounds: 30, seed: 15 }));
});

it("[R14] [S27] a backup taken under load has everything acknowledged, under a new epoch", async () => {
  check(await backUp({ rounds: 1, seed: 14 }));
});

onDisk(
  `[R14] [S43] [S44] [S45] [U30] commands that are killed leave the old or the new, whole${why}`,
  async () => {
    check(await killEverywhere({ rounds: 5, seed: 14, disk: library as string }));
  },
  300_000,
);

it("[R14] databases of every schema version there has been are read", async () => {
  check(await readOlder());
});

it("[R27] [F9] [F10] a process that is killed 10 times while it saves leaves every file whole", async () => {
  check(await killSavers({ rounds: 10, seed: 27 }));
});

it("[R38] [F22] [F23] more than 100 paths lead nowhere outside of the root and never into .git", async () => {
  const outcome = await tryPaths({ rounds: 1_000, seed: 38 });
  check(outcome);
  expect(outcome.rounds).toBeGreaterThan(100);
});

it("[R38] [F25] links that are put in the way 200 times redirect nothing", async () => {
  check(await raceLinks({ rounds: 200, seed: 38 }));
});
