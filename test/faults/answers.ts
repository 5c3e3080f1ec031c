/**
 * [S48] On a full or failing disk every answer is true: the process is killed while its writes are refused, and the
 * database is compared with the answer to each write. On a small file system of its own if one can be mounted, and on a
 * disk that simulates being full or failing to sync.
 */
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openSqliteStore } from "../../packages/server/src/stores/sqlite/sqlite.ts";
import { Random } from "../sim/random.ts";
import type { Answered } from "./answerer.ts";
import { mountSmall } from "./full.ts";
import { makeDirectory, type Outcome, removeDirectory } from "./lab.ts";
import type { DiskRun } from "./syscalls.ts";

const ANSWERER = fileURLToPath(new URL("./answerer.ts", import.meta.url));
const BALLAST_BYTES = 9 * 1024 * 1024;

/** How the disk fails: `full` is a file that makes it so while it exists. */
type Way = "mounted" | "full" | "sync";

export async function compareAnswers({ rounds, seed, tell, disk }: DiskRun): Promise<Outcome> {
  const random = new Random(seed);
  const failures: string[] = [];
  const counts = new Map<string, number>();
  for (let round = 0; round < rounds; round++) {
    const way = (["sync", "mounted", "full"] as const)[round % 3] as Way;
    const directory = makeDirectory();
    const small = join(directory, "disk");
    mkdirSync(small);
    const isMounted = way === "mounted" && mountSmall(small);
    try {
      const full = isMounted ? join(small, "ballast") : join(directory, "full");
      const fault = {
        mounted: isMounted ? {} : { FAULT_FULL: full },
        full: { FAULT_FULL: full },
        sync: { FAULT_CALLS: "s", FAULT_FAIL: String(random.between(20, 60)), FAULT_ERRNO: "28" },
      }[way];
      const env = isMounted ? {} : { LD_PRELOAD: disk, FAULT_DIR: `${small}/`, ...fault };
      const path = join(small, "answers.db");
      const answers = await writeUntilRefused(path, random.below(2 ** 31), env, way, full);
      rmSync(full, { force: true });
      const found = await numbersIn(path);
      const wrong = answers.flatMap((answer) => wrongOf(answer, found));
      failures.push(...wrong.map((each) => `round ${round} (${way}), seed ${seed}: ${each}`));
      for (const { is } of answers) counts.set(is, (counts.get(is) ?? 0) + 1);
      tell?.(
        `answers ${round + 1}/${rounds} (${isMounted ? "a small tmpfs" : way}): ${answers.length} compared`,
      );
    } finally {
      if (isMounted) spawnSync("umount", ["-l", small]);
      removeDirectory(directory);
    }
  }
  if (!counts.has("storage")) failures.push("nothing was refused: this test is blind");
  const summary = [...counts].map(([is, count]) => `${count} ${is}`).join(", ");
  return { name: "answers on a full disk [S48]", rounds, summary, failures };
}

/** Everything that was answered until the process was killed, in the middle of refusals. */
async function writeUntilRefused(
  path: string,
  seed: number,
  env: Readonly<Record<string, string>>,
  way: Way,
  full: string,
): Promise<readonly Answered[]> {
  const flags = ["--disable-warning=ExperimentalWarning", ANSWERER, path, String(seed)];
  const child = spawn(process.execPath, flags, {
    env: { ...process.env, NODE_OPTIONS: "", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const answers: Answered[] = [];
  let [rest, errors] = ["", ""];
  let refused = 0;
  child.stderr.on("data", (bytes: Buffer) => {
    errors += bytes.toString();
  });
  child.stdout.on("data", (bytes: Buffer) => {
    const lines = (rest + bytes.toString()).split("\n");
    rest = lines.pop() as string;
    for (const line of lines) {
      const answer = JSON.parse(line) as Answered;
      answers.push(answer);
      if (way !== "sync" && answers.length === 10) fill(full, way === "mounted" ? BALLAST_BYTES : 0);
      // Where one sync fails: at once, before another commit comes to lie over the one that failed.
      if (answer.is !== "written" && ++refused >= (way === "sync" ? 1 : 12)) child.kill("SIGKILL");
    }
  });
  const [code, signal] = await new Promise<[number | null, string | null]>((resolve) =>
    child.on("close", (...how) => resolve(how)),
  );
  if (signal !== "SIGKILL") throw new Error(`the writer ended with ${code}: ${errors}`);
  return answers;
}

/** Writes what makes the disk full. Where the writer was so fast that less than this fits, it is full all the same. */
function fill(path: string, bytes: number): void {
  try {
    writeFileSync(path, Buffer.alloc(bytes));
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== "ENOSPC") throw thrown;
  }
}

/** How often each number is in the database. */
async function numbersIn(path: string): Promise<ReadonlyMap<number, number>> {
  const store = await openSqliteStore(path);
  const found = new Map<number, number>();
  for (const { id } of await store.conversations({ limit: 10 }))
    for (const block of await store.blocks({ conversation: id, order: "first", limit: 1e6 })) {
      const n = Number(/^write (\d+):/.exec(await store.text(block.id))?.[1]);
      found.set(n, (found.get(n) ?? 0) + 1);
    }
  await store.close();
  return found;
}

function wrongOf({ n, is }: Answered, found: ReadonlyMap<number, number>): string[] {
  const times = found.get(n) ?? 0;
  if (is === "written" && times !== 1) return [`write ${n} was acknowledged and is there ${times} times`];
  if (is === "storage" && times !== 0) return [`write ${n} was refused as not written, and is there`];
  return is === "uncertain" && times > 1 ? [`write ${n} is there ${times} times`] : [];
}
