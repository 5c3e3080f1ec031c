/**
 * `blockyard link`: a link that lets one browser into the running server, once. Each makes a session of its own, which
 * `blockyard session` lists and revokes.
 */

import { AuthError } from "../access/auth-error.ts";
import { makeConfig } from "../config/config.ts";
import { HOME_OPTION, readArguments } from "./args.ts";
import { pageUrl, serverClient, TokenRefused } from "./client.ts";
import { type Command, CommandError } from "./command.ts";

const options = {
  home: HOME_OPTION,
  name: { type: "string", value: "NAME", summary: "the session's name in blockyard session list" },
} as const;

export const link: Command = {
  name: "link",
  usage: "link [--name NAME] [--home DIR]",
  summary: "print a link that signs one browser in, once",
  examples: ["blockyard link", 'blockyard link --name "the laptop"'],
  options,
  async run(args) {
    const { values } = readArguments({ name: "link", options }, args, [0, 0]);
    const client = serverClient({ home: values.home });
    const { home } = makeConfig({
      env: process.env,
      ...(values.home === undefined ? {} : { home: values.home }),
    });
    const answer = await client.fetch("/health").catch(() => undefined);
    if (answer?.status === 401) throw new TokenRefused(client.url);
    if (!answer?.ok)
      throw new CommandError(`the server at ${client.url} does not answer. Start it: blockyard`);
    process.stdout.write(`${pageUrl(home)}/?link=${await codeFor(home, client.token, values.name)}\n`);
    return 0;
  },
};

/** With a viewer's token in the environment the link is the viewer's. */
async function codeFor(home: string, token: string, name: string | undefined): Promise<string> {
  const { Auth, ownerName } = await import("../access/auth.ts");
  try {
    return new Auth(home, ownerName(), Date.now).makeLink(token, name ?? "");
  } catch (error) {
    if (!(error instanceof AuthError)) throw error;
    throw new CommandError(
      "BLOCKYARD_TOKEN is an agent's token or belongs to another data directory, and cannot open the page. Unset it and try again",
    );
  }
}
