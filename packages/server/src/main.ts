/**
 * Where the `blockyard` command begins. What Node makes of the sources is kept in the user's cache, which more than halves
 * the time that a short command takes; so this file loads nothing before that is set up.
 */

import { enableCompileCache } from "node:module";
import { homedir } from "node:os";
import { join } from "node:path";

enableCompileCache(join(process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "blockyard"));
const { program } = await import("./cli/program.ts");
process.exitCode = await program(process.argv.slice(2));
