/**
 * `npm run postgres`: the store on PostgreSQL, against a real server that is started for it. Takes about two minutes.
 *
 *   npm run postgres -- [words of titles…]
 *
 * Prints a line per check, and ends with exit code 1 if one fails.
 */
import { contentChecks } from "./contents.contract.ts";
import { contractChecks } from "./contract.ts";
import { lossChecks } from "./losses.contract.ts";
import { nodeChecks } from "./nodes.contract.ts";
import { openingChecks } from "./opening.contract.ts";
import { startServer } from "./server.ts";
import { servingChecks } from "./serving.contract.ts";

// A killed server looks through all its files when it starts again: first, while there are few.
const checks = [
  ...[...lossChecks, ...contractChecks, ...openingChecks],
  ...[...contentChecks, ...nodeChecks, ...servingChecks],
];
const words = process.argv.slice(2);
const server = await startServer();
console.log(server.version);
let failed = 0;
try {
  for (const { title, run } of checks) {
    if (words.length > 0 && !words.some((word) => title.includes(word))) continue;
    const startMs = performance.now();
    const outcome = await run(server).then(
      (told) => ({ told }),
      (error: unknown) => ({ error }),
    );
    const took = `${((performance.now() - startMs) / 1_000).toFixed(1)} s`;
    if ("error" in outcome) {
      failed++;
      const { error } = outcome;
      console.log(`FAILED  ${title}  ${took}\n${error instanceof Error ? error.stack : String(error)}`);
    } else console.log(`ok  ${title}  ${took}${outcome.told === undefined ? "" : `  ${outcome.told}`}`);
  }
} finally {
  await server.stop();
}
if (failed > 0) {
  console.log(`${failed} failed`);
  process.exitCode = 1;
}
