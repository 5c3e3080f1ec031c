/**
 * [R13] One byte of a closed database is changed, anywhere. The store refuses, when it is opened or when it reads, and
 * says that the database is damaged; or it gives back what was written. Never anything else, and never a crash. Tried
 * with the sums that closing leaves, and without them, as after a crash.
 */
import { copyFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { StoreError } from "@blockyard/kernel";
import { openSqliteStore, type SqliteStore } from "../../packages/server/src/store/sqlite.ts";
import { Random } from "../sim/random.ts";
import { everything, fill } from "./everything.ts";
import { makeDirectory, type Outcome, type Run, removeDirectory } from "./lab.ts";

export async function flipBytes({
  rounds,
  seed,
  tell,
  sums,
}: Run & { readonly sums: boolean }): Promise<Outcome> {
  const random = new Random(seed);
  const directory = makeDirectory();
  const failures: string[] = [];
  const count = { opening: 0, reading: 0, equal: 0 };
  try {
    const path = join(directory, "sound.db");
    const sound = await openSqliteStore(path);
    await fill(sound, seed, 6);
    const expected = await everything(sound);
    await sound.close();
    const bytes = readFileSync(path);
    const flipped = join(directory, "flipped.db");
    for (let round = 0; round < rounds; round++) {
      for (const ending of ["-wal", "-shm", ".lock", ".sums"]) rmSync(flipped + ending, { force: true });
      if (sums) copyFileSync(`${path}.sums`, `${flipped}.sums`);
      const at = random.below(bytes.length);
      const mask = random.chance(0.5) ? 1 << random.below(8) : random.between(1, 255);
      const damaged = Buffer.from(bytes);
      damaged[at] = (damaged[at] as number) ^ mask;
      writeFileSync(flipped, damaged);
      const found = await look(flipped, expected);
      if (found === "opening" || found === "reading" || found === "equal") count[found]++;
      else failures.push(`byte ${at} xor ${mask}, seed ${seed}: ${found}`);
      tell?.(`flip ${round + 1}/${rounds}: byte ${at} of ${bytes.length}: ${found}`);
    }
  } finally {
    removeDirectory(directory);
  }
  if (count.opening + count.reading === 0) failures.push("no damage was ever noticed: this test is blind");
  const summary = `refused at opening ${count.opening}, at reading ${count.reading}, equal ${count.equal}`;
  return { name: `flipped bytes, ${sums ? "with" : "without"} sums [R13]`, rounds, summary, failures };
}

async function look(path: string, expected: string): Promise<string> {
  let store: SqliteStore | undefined;
  try {
    store = await openSqliteStore(path);
    return (await everything(store)) === expected ? "equal" : "the store gave back something else";
  } catch (error) {
    if (!(error instanceof StoreError)) return `not a StoreError: ${(error as Error).stack}`;
    if (error.code !== "corrupt" && error.code !== "version")
      return `the wrong code: ${error.code} ${error.message}`;
    return store === undefined ? "opening" : "reading";
  } finally {
    await store?.close();
  }
}
