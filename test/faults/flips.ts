/**
 * [R13] One byte of a database is changed, anywhere. The store refuses, when it is opened or when it reads, and says
 * that the database is damaged; or it gives back what was written. Never anything else, and never a crash. Tried on a
 * closed database with the sums that closing leaves, and without them, as after a crash; and on the log that a killed
 * process leaves, where damage in the last transaction looks like a power loss and takes that one away.
 */
import { copyFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { StoreError } from "@blockyard/kernel";
import { StoreScript } from "@blockyard/kernel/store-contract";
import { openSqliteStore, type SqliteStore } from "../../packages/server/src/stores/sqlite/sqlite.ts";
import { Random } from "../sim/random.ts";
import { everything, fill, fillAudit } from "./everything.ts";
import { makeDirectory, type Outcome, type Run, removeDirectory } from "./lab.ts";

type Filled = (store: SqliteStore, random: Random) => Promise<void>;

/** Every byte of a database that has hardly anything but the audit log: who flips one there forges or hides an entry. */
export function flipAudit(run: Run & { readonly sums: boolean }): Promise<Outcome> {
  return flipFile(run, "the audit log", (store, random) => fillAudit(store, random, 300));
}

export function flipBytes(run: Run & { readonly sums: boolean }): Promise<Outcome> {
  return flipFile(run, "everything", (store) => fill(store, run.seed, 6));
}

async function flipFile(
  { rounds, seed, tell, sums }: Run & { readonly sums: boolean },
  what: string,
  filled: Filled,
): Promise<Outcome> {
  const random = new Random(seed);
  const directory = makeDirectory();
  const failures: string[] = [];
  const count = { opening: 0, reading: 0, equal: 0 };
  try {
    const path = join(directory, "sound.db");
    const sound = await openSqliteStore(path);
    await filled(sound, random);
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
  return {
    name: `flipped bytes of ${what}, ${sums ? "with" : "without"} sums [R13]`,
    rounds,
    summary,
    failures,
  };
}

export async function flipLog({ rounds, seed, tell }: Run): Promise<Outcome> {
  const random = new Random(seed);
  const directory = makeDirectory();
  const failures: string[] = [];
  const count = { opening: 0, reading: 0, equal: 0, last: 0 };
  const live = await openSqliteStore(join(directory, "live.db"));
  try {
    await fill(live, seed, 2);
    const before = await everything(live);
    const script = new StoreScript("last");
    script.create({ text: "the last transaction" });
    await script.commit(live);
    const expected = await everything(live);
    const log = readFileSync(`${live.path}-wal`);
    const flipped = join(directory, "flipped.db");
    for (let round = 0; round < rounds; round++) {
      for (const ending of ["-shm", ".lock", ".sums"]) rmSync(flipped + ending, { force: true });
      copyFileSync(live.path, flipped);
      const at = random.below(log.length);
      const damaged = Buffer.from(log);
      damaged[at] = (damaged[at] as number) ^ (1 << random.below(8));
      writeFileSync(`${flipped}-wal`, damaged);
      let found = await look(flipped, expected, before);
      // The header has no second copy of what it says, and everything behind it depends on it.
      if (at < LOG_HEADER_BYTES && found === OTHER) found = "last";
      if (found === "opening" || found === "reading" || found === "equal" || found === "last") count[found]++;
      else failures.push(`byte ${at} of the log, seed ${seed}: ${found}`);
      tell?.(`flip ${round + 1}/${rounds}: byte ${at} of ${log.length} in the log: ${found}`);
    }
  } finally {
    await live.close();
    removeDirectory(directory);
  }
  const refused = count.opening + count.reading;
  if (refused === 0) failures.push("no damage was ever noticed: this test is blind");
  const summary = `refused ${refused}, equal ${count.equal}, without the last transaction ${count.last}`;
  return { name: "flipped bytes in the log [R13]", rounds, summary, failures };
}

const LOG_HEADER_BYTES = 32;
const OTHER = "the store gave back something else";

async function look(path: string, expected: string, before?: string): Promise<string> {
  let store: SqliteStore | undefined;
  try {
    store = await openSqliteStore(path);
    const found = await everything(store);
    return found === expected ? "equal" : found === before ? "last" : OTHER;
  } catch (error) {
    if (!(error instanceof StoreError)) return `not a StoreError: ${(error as Error).stack}`;
    if (error.code !== "corrupt" && error.code !== "version")
      return `the wrong code: ${error.code} ${error.message}`;
    return store === undefined ? "opening" : "reading";
  } finally {
    await store?.close();
  }
}
