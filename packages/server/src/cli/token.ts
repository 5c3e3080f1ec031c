/** `blockyard token`: credentials for agents and viewers. A token names its agent; nothing in a request can change that. */

import { limits, type Problem, plural } from "@blockyard/kernel/plain";
import type { Auth, CallerRole } from "../access/auth.ts";
import { makeConfig, prepareHome } from "../config/config.ts";
import { HOME_OPTION, JSON_OPTION, readArguments } from "./args.ts";
import { type BlockSource, known } from "./block-source.ts";
import { pageUrl } from "./client.ts";
import { type Command, CommandError, EXIT } from "./command.ts";
import { withClient } from "./command-client.ts";
import { lineWidth, localTime, printJson, wrapped } from "./terminal.ts";
import { asTyped } from "./typed-command.ts";

const ACTIONS = ["create", "list", "revoke"] as const;

const options = {
  home: HOME_OPTION,
  agent: {
    type: "string",
    value: "NAME",
    summary: "the agent's name: everything written with the token carries it; with list: only its tokens",
  },
  viewer: { type: "boolean", summary: "create a read-only token; with list: only those" },
  json: JSON_OPTION,
} as const;

export const token: Command = {
  name: "token",
  usage: "token create|list|revoke [--agent NAME] [--viewer] [--json]",
  summary: "create, list and revoke tokens for agents and viewers",
  examples: [
    "blockyard token create --agent codex-mcp",
    "blockyard token create --agent wall-screen --viewer",
    "blockyard token revoke --agent codex-mcp",
  ],
  options,
  choices: ACTIONS,
  async run(args) {
    const { values, positionals } = readArguments({ name: "token", options }, args, [
      1,
      1,
      "create, list or revoke",
    ]);
    const action = ACTIONS.find((known) => known === positionals[0]);
    if (action === undefined)
      throw new CommandError(`token cannot ${positionals[0]}. Use ${ACTIONS.join(", ")}`, EXIT.usage);
    const { home } = makeConfig({
      env: process.env,
      ...(values.home === undefined ? {} : { home: values.home }),
    });
    prepareHome(home);
    const { Auth } = await import("../access/auth.ts");
    const auth = new Auth(home, "owner", Date.now);
    if (action === "list") return list(auth, values);
    if (values.agent === undefined)
      throw new CommandError(
        `token ${action} needs an agent's name, for example: blockyard token ${action} --agent codex-mcp`,
        EXIT.usage,
      );
    const { agent } = values;
    const withDefaultClient = <T>(ask: (client: BlockSource) => Promise<T | Problem>) =>
      withClient({ home: values.home, create: true }, async (client) => known(await ask(client)));
    if (action === "create") {
      const role = values.viewer ? "viewer" : "agent";
      const { token: made } = await withDefaultClient((client) =>
        client.call("token.create", { agent, role }),
      );
      if (values.json) await printJson({ agent, role, token: made });
      else process.stdout.write(`${made}\n`);
      if (values.viewer)
        process.stderr.write(
          `For a browser: ${pageOf(home)}/?link=${auth.makeLink(made)} (works once; for another: ${asTyped("BLOCKYARD_TOKEN=<token> blockyard link")})\n`,
        );
      return 0;
    }
    const { revoked } = await withDefaultClient((client) => client.call("token.revoke", { agent }));
    if (revoked === 0)
      throw new CommandError(
        `there is no token for ${agent}. To list them: blockyard token list`,
        EXIT.nothing,
      );
    if (values.json) await printJson({ agent, revoked });
    else process.stdout.write(`${plural(revoked, "token")} for ${agent} revoked\n`);
    return EXIT.done;
  },
};

/** Where the page is, if a server runs. */
function pageOf(home: string): string {
  try {
    return pageUrl(home);
  } catch (error) {
    if (error instanceof CommandError) return "the page's address";
    throw error;
  }
}

const REQUESTS = `${limits.requestsPerMinute} requests per minute`;
const STORED = `${limits.blocksPerHour} blocks and ${limits.storedCharsPerHour / 1024 / 1024} Mi characters per hour`;
/** The quota of a token, and of all tokens of its name together. */
const QUOTA: Readonly<Record<CallerRole, string>> = {
  owner: "",
  agent: `${REQUESTS}, ${STORED}`,
  viewer: REQUESTS,
};

interface ListValues {
  readonly agent?: string | undefined;
  readonly viewer?: boolean | undefined;
  readonly json?: boolean | undefined;
}

async function list(auth: Auth, values: ListValues): Promise<number> {
  const all = auth.list();
  const tokens = all.filter(
    ({ agent, role }) =>
      (values.agent === undefined || agent === values.agent) && (!values.viewer || role === "viewer"),
  );
  if (values.json) {
    const rows = tokens.map(({ agent, role, createdAt }) => ({ agent, role, created_at: createdAt }));
    await printJson({ tokens: rows });
    return EXIT.done;
  }
  if (all.length === 0)
    process.stdout.write(asTyped("No tokens yet. Create one: blockyard token create --agent codex-mcp\n"));
  else if (tokens.length === 0) process.stdout.write("No such tokens.\n");
  const chars = Math.max(...tokens.map(({ agent }) => agent.length));
  for (const { agent, role, createdAt } of tokens)
    process.stdout.write(`${agent.padEnd(chars)}  ${role.padEnd(6)}  ${localTime(createdAt)}\n`);
  for (const role of ["agent", "viewer"] as const)
    if (tokens.some((each) => each.role === role))
      process.stderr.write(`${wrapped(`Each ${role}: ${QUOTA[role]}`, lineWidth())}\n`);
  return 0;
}
