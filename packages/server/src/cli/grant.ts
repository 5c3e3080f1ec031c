/**
 * `blockyard grant`: which guarded files agents and viewers may read and edit. Without a path it lists the grants.
 */

import { HOME_OPTION, JSON_OPTION, readArguments } from "./args.ts";
import { type Command, CommandError, EXIT } from "./command.ts";
import { oneLine, print, printJson } from "./terminal.ts";
import { known, openYard } from "./yard.ts";

const options = {
  home: HOME_OPTION,
  json: JSON_OPTION,
  agent: { type: "string", value: "NAME", summary: "for this agent or viewer alone, not for all" },
  revoke: { type: "boolean", summary: "take the grant back" },
} as const;

interface Grants {
  readonly grants: readonly {
    readonly path: string;
    readonly agent?: string;
    readonly by: string;
    readonly at: number;
    readonly reason: string;
  }[];
}

const NAME_CHARS = 200;

export const grant: Command = {
  name: "grant",
  usage: "grant [path] [--agent NAME] [--revoke] [--json]",
  summary: "let agents read and edit a guarded file, or list what they may",
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
        "grant needs the path of a file. For example: blockyard grant package.json",
        EXIT.usage,
      );
    const yard = await openYard({ home: values.home });
    try {
      const tool = path === undefined ? "file.grants" : values.revoke ? "file.revoke" : "file.grant";
      const input =
        path === undefined ? {} : { path, ...(values.agent === undefined ? {} : { agent: values.agent }) };
      const { grants } = known(await yard.call(tool, input)) as unknown as Grants;
      if (values.json) await printJson({ grants });
      else if (grants.length === 0) await print("No grants. Agents and viewers read no guarded file.\n");
      else
        for (const { path: file, agent, by, at, reason } of grants) {
          const who = `${agent ?? "all agents and viewers"}  by ${by} ${new Date(at).toISOString()}`;
          await print(`${oneLine(file, NAME_CHARS)}  ${who}  (${reason})\n`);
        }
      return 0;
    } finally {
      await yard.close();
    }
  },
};
