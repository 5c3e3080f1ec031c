/**
 * `npm run nodes`: two servers on one PostgreSQL database with a NATS broker, all real and started for it. Takes about
 * four minutes.
 *
 *   npm run nodes -- [words of titles…]
 *
 * Prints a line per check, and ends with exit code 1 if one fails.
 */
import { startServer } from "../postgres/server.ts";
import { brokerChecks } from "./broker-checks.ts";
import { nodeChecks } from "./node-checks.ts";
import { Yard } from "./yard.ts";

const words = process.argv.slice(2);
const server = await startServer();
let failed = 0;
try {
  for (const { title, run } of [...nodeChecks, ...brokerChecks]) {
    if (words.length > 0 && !words.some((word) => title.includes(word))) continue;
    const yard = await Yard.start(server);
    const startMs = performance.now();
    const outcome = await run(yard).then(
      (told) => ({ told }),
      (error: unknown) => ({ error }),
    );
    const took = `${((performance.now() - startMs) / 1_000).toFixed(1)} s`;
    if ("error" in outcome) {
      failed++;
      const { error } = outcome;
      console.log(`FAILED  ${title}  ${took}\n${error instanceof Error ? error.stack : String(error)}`);
      for (const { log } of yard.nodes) console.log(log.split("\n").slice(-12).join("\n"));
    } else console.log(`ok  ${title}  ${took}  ${outcome.told}`);
    await yard.stop();
  }
} finally {
  await server.stop();
}
if (failed > 0) {
  console.log(`${failed} failed`);
  process.exitCode = 1;
}
process.exit();
