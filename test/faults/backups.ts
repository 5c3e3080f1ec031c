/**
 * [R14] A backup that is taken under load has everything that was acknowledged before, and gives it back when it is
 * restored, under a new epoch.
 */
import { createHash } from "node:crypto";
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { Kernel } from "@blockyard/kernel";
import { restoreSqliteStore } from "../../packages/server/src/stores/sqlite/restore.ts";
import { openSqliteStore } from "../../packages/server/src/stores/sqlite/sqlite.ts";
import { nodeEnv } from "../../packages/server/src/system/env.ts";
import { everything, fill } from "./everything.ts";
import { makeDirectory, type Outcome, type Run, removeDirectory } from "./lab.ts";

export async function backUp({ rounds, seed, tell }: Run): Promise<Outcome> {
  const failures: string[] = [];
  for (let round = 0; round < rounds; round++) {
    const directory = makeDirectory();
    try {
      const store = await openSqliteStore(join(directory, "live.db"));
      await fill(store, seed + round, 3);
      const before = await everything(store);
      const kernel = new Kernel(nodeEnv, store);
      const load = writeOn(kernel);
      await store.backup(join(directory, "backup.db"));
      load.stop();
      await load.ended;
      await kernel.close();
      await store.close();
      const restored = join(directory, "restored.db");
      await restoreSqliteStore(join(directory, "backup.db"), restored);
      const opened = await openSqliteStore(restored);
      if (opened.epoch === store.epoch)
        failures.push(`round ${round}: the restored database has the old epoch`);
      const after = await everything(opened);
      if (!holds(after, before)) failures.push(`round ${round}, seed ${seed}: the backup lacks something`);
      await opened.close();
      tell?.(`backup ${round + 1}/${rounds}: ${load.count()} commits meanwhile`);
    } finally {
      removeDirectory(directory);
    }
  }
  return { name: "backup and restore [R14]", rounds, summary: "everything acknowledged came back", failures };
}

function writeOn(kernel: Kernel): { stop(): void; readonly ended: Promise<void>; count(): number } {
  let going = true;
  let count = 0;
  const write = async () => {
    const id = await kernel.createConversation("ada", "written during the backup");
    while (going) {
      await kernel.write(id as string, {
        agent: "ada",
        plan: (draft) => {
          draft.create({ kind: "text", role: "user", text: `block ${count++}` });
          return null;
        },
      });
    }
  };
  const stop = () => {
    going = false;
  };
  return { stop, ended: write(), count: () => count };
}

interface Dump {
  readonly conversations: readonly { readonly record: { readonly id: string } }[];
  readonly blobs: unknown;
}

/**
 * A database that schema version 1 has written (`fill` with seed 1 and one conversation), and the hash of everything in
 * it. Whatever the schema becomes, it must be read. A later version adds its own; none is ever replaced.
 */
const WRITTEN: Readonly<Record<string, string>> = {
  "schema-1.db": "f0135b2e9f8ff6d7b230d1c8d250829727a8a5fb16b5d94f7df771c2ab7807f1",
};

/** Databases of every schema version there has been are opened and read. */
export async function readOlder(): Promise<Outcome> {
  const failures: string[] = [];
  const directory = makeDirectory();
  try {
    for (const [name, hash] of Object.entries(WRITTEN)) {
      const path = join(directory, name);
      copyFileSync(new URL(`fixtures/${name}`, import.meta.url), path);
      const store = await openSqliteStore(path);
      const found = createHash("sha256")
        .update(await everything(store))
        .digest("hex");
      if (found !== hash) failures.push(`${name} gave back something else than was written`);
      await store.close();
    }
  } finally {
    removeDirectory(directory);
  }
  const rounds = Object.keys(WRITTEN).length;
  return { name: "older schemas [R14]", rounds, summary: `${rounds} of them`, failures };
}

/** Every conversation of `before` is in `after` as it was. */
function holds(after: string, before: string): boolean {
  const [later, earlier] = [JSON.parse(after) as Dump, JSON.parse(before) as Dump];
  const known = new Map(later.conversations.map((each) => [each.record.id, JSON.stringify(each)]));
  return (
    earlier.conversations.every((each) => known.get(each.record.id) === JSON.stringify(each)) &&
    JSON.stringify(later.blobs) === JSON.stringify(earlier.blobs)
  );
}
