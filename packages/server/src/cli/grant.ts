/**
 * `blockyard grant`: which guarded files agents and viewers may read and edit. Without a path it lists the grants.
 */

import { HOME_OPTION, JSON_OPTION, readArguments } from "./args.ts";
import { known } from "./block-source.ts";
import { type Command, CommandError, EXIT } from "./command.ts";
import { openClient } from "./command-client.ts";
import { GRANTED_NAME_CHARS } from "./limits.ts";
import { lineWidth, localTime, oneLine, print, printJson, wrapped } from "./terminal.ts";

const options = {
  home: HOME_OPTION,
  json: JSON_OPTION,
  agent: { type: "string", value: "NAME", summary: "only for this agent or viewer" },
  revoke: { type: "boolean", summary: "revoke the grant" },
} as const;

export const grant: Command = {
  name: "grant",
  usage: "grant [path] [--agent NAME] [--revoke] [--json]",
  summary: "let agents read and edit a guarded file, or list the grants",
  examples: [
    "blockyard grant package.json --agent codex-mcp",
    "blockyard grant package.json --agent codex-mcp --revoke",
    "blockyard grant",
  ],
  options,
  async run(args) {
    const { values, positionals } = readArguments({ name: "grant", options }, args, [0, 1]);
    const [path] = positionals;
    if (path === undefined && (values.agent !== undefined || values.revoke))
      throw new CommandError(
        "grant needs a file's path, for example: blockyard grant package.json",
        EXIT.usage,
      );
    const client = await openClient({ home: values.home });
    try {
      const tool = path === undefined ? "file.grants" : values.revoke ? "file.revoke" : "file.grant";
      const input =
        path === undefined ? {} : { path, ...(values.agent === undefined ? {} : { agent: values.agent }) };
      const { grants } = known(await client.call(tool, input));
      if (values.json) await printJson({ grants });
      else if (grants.length === 0) await print("No grants. Agents and viewers cannot read guarded files.\n");
      else
        for (const { path: file, agent, by, at, reason } of grants) {
          const who = `${agent ?? "all agents and viewers"}  by ${by} ${localTime(at)}`;
          const line = `${oneLine(file, GRANTED_NAME_CHARS)}  ${who}  (${reason})`;
          await print(`${wrapped(line, lineWidth(), 4)}\n`);
        }
      return 0;
    } finally {
      await client.close();
    }
  },
};
