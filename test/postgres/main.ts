/**
 * `npm run postgres`: the store on PostgreSQL, against a real server that is started for it. Takes about ten minutes.
 *
 *   npm run postgres -- [words of titles…] [--full]
 *
 * With `--full` connections are lost, and servers killed, as often as the promises say: half an hour.
 *
 * Prints a line per check, and ends with exit code 1 if one fails.
 */
import { isKept, isWanted, words } from "../checks.ts";
import { contentChecks } from "./contents.contract.ts";
import { contractChecks } from "./contract.ts";
import { importChecks } from "./imports.contract.ts";
import { lossChecks } from "./losses.contract.ts";
import { nodeChecks } from "./nodes.contract.ts";
import { openingChecks } from "./opening.contract.ts";
import { closeBrowser, outageChecks } from "./outages.contract.ts";
import { outlineChecks } from "./outlines.contract.ts";
import { startServer } from "./server.ts";
import { servingChecks } from "./serving.contract.ts";

// A killed server looks through all its files when it starts again: first, while there are few.
const checks = [
  ...[...lossChecks, ...contractChecks, ...openingChecks],
  ...[...contentChecks, ...outlineChecks, ...nodeChecks, ...servingChecks, ...importChecks, ...outageChecks],
];
const server = await startServer();
console.log(server.version);
let failed = 0;
try {
  for (const check of checks.filter(({ title }) => isWanted(title, words)))
    if (!(await isKept(check, server))) failed++;
} finally {
  await closeBrowser();
  await server.stop();
}
if (failed > 0) {
  console.log(`${failed} failed`);
  process.exitCode = 1;
}
// A check that has failed may have left something running.
process.exit();
