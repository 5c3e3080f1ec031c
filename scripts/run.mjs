/**
 * Runs one file of this repository on the right Node: `node scripts/run.mjs [--start] <file> [arguments]`. With --start the
 * packages that `npm start` needs are enough for it.
 */
import { runProgram, say } from "./setup.mjs";

const isStart = process.argv[2] === "--start";
const [file, ...args] = process.argv.slice(isStart ? 3 : 2);
if (file === undefined) {
  say("Usage: node scripts/run.mjs [--start] <file> [arguments]");
  process.exit(2);
}
await runProgram(file, args, { needs: isStart ? "start" : "all" });
