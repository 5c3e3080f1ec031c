/**
 * `blockyard link`: the private link of the server that runs now. It is tried before it is printed: with an agent's token
 * in the environment it would lead nowhere.
 */

import { makeConfig } from "../config.ts";
import { HOME_OPTION, readArguments } from "./args.ts";
import { pageUrl, serverClient, TokenRefused } from "./client.ts";
import { type Command, CommandError } from "./command.ts";

const options = { home: HOME_OPTION } as const;

export const link: Command = {
  name: "link",
  usage: "link [--home DIR]",
  summary: "print the private link of the running server again",
  examples: ["blockyard link"],
  options,
  async run(args) {
    const { values } = readArguments({ name: "link", options }, args, [0, 0]);
    const client = serverClient({ home: values.home });
    const { token } = client;
    const { home } = makeConfig({
      env: process.env,
      ...(values.home === undefined ? {} : { home: values.home }),
    });
    const answer = await client.fetch(`/?token=${token}`, { redirect: "manual" }).catch(() => undefined);
    if (answer === undefined || answer.status >= 400) throw whyNot(client.url, answer);
    process.stdout.write(`${pageUrl(home)}/?token=${token}\n`);
    return 0;
  },
};

function whyNot(url: string, answer: Response | undefined): CommandError {
  switch (answer?.status) {
    case undefined:
      return new CommandError(`the server at ${url} does not answer. Start it with: blockyard`);
    case 401:
      return new TokenRefused(url);
    case 403:
      return new CommandError(
        "BLOCKYARD_TOKEN is an agent's: it opens no page. For the owner's link, unset it and try again",
      );
    default:
      return new CommandError(`the server at ${url} does not take its own link (HTTP ${answer?.status})`);
  }
}
