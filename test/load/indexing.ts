/**
 * [Q31] What the server takes of memory while it makes the search index of a store that has none, and answers searches meanwhile. With
 * `--store` the index of that store's copy is made anew; otherwise a store of 100 MB is made.
 */
import { cpSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import type { Driver } from "../../bench/fanout/driver.ts";
import { sessionStore } from "../../bench/search/session-store.ts";
import { indexPath } from "../../packages/server/src/stores/sqlite/search/index-folder.ts";
import type { Trial } from "./trial.ts";

const TEXT_BYTES = 100e6;
const ASK_MS = 500;

export const indexing: Trial = {
  name: "indexing",
  question:
    "How much memory does it take to make the search index of a large store, and to search meanwhile?",
  async run(driver, { tell }) {
    await driver.restart(() => withoutIndex(join(driver.home, "blockyard.db")));
    const restMb = driver.residentMb();
    const { outcome: searches, peakMb } = await driver.peakMb(untilIndexed(driver, tell));
    return [
      { rule: "Q31", figure: "searches while the index was made", value: searches, target: { min: 1 } },
      { rule: "Q31", figure: "memory at rest, MiB", value: restMb },
      {
        rule: "Q31",
        figure: "memory beyond that, at most, MiB",
        value: peakMb - restMb,
        target: { max: 300 },
      },
    ];
  },
};

/** Removes the index of a database that is closed; puts one with sessions there, if it has none. */
async function withoutIndex(path: string): Promise<void> {
  const { size } = statSync(path);
  if (size < TEXT_BYTES / 4) {
    const folder = mkdtempSync(join(tmpdir(), "blockyard-load-indexing-"));
    const made = await sessionStore(folder, TEXT_BYTES);
    for (const name of readdirSync(join(path, ".."))) {
      if (name.startsWith("blockyard.db")) rmSync(join(path, "..", name), { recursive: true });
    }
    cpSync(made.path, path);
    rmSync(folder, { recursive: true });
  }
  rmSync(indexPath(path), { recursive: true, force: true });
}

/** Searches again and again; gives how often that was while the index was not complete. */
async function untilIndexed({ server }: Driver, tell: (text: string) => void): Promise<number> {
  for (let searches = 0; ; searches++) {
    const { indexing: state } = await server.do("kernel.search", {
      query: `absent${searches}`,
      kinds: "all",
    });
    if (state === undefined) return searches;
    if (searches % 20 === 0) tell(`${state.indexed} of ${state.total} conversations are indexed`);
    await setTimeout(ASK_MS);
  }
}
