/**
 * A store full of sessions, made once and kept: making ten gigabytes takes longer than all benches together. Beside the database
 * lies `made.json`, which says what is in it; a store that was not finished is made anew.
 */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { StoreScript } from "@blockyard/kernel/store-contract";
import { openSqliteStore } from "../../packages/server/src/stores/sqlite/sqlite.ts";
import { vocabulary } from "./corpus.ts";
import { blocksOf, SESSION_BYTES } from "./sessions.ts";

export interface MadeStore {
  readonly path: string;
  readonly sessions: number;
  readonly blocks: number;
  readonly textBytes: number;
}

const BLOCKS_PER_COMMIT = 100;
const FIRST_TIME = 1_700_000_000_000;
/** Between the beginnings of two sessions. */
const HOUR_MS = 3_600_000;

/** The store of so many bytes in `folder`, made where it is missing. `files`: also writes every block as a file there. */
export async function sessionStore(folder: string, bytes: number, files?: string): Promise<MadeStore> {
  const path = join(folder, "blocks.db");
  const note = join(folder, "made.json");
  if (existsSync(note)) return { ...JSON.parse(readFileSync(note, "utf8")), path };
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  if (files !== undefined) {
    rmSync(files, { recursive: true, force: true });
    mkdirSync(files, { recursive: true });
  }
  const words = vocabulary();
  const sessions = Math.max(5, Math.round(bytes / SESSION_BYTES));
  const store = await openSqliteStore(path);
  let [blocks, textBytes] = [0, 0];
  for (let session = 0; session < sessions; session++) {
    const script = new StoreScript(`s-${session}`);
    script.now = FIRST_TIME + session * HOUR_MS;
    for (const { kind, text, path: file } of blocksOf(words, session, sessions - 1 - session)) {
      const metadata =
        kind === "command" ? { command: "npm test" } : file === undefined ? {} : { path: file };
      const id = script.create({ kind, text, status: "done", metadata });
      if (files !== undefined) writeFileSync(join(files, id.replaceAll("/", "_")), text);
      textBytes += Buffer.byteLength(text);
      if (++blocks % BLOCKS_PER_COMMIT === 0) await script.commit(store);
    }
    await script.commit(store);
  }
  await store.close();
  const made = { sessions, blocks, textBytes };
  writeFileSync(note, JSON.stringify(made));
  return { ...made, path };
}
