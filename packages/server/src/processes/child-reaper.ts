/**
 * A separate program: waits until the server that started it is gone, then kills what the server's children left. It
 * notices the end by its standard input, which closes however the server dies, and does nothing before.
 *
 * Started by process-tracker.ts with the mark as its argument.
 */

import { killMarked } from "./child-mark.ts";

const [mark] = process.argv.slice(2);
process.stdin.on("error", () => undefined);
process.stdin.on("close", async () => {
  if (mark !== undefined && mark !== "") await killMarked(mark);
  process.exit(0);
});
process.stdin.resume();
// A terminal's Ctrl-C is the server's business: it still needs somebody when it dies of it.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => undefined);
