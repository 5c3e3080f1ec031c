/**
 * `blockyard link`: the private link of the server that runs now.
 */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { makeConfig } from "../config.ts";
import { type Command, CommandError } from "./command.ts";

export const link: Command = {
  name: "link",
  usage: "link [--home DIR]",
  summary: "print the private link of the running server again",
  examples: ["blockyard link"],
  async run(args) {
    const { values } = parseArgs({ args: [...args], options: { home: { type: "string" } } });
    const { home } = makeConfig({
      env: process.env,
      ...(values.home === undefined ? {} : { home: values.home }),
    });
    const { url } = runningServer(home);
    const token = readFileSync(join(home, "token"), "utf8").trim();
    process.stdout.write(`${url}/?token=${token}\n`);
    return 0;
  },
};

/** Where the server of this home says that it listens. */
export function runningServer(home: string): { readonly url: string; readonly pid: number } {
  try {
    return JSON.parse(readFileSync(join(home, "server.json"), "utf8")) as { url: string; pid: number };
  } catch {
    throw new CommandError("no server has been started here yet. Start one with: blockyard");
  }
}
