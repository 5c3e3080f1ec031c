/**
 * `blockyard bench`: how fast is it here? A few seconds of measuring on the user's own machine, each figure beside the least that
 * anything could cost there, in alternating pairs. It works in a folder of its own beside the database, which it removes; what
 * is kept is only searched.
 */

import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeConfig } from "../config/config.ts";
import { HOME_OPTION, JSON_OPTION, readArguments } from "./args.ts";
import type { Figure } from "./bench-figures.ts";
import { type Command, EXIT } from "./command.ts";
import { print, printJson, styleFor } from "./terminal.ts";

const options = { home: HOME_OPTION, json: JSON_OPTION } as const;

export const bench: Command = {
  name: "bench",
  usage: "bench [--home DIR] [--json]",
  summary:
    "measure writes, latency to a viewer and search on this machine, compared with the theoretical minimum",
  examples: ["blockyard bench", "blockyard bench --json     # one figure per line, for programs"],
  options,
  async run(args) {
    const { values } = readArguments({ name: "bench", options }, args, [0, 0]);
    const { home } = makeConfig({
      env: process.env,
      ...(values.home === undefined ? {} : { home: values.home }),
    });
    // Beside the database: another folder may be on another device.
    const folder = mkdtempSync(join(existsSync(home) ? home : tmpdir(), "bench-"));
    try {
      const { figures } = await import("./bench-figures.ts");
      for await (const figure of figures(folder, home)) await show(figure, values.json === true);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
    return EXIT.done;
  },
};

async function show(figure: Figure, isJson: boolean): Promise<void> {
  if (isJson) return printJson(figure);
  const style = styleFor(process.stdout);
  const { check, value, unit, beside, floor, ratio } = figure;
  const compared =
    floor === undefined
      ? ""
      : style.dim(`   ${beside}: ${rounded(floor)} ${unit} (${rounded(ratio ?? 0)} x)`);
  await print(`${check.padEnd(38)} ${style.bold(`${rounded(value)} ${unit}`)}${compared}\n`);
}

function rounded(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString("en") : String(Number(value.toPrecision(2)));
}
