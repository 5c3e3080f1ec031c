/**
 * `blockyard doctor --repair`: takes out what an earlier version has imported twice. It works on a copy, which then takes the
 * database's place; the old one is kept.
 */

import { existsSync } from "node:fs";
import { join } from "node:path";
import { plural } from "@blockyard/kernel";
import type { DatabaseAddress } from "../config/database-address.ts";
import { type Repaired, repairDoubled } from "../import/doubled.ts";
import { restoreSqliteStore } from "../stores/sqlite/restore.ts";
import { CommandError, EXIT } from "./command.ts";
import { oneLine, print, printJson, printNote } from "./terminal.ts";

/** On a copy, which then takes the database's place. */
export async function repair(
  home: string,
  database: DatabaseAddress | undefined,
  isJson: boolean,
): Promise<number> {
  if (database)
    throw new CommandError("--repair is for the database in the data directory, not for PostgreSQL");
  const path = join(home, "blockyard.db");
  if (!existsSync(path)) throw new CommandError(`there is no database at ${path} yet`, EXIT.nothing);
  let all: readonly Repaired[] = [];
  const kept = await restoreSqliteStore(path, path, {
    replace: true,
    change: async (fresh) => {
      all = await repairDoubled(fresh);
      if (all.every(({ left }) => left !== undefined)) throw new NothingToRepair();
    },
  }).catch((error: unknown) => {
    if (error instanceof NothingToRepair) return undefined;
    throw error;
  });
  if (isJson) await printJson({ repaired: all, ...(kept === undefined ? {} : { kept }) });
  else await print(all.map(repairedLine).join(""));
  if (kept === undefined) printNote("Nothing was changed.");
  else printNote(`The previous database is at ${kept}`);
  return EXIT.done;
}

class NothingToRepair extends Error {}

function repairedLine({ conversation, doubles, title, left }: Repaired): string {
  const what = left === undefined ? `${plural(doubles, "block")} removed` : `unchanged: ${left}`;
  return `${conversation}  ${what}  ${oneLine(title, 60)}\n`;
}
