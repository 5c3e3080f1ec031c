/**
 * `npm run nodes`: two servers on one PostgreSQL database with a NATS broker, all real and started for it. Takes about
 * four minutes.
 *
 *   npm run nodes -- [words of titles…] [--full]
 *
 * With `--full` outages last, and kills are repeated, as the promises say: twenty minutes.
 *
 * Prints a line per check, and ends with exit code 1 if one fails.
 */
import { isKept, isWanted, words } from "../checks.ts";
import { startServer } from "../postgres/server.ts";
import { brokerChecks } from "./broker-checks.ts";
import { TestHarness } from "./harness.ts";
import { nodeChecks } from "./node-checks.ts";

const server = await startServer();
let failed = 0;
try {
  for (const check of [...nodeChecks, ...brokerChecks].filter(({ title }) => isWanted(title, words))) {
    const harness = await TestHarness.start(server);
    if (!(await isKept(check, harness))) {
      failed++;
      for (const { log } of harness.nodes) console.log(log.split("\n").slice(-12).join("\n"));
    }
    await harness.stop();
  }
} finally {
  await server.stop();
}
if (failed > 0) {
  console.log(`${failed} failed`);
  process.exitCode = 1;
}
process.exit();
