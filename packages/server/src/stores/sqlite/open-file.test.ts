/** A database that is taken away while it is open: it is noticed, said, and nothing that was acknowledged is lost. */
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { StoreScript } from "@blockyard/kernel/store-contract";
import { afterAll, expect, it } from "vitest";
import { FOLDER_TICK_NS } from "./limits.ts";
import { restoreSqliteStore } from "./restore.ts";
import { openSqliteStore } from "./sqlite.ts";

const directory = mkdtempSync(join(tmpdir(), "blockyard-lost-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

interface Taken {
  readonly path: string;
  /** A copy of the database, from before the last write. */
  readonly older: string;
}

const WAYS: readonly (readonly [string, (taken: Taken) => void])[] = [
  ["deleted", ({ path }) => rmSync(path)],
  ["replaced", ({ path, older }) => renameSync(older, path)],
  ["separated from its log", ({ path }) => rmSync(`${path}-wal`)],
  ["emptied", ({ path }) => truncateSync(path, 0)],
  ["overwritten", ({ path, older }) => copyFileSync(older, path)],
];

async function filled(name: string) {
  const path = join(mkdtempSync(join(directory, "home-")), `${name}.db`);
  const store = await openSqliteStore(path);
  const script = new StoreScript("c");
  script.create({ text: "first" });
  await script.commit(store);
  await store.backup(`${path}.older`);
  const block = script.create({ text: "acknowledged" });
  await script.commit(store);
  return { path, older: `${path}.older`, store, script, block };
}

it.each(WAYS)("[S46] a database that was %s is written no more, and that is said", async (way, take) => {
  const { path, older, store, script } = await filled("lost");
  await store.check();
  take({ path, older });
  const file = statSync(path, { throwIfNoEntry: false });
  script.create({ text: "refused" });
  const refusal = {
    code: "lost",
    message: expect.stringContaining(`${path} was ${way} while it was in use`),
  };
  await expect(script.commit(store)).rejects.toMatchObject(refusal);
  await expect(store.check()).rejects.toMatchObject(refusal);
  await expect(store.putBlob("hash", "text/plain", new Uint8Array(1))).rejects.toMatchObject(refusal);
  await store.close();
  // What is there instead is left as it was found.
  const left = statSync(path, { throwIfNoEntry: false });
  if (way !== "separated from its log") expect(left?.mtimeMs).toBe(file?.mtimeMs);
  // A log of another file would be brought into it at the next opening.
  expect(existsSync(`${path}-wal`)).toBe(false);
});

it("[S46] a log that is taken away from a folder that was quiet for long is missed by the next write, and by those behind it", async () => {
  const { path, store, script } = await filled("quiet");
  await sleep(2 * Number(FOLDER_TICK_NS / 1_000_000n));
  for (const text of ["looks at the log", "does not"]) {
    script.create({ text });
    await script.commit(store);
  }
  renameSync(`${path}-wal`, `${path}-away`);
  script.create({ text: "refused" });
  await expect(script.commit(store)).rejects.toMatchObject({ code: "lost" });
  const blob = store.putBlob("hash", "text/plain", new Uint8Array(1));
  await expect(blob).rejects.toMatchObject({ code: "lost" });
  renameSync(`${path}-away`, `${path}-wal`);
  await store.check();
  await store.close();
});

it("[S46] where the whole folder is gone, the next refusal says that nothing could be copied", async () => {
  const { path, store } = await filled("homeless");
  rmSync(dirname(path), { recursive: true });
  const refused = () => store.check().then(String, ({ message }: Error) => message);
  expect(await refused()).toContain("was deleted");
  await expect.poll(refused).toContain("could not be copied");
  await store.close().catch(() => undefined);
});

it.each(WAYS.slice(0, 3))("[S47] of a database that was %s everything is copied", async (_, take) => {
  const { path, older, store, script, block } = await filled("rescued");
  take({ path, older });
  script.create({ text: "refused" });
  await expect(script.commit(store)).rejects.toMatchObject({ code: "lost" });
  await store.close();
  const [rescued] = readdirSync(join(path, "..")).filter((name) => name.includes(".rescued-"));
  await restoreSqliteStore(join(path, "..", rescued as string), path, { replace: true });
  const again = await openSqliteStore(path);
  expect(await again.text(block)).toBe("acknowledged");
  expect(await again.blocks({ conversation: "c", order: "first", limit: 10 })).toHaveLength(2);
  expect(again.epoch).not.toBe(store.epoch);
  await again.close();
});

it("[S46] one that is put back is written again, and one that was only touched all the time", async () => {
  const { path, store, script } = await filled("back");
  utimesSync(path, new Date(0), new Date(0));
  script.create({ text: "touched" });
  await script.commit(store);
  renameSync(path, `${path}.away`);
  const late = new StoreScript("late");
  late.create({ text: "late" });
  await expect(late.commit(store)).rejects.toMatchObject({ code: "lost" });
  renameSync(`${path}.away`, path);
  const again = new StoreScript("again");
  const block = again.create({ text: "again" });
  await again.commit(store);
  await store.close();
  const opened = await openSqliteStore(path);
  expect(await opened.text(block)).toBe("again");
  expect(await opened.conversation("late")).toBeUndefined();
  await opened.close();
});

it("[S46] an empty file with a log is refused, and the log stays", async () => {
  const { path, store } = await filled("empty");
  const log = `${path}-wal`;
  copyFileSync(log, `${path}.kept`);
  await store.close();
  truncateSync(path, 0);
  copyFileSync(`${path}.kept`, log);
  rmSync(`${path}.sums`);
  await expect(openSqliteStore(path)).rejects.toMatchObject({ code: "corrupt" });
  expect(existsSync(log)).toBe(true);
});
