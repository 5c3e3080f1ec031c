/**
 * Where tests put their files: in memory, where the system has room for that and lets programs run from it. Nothing there waits for a
 * disk, which was half of the time of what opens databases. Tests of faults keep to the disk.
 *
 * A run has a folder of its own, and removes it when it ends; what a run that was killed has left behind, the next one removes.
 */
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const MEMORY = "/dev/shm";
const PREFIX = "blockyard-test-";
const ROOM_BYTES = 4 * 2 ** 30;

/** The folder's path; undefined where the usual one for temporary files has to do. */
export function scratchFolder(): string | undefined {
  if (!existsSync(MEMORY)) return undefined;
  removeLeftOver();
  const { bavail, bsize } = statfsSync(MEMORY);
  if (bavail * bsize < ROOM_BYTES) return undefined;
  const folder = join(MEMORY, `${PREFIX}${process.pid}`);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
    const program = join(folder, "program");
    writeFileSync(program, "#!/bin/sh\n");
    chmodSync(program, 0o700);
    execFileSync(program);
    rmSync(program);
  } catch {
    return undefined;
  }
  return folder;
}

function removeLeftOver(): void {
  for (const name of readdirSync(MEMORY).filter((each) => each.startsWith(PREFIX))) {
    if (isAlive(Number(name.slice(PREFIX.length)))) continue;
    try {
      rmSync(join(MEMORY, name), { recursive: true, force: true });
    } catch {
      // Another account's.
    }
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
