/**
 * `blockyard doctor`: is everything here that is needed, and is it well? One line per check, with its fix where there is
 * something to fix. Without `--repair` it changes nothing, starts nothing but `<agent> --version`, and prints no secret.
 */

import { makeConfig } from "../config/config.ts";
import { DATABASE_OPTION, HOME_OPTION, readArguments } from "./args.ts";
import type { Command } from "./command.ts";
import { print, printJson } from "./terminal.ts";

const options = {
  home: HOME_OPTION,
  database: DATABASE_OPTION,
  repair: {
    type: "boolean",
    summary: "re-import sessions that an earlier version imported twice; the old database is kept",
  },
  json: { type: "boolean", summary: "print the findings as JSON" },
} as const;

export const doctor: Command = {
  name: "doctor",
  usage: "doctor [--home DIR] [--database URL] [--repair] [--json]",
  summary: "check Node, the data directory, the database, the server, the agents and the page",
  examples: ["blockyard doctor", "blockyard doctor --json     # exit code 1 if a check fails"],
  options,
  async run(args) {
    const { values } = readArguments({ name: "doctor", options }, args, [0, 0]);
    const { home, database, credentials } = makeConfig({
      env: process.env,
      ...(values.home === undefined ? {} : { home: values.home }),
      ...(values.database === undefined ? {} : { database: values.database }),
    });
    if (values.repair)
      return (await import("./database-repair.ts")).repair(home, database, values.json === true);
    const { examine, line } = await import("./doctor-checks.ts");
    const findings = await examine(home, { ...credentials, ...process.env }, database);
    await (values.json ? printJson(findings) : print(findings.map(line).join("")));
    return findings.some(({ state }) => state === "fail") ? 1 : 0;
  },
};
