/**
 * `blockyard link`: the private link of the server that runs now.
 */

import { makeConfig } from "../config.ts";
import { HOME_OPTION, readArguments } from "./args.ts";
import { pageUrl, serverClient } from "./client.ts";
import type { Command } from "./command.ts";

const options = { home: HOME_OPTION } as const;

export const link: Command = {
  name: "link",
  usage: "link [--home DIR]",
  summary: "print the private link of the running server again",
  examples: ["blockyard link"],
  options,
  async run(args) {
    const { values } = readArguments({ name: "link", options }, args, [0, 0]);
    const { token } = serverClient({ home: values.home });
    const { home } = makeConfig({
      env: process.env,
      ...(values.home === undefined ? {} : { home: values.home }),
    });
    process.stdout.write(`${pageUrl(home)}/?token=${token}\n`);
    return 0;
  },
};
