/**
 * What happens to files from outside, at the counts that every change can wait for: flipped bytes, backups, older schemas, saves that are
 * killed, links in the way. `npm run faults` runs them at their full counts.
 */
import { expect, it } from "vitest";
import { backUp, readOlder } from "./backups.ts";
import { killSavers, raceLinks, tryPaths } from "./files.ts";
import { flipAudit, flipBytes, flipLog } from "./flips.ts";
import type { Outcome } from "./lab.ts";

function check({ failures }: Outcome): void {
  expect(failures).toEqual([]);
}

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
