/**
 * Marks: identify a process as ours, however far it has moved away from the child that started it. A child gets a mark
 * in its environment, and everything that it starts inherits it, even after leaving its process group or session, or
 * being reparented to init. So anyone who knows the mark can find and kill it.
 *
 * Not a fence: a program that clears the environment of its children escapes. Without /proc, nothing is found, and only
 * process groups are killed.
 */

import { readdir, readFile } from "node:fs/promises";
import { MARK_ROUNDS } from "./limits.ts";

const VARIABLE = "BLOCKYARD_CHILD";

export type Environment = Readonly<Record<string, string | undefined>>;

/** The environment with one more mark. A server that runs inside another one's child keeps the outer mark. */
export function withMark(env: Environment, mark: string): Environment {
  const outer = env[VARIABLE];
  return { ...env, [VARIABLE]: outer === undefined ? mark : `${outer} ${mark}` };
}

/** For a child: nothing that is meant for the server itself, except marks. */
export function withoutOurs(env: Environment): Environment {
  return Object.fromEntries(
    Object.entries(env).filter(([name]) => name === VARIABLE || !name.startsWith("BLOCKYARD_")),
  );
}

/** The living processes that carry the mark, or one below it (`mark.…`). */
export async function findMarked(mark: string): Promise<readonly number[]> {
  const entries = await readdir("/proc").catch(() => []);
  const pids = entries.filter((entry) => /^\d+$/.test(entry)).map(Number);
  const marked = await Promise.all(
    pids.filter((pid) => pid !== process.pid).map(async (pid) => ((await carries(pid, mark)) ? [pid] : [])),
  );
  return marked.flat();
}

async function carries(pid: number, mark: string): Promise<boolean> {
  // Somebody else's, or gone in the meantime, or dead and not yet reaped: none of those can be read.
  const environ = await readFile(`/proc/${pid}/environ`, "latin1").catch(() => "");
  const line = environ.split("\0").find((each) => each.startsWith(`${VARIABLE}=`));
  if (line === undefined) return false;
  return line
    .slice(VARIABLE.length + 1)
    .split(" ")
    .some((each) => each === mark || each.startsWith(`${mark}.`));
}

/** Kills them, and what they start meanwhile; answers with how many there were. */
export async function killMarked(mark: string): Promise<number> {
  const killed = new Set<number>();
  for (let round = 0; round < MARK_ROUNDS; round++) {
    const found = await findMarked(mark);
    if (found.length === 0) break;
    for (const pid of found) {
      killed.add(pid);
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // gone by itself
      }
    }
  }
  return killed.size;
}
