/**
 * [R12] The disk fills up under a writer: writes are refused with a problem that says so, reads go on, and when there is
 * space again, so do the writes. On a small file system of its own where one can be mounted, otherwise on a disk that
 * plays one.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Random } from "../sim/random.ts";
import { Acknowledged, makeDirectory, type Outcome, removeDirectory, startWriter, verify } from "./lab.ts";
import type { DiskRun } from "./syscalls.ts";

const RESUME_MS = 5_000;
const DISK_MB = 12;
const BALLAST_MB = 9;

export async function fillDisk({ rounds, seed, tell, disk }: DiskRun): Promise<Outcome> {
  const random = new Random(seed);
  const failures: string[] = [];
  const ways = new Set<string>();
  let slowestMs = 0;
  for (let round = 0; round < rounds; round++) {
    const directory = makeDirectory();
    const small = join(directory, "disk");
    mkdirSync(small);
    const mounted = mountSmall(small);
    try {
      ways.add(mounted ? "a small tmpfs" : "a disk that plays full");
      const full = mounted ? join(small, "ballast") : join(directory, "full");
      const env = mounted ? {} : { LD_PRELOAD: disk, FAULT_DIR: `${small}/`, FAULT_FULL: full };
      const acked = new Acknowledged();
      const path = join(small, "full.db");
      const writer = startWriter({ path, seed: random.below(2 ** 31), streams: 4 }, acked, env);
      await writer.said((line) => line.type === "ack");
      writeFileSync(full, Buffer.alloc(mounted ? BALLAST_MB * 1024 * 1024 : 0));
      const refused = await writer.said((line) => line.type === "refused");
      if (refused?.type !== "refused" || refused.problem !== "storage") {
        failures.push(`round ${round}: the writer was not refused: ${(await writer.ended).errors}`);
        continue;
      }
      if (!refused.reads) failures.push(`round ${round}: reads did not go on`);
      rmSync(full);
      const startMs = performance.now();
      const resumed = await Promise.race([
        writer.said((line) => line.type === "ack"),
        new Promise<undefined>((resolve) => setTimeout(resolve, RESUME_MS * 2, undefined).unref()),
      ]);
      const resumeMs = performance.now() - startMs;
      slowestMs = Math.max(slowestMs, resumeMs);
      if (resumed === undefined || resumeMs > RESUME_MS) {
        failures.push(`round ${round}: no commit within ${RESUME_MS} ms after there was space again`);
      }
      writer.process.kill("SIGKILL");
      await writer.ended;
      const verdict = await verify(path, acked);
      failures.push(...verdict.complaints.map((complaint) => `round ${round}, seed ${seed}: ${complaint}`));
      tell?.(
        `disk full ${round + 1}/${rounds}: "${refused.message}", went on after ${resumeMs.toFixed(0)} ms`,
      );
    } finally {
      if (mounted) spawnSync("umount", ["-l", small]);
      removeDirectory(directory);
    }
  }
  const summary = `on ${[...ways].join(" and ")}; went on within ${slowestMs.toFixed(0)} ms`;
  return { name: "disk full [R12]", rounds, summary, failures };
}

/** False where nothing can be mounted. */
export function mountSmall(path: string): boolean {
  const mounting = spawnSync("mount", ["-t", "tmpfs", "-o", `size=${DISK_MB}m`, "blockyard-faults", path]);
  return mounting.status === 0;
}
