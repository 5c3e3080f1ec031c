/**
 * `blockyard session`: the browsers that are let in. Each has come by a link of its own; one is put out without the others.
 */

import { Auth } from "../auth.ts";
import { makeConfig, prepareHome } from "../config.ts";
import { HOME_OPTION, JSON_OPTION, readArguments } from "./args.ts";
import { type Command, CommandError, EXIT } from "./command.ts";
import { oneLine, print, printJson } from "./terminal.ts";

const options = { home: HOME_OPTION, json: JSON_OPTION } as const;
const NAME_CHARS = 80;

export const session: Command = {
  name: "session",
  usage: "session list|revoke [ID] [--json]",
  summary: "list the browsers that are let in, and put one out",
  examples: ["blockyard session list", "blockyard session revoke 3f2a90c1b7de4f02"],
  options,
  choices: ["list", "revoke"],
  async run(args) {
    const { values, positionals } = readArguments({ name: "session", options }, args, [1, 2]);
    const [action, id] = positionals;
    const { home } = makeConfig({
      env: process.env,
      ...(values.home === undefined ? {} : { home: values.home }),
    });
    prepareHome(home);
    const { sessions } = new Auth(home, "owner", Date.now);
    if (action === "revoke") {
      if (id === undefined)
        throw new CommandError("session revoke needs an id. blockyard session list shows them", EXIT.usage);
      if (!sessions.revoke(id)) throw new CommandError(`there is no session ${id}`, EXIT.nothing);
      await print(`Session ${id} revoked\n`);
      return 0;
    }
    if (action !== "list") throw new CommandError("session needs list or revoke", EXIT.usage);
    const rows = sessions.list().map(({ id: each, name, role, agent, createdAt, expiresAt }) => ({
      ...{ id: each, name, role, agent, created_at: createdAt, expires_at: expiresAt },
    }));
    if (values.json) await printJson({ sessions: rows });
    else if (rows.length === 0) await print("No sessions. blockyard link prints a link that opens one.\n");
    else
      for (const { id: each, name, role, agent, expires_at } of rows) {
        const until = new Date(expires_at).toISOString().slice(0, 10);
        await print(`${each}  ${role} ${agent}  until ${until}  ${oneLine(name, NAME_CHARS)}\n`);
      }
    return 0;
  },
};
