/**
 * `blockyard session`: the browsers that are let in. Each has come by a link of its own; one is put out without the others.
 */

import type { Json } from "@blockyard/kernel";
import { HOME_OPTION, JSON_OPTION, readArguments } from "./args.ts";
import { type Command, CommandError, EXIT } from "./command.ts";
import { oneLine, print, printJson } from "./terminal.ts";
import { known, withYard, type Yard } from "./yard.ts";

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
    if (action !== "list" && action !== "revoke")
      throw new CommandError("session needs list or revoke", EXIT.usage);
    if (action === "revoke" && id === undefined)
      throw new CommandError("session revoke needs an id. blockyard session list shows them", EXIT.usage);
    if (action === "revoke" && !/^[0-9a-f]{16}$/.test(id ?? ""))
      throw new CommandError(`there is no session ${oneLine(id ?? "", NAME_CHARS)}`, EXIT.nothing);
    return withYard({ home: values.home, create: true }, (yard) =>
      action === "list" ? list(yard, values.json === true) : revoke(yard, id ?? ""),
    );
  },
};

async function revoke(yard: Yard, id: string): Promise<number> {
  known(await yard.call("session.revoke", { id }));
  await print(`Session ${id} revoked\n`);
  return 0;
}

interface Row {
  readonly id: string;
  readonly name: string;
  readonly role: string;
  readonly agent: string;
  readonly expires_at: number;
}

async function list(yard: Yard, asJson: boolean): Promise<number> {
  const { sessions: rows } = known(await yard.call("session.list", {})) as unknown as {
    readonly sessions: readonly Row[];
  };
  if (asJson) await printJson({ sessions: rows as unknown as Json });
  else if (rows.length === 0) await print("No sessions. blockyard link prints a link that opens one.\n");
  else
    for (const { id: each, name, role, agent, expires_at } of rows) {
      const until = new Date(expires_at).toISOString().slice(0, 10);
      await print(`${each}  ${role} ${agent}  until ${until}  ${oneLine(name, NAME_CHARS)}\n`);
    }
  return 0;
}
