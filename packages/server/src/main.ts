/**
 * The `blockyard` command. Each command is a file in cli/; this one only finds it and turns what goes wrong into one
 * sentence with its fix.
 */

import { AuthError } from "./auth.ts";
import { type Command, CommandError } from "./cli/command.ts";
import { doctor } from "./cli/doctor.ts";
import { help } from "./cli/help.ts";
import { link } from "./cli/link.ts";
import { mcp } from "./cli/mcp.ts";
import { serveCommand } from "./cli/serve.ts";
import { token } from "./cli/token.ts";
import { ConfigError } from "./config.ts";

const COMMANDS: ReadonlyMap<string, Command> = new Map(
  [serveCommand, link, mcp, token, doctor].map((command) => [command.name, command]),
);

async function main(args: readonly string[]): Promise<number> {
  const [first, ...rest] = args;
  if (first === "help" || first === "--help" || first === "-h") return help([...COMMANDS.values()], rest[0]);
  const named = first === undefined ? undefined : COMMANDS.get(first);
  const command = named ?? serveCommand;
  return command.run(named ? rest : args);
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  const known = error instanceof ConfigError || error instanceof CommandError || error instanceof AuthError;
  process.stderr.write(
    known ? `blockyard: ${error.message}\n` : `blockyard: ${String((error as Error)?.stack ?? error)}\n`,
  );
  process.exitCode = 1;
}
