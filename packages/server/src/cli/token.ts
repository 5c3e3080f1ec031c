/**
 * `blockyard token`: credentials for agents and viewers. A token names its agent; nothing in a request can change that.
 */

import { parseArgs } from "node:util";
import { Auth } from "../auth.ts";
import { makeConfig, prepareHome } from "../config.ts";
import { type Command, CommandError } from "./command.ts";

export const token: Command = {
  name: "token",
  usage: "token create|list|revoke [--agent NAME] [--viewer]",
  summary: "make, list and take back tokens for agents and viewers",
  examples: [
    "blockyard token create --agent codex",
    "blockyard token create --agent wall-screen --viewer",
    "blockyard token revoke --agent codex",
  ],
  async run(args) {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { agent: { type: "string" }, viewer: { type: "boolean" }, home: { type: "string" } },
    });
    const { home } = makeConfig({
      env: process.env,
      ...(values.home === undefined ? {} : { home: values.home }),
    });
    prepareHome(home);
    const auth = new Auth(home, "owner", Date.now);
    if (positionals[0] === "list") return list(auth);
    if (values.agent === undefined)
      throw new CommandError("which agent? For example: blockyard token create --agent codex");
    if (positionals[0] === "create") {
      process.stdout.write(`${auth.create(values.agent, values.viewer ? "viewer" : "agent")}\n`);
      return 0;
    }
    if (positionals[0] !== "revoke") throw new CommandError("token create, token list or token revoke");
    const revoked = auth.revoke(values.agent);
    process.stdout.write(`${revoked} token${revoked === 1 ? "" : "s"} of ${values.agent} taken back\n`);
    return revoked > 0 ? 0 : 1;
  },
};

function list(auth: Auth): number {
  const tokens = auth.list();
  if (tokens.length === 0)
    process.stdout.write("No tokens yet. Make one: blockyard token create --agent codex\n");
  for (const { agent, role, createdAt } of tokens) {
    process.stdout.write(`${agent}  ${role}  ${new Date(createdAt).toISOString()}\n`);
  }
  return 0;
}
