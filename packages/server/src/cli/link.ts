/**
 * `blockyard link`: the private link of the server that runs now.
 */

import { parseArgs } from "node:util";
import { serverClient } from "./client.ts";
import type { Command } from "./command.ts";

export const link: Command = {
  name: "link",
  usage: "link [--home DIR]",
  summary: "print the private link of the running server again",
  examples: ["blockyard link"],
  async run(args) {
    const { values } = parseArgs({ args: [...args], options: { home: { type: "string" } } });
    const { url, token } = serverClient({ home: values.home });
    process.stdout.write(`${url}/?token=${token}\n`);
    return 0;
  },
};
