/**
 * Where the `blockyard` command begins. What Node makes of the sources is kept in the user's cache, which more than halves
 * the time that a short command takes; so this file loads nothing large before that is set up.
 */

import { enableCompileCache } from "node:module";
import { homedir } from "node:os";
import { join } from "node:path";
import { startClean } from "./app/clean-start.ts";
import { startsAgents } from "./app/starts-agents.ts";
import { closeInheritedFiles } from "./processes/inherited-files.ts";

const args = process.argv.slice(2);
if (startsAgents(args)) {
  closeInheritedFiles(args);
  startClean();
}
enableCompileCache(join(process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "blockyard"));
const { program } = await import("./cli/program.ts");
process.exitCode = await program(args);
