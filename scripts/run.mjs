/** Runs one file of this repository on the right Node: `node scripts/run.mjs <file> [arguments]`. */
import { runProgram, say } from "./setup.mjs";

const [file, ...args] = process.argv.slice(2);
if (file === undefined) {
  say("Usage: node scripts/run.mjs <file> [arguments]");
  process.exit(2);
}
await runProgram(file, args);
