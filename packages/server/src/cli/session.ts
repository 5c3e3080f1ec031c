/**
 * `blockyard session`: the browsers that are let in. Each has come by a link of its own; one is put out without the others.
 */

import { HOME_OPTION, JSON_OPTION, readArguments } from "./args.ts";
import { type BlockSource, known } from "./block-source.ts";
import { type Command, CommandError, EXIT } from "./command.ts";
import { withClient } from "./command-client.ts";
import { SESSION_NAME_CHARS } from "./limits.ts";
import { localTime, oneLine, print, printJson } from "./terminal.ts";
import { asTyped } from "./typed-command.ts";

const options = { home: HOME_OPTION, json: JSON_OPTION } as const;

export const session: Command = {
  name: "session",
  usage: "session list|revoke [ID] [--json]",
  summary: "list signed-in browsers or sign one out",
  examples: ["blockyard session list", "blockyard session revoke 3f2a90c1b7de4f02"],
  options,
  choices: ["list", "revoke"],
  async run(args) {
    const { values, positionals } = readArguments({ name: "session", options }, args, [
      1,
      2,
      "list or revoke",
    ]);
    const [action, id] = positionals;
    if (action !== "list" && action !== "revoke")
      throw new CommandError("session needs list or revoke", EXIT.usage);
    if (action === "revoke" && id === undefined)
      throw new CommandError("session revoke needs an id. List them: blockyard session list", EXIT.usage);
    if (action === "revoke" && !/^[0-9a-f]{16}$/.test(id ?? ""))
      throw new CommandError(
        `there is no session ${oneLine(id ?? "", SESSION_NAME_CHARS)}. List them: blockyard session list`,
        EXIT.nothing,
      );
    return withClient({ home: values.home, create: true }, (client) =>
      action === "list" ? list(client, values.json === true) : revoke(client, id ?? ""),
    );
  },
};

async function revoke(client: BlockSource, id: string): Promise<number> {
  known(await client.call("session.revoke", { id }));
  await print(`Session ${id} revoked\n`);
  return 0;
}

async function list(client: BlockSource, asJson: boolean): Promise<number> {
  const { sessions: rows } = known(await client.call("session.list", {}));
  if (asJson) await printJson({ sessions: rows });
  else if (rows.length === 0) await print(asTyped("No sessions. To sign a browser in: blockyard link\n"));
  else
    for (const { id: each, name, role, agent, expires_at } of rows) {
      const until = localTime(expires_at).slice(0, 10);
      await print(`${each}  ${role} ${agent}  until ${until}  ${oneLine(name, SESSION_NAME_CHARS)}\n`);
    }
  return 0;
}
