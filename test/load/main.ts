/**
 * The server under load: `npm run load -- [names…] [--minutes 10]`, and `npm run soak -- [--minutes 60]`. Each trial has a
 * server of its own, with `--store FILE` on a copy of that database. Prints a table of figures, what they should be, and whether they are; on the last line the same as
 * JSON. Ends with 1 if anything was missed.
 */
import { inspect, parseArgs } from "node:util";
import { Driver } from "../../bench/fanout/driver.ts";
import { floods } from "./flood.ts";
import { indexing } from "./indexing.ts";
import { crowd, slowReaders } from "./readers.ts";
import { soak } from "./soak.ts";
import { spread, tails } from "./spread.ts";
import { isKept, type Row, type Trial, tableOf } from "./trial.ts";
import { bigBlock, durable } from "./weight.ts";

/** What `npm run load` runs; the soak is asked for by name. */
const USUAL: readonly Trial[] = [spread, tails, durable, crowd, slowReaders, bigBlock, indexing, floods];
const TRIALS: readonly Trial[] = [...USUAL, soak];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { minutes: { type: "string" }, store: { type: "string" } },
});
process.exitCode = await main(positionals, values);

async function main(
  names: readonly string[],
  { minutes: given, store }: { readonly minutes?: string; readonly store?: string },
): Promise<number> {
  const unknown = names.filter((name) => !TRIALS.some((trial) => trial.name === name));
  const minutes = Number(given ?? (names.includes(soak.name) ? 60 : 10));
  if (unknown.length > 0 || !(minutes > 0)) {
    console.error(
      `Usage: npm run load -- [${TRIALS.map(({ name }) => name).join("|")}…] [--minutes N] [--store FILE]`,
    );
    return 2;
  }
  const rows: Row[] = [];
  for (const trial of names.length === 0 ? USUAL : TRIALS.filter(({ name }) => names.includes(name)))
    rows.push(...(await attempt(trial, minutes, store)));
  const pass = rows.every(isKept);
  console.log(`\n${tableOf(rows)}\n\n${pass ? "pass" : "MISSED"}`);
  console.log(JSON.stringify({ name: "load", minutes, rows, pass }));
  return pass ? 0 : 1;
}

async function attempt(trial: Trial, minutes: number, store: string | undefined): Promise<readonly Row[]> {
  console.log(`\n${trial.name}: ${trial.question}`);
  const driver = await Driver.open(store);
  try {
    const rows = await trial.run(driver, { minutes, tell: (text) => console.log(`  ${text}`) });
    return rows.length > 0 ? rows : [failed(trial)];
  } catch (error) {
    console.log(`  ${inspect(error)}\n  the server said last:\n${driver.server.log.slice(-2_000)}`);
    return [failed(trial)];
  } finally {
    await driver.close();
  }
}

function failed({ name }: Trial): Row {
  return { rule: "", figure: `${name} came to its end`, value: 0, target: { min: 1 } };
}
