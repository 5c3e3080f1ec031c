/** Takes a database and its index out of the system's cache of files, as after a start of the machine. Where it cannot, it does not. */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

export function dropFromCache(database: string): void {
  const folder = `${database}.search`;
  const files = existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : [];
  for (const file of [database, ...files])
    spawnSync("dd", [`if=${file}`, "iflag=nocache", "count=0", "status=none"], { stdio: "ignore" });
}
