/**
 * `blockyard import`: imports the sessions that agents saved on this machine, or the given files: session logs and
 * exports. A repeated import adds only what is new; with --watch it continues.
 */

import { LOGGING_PROVIDERS } from "@blockyard/providers/names";
import { HOME_OPTION, JSON_OPTION, readArguments } from "./args.ts";
import { type Command, CommandError, EXIT } from "./command.ts";

const options = {
  home: HOME_OPTION,
  json: JSON_OPTION,
  provider: {
    type: "string",
    multiple: true,
    value: "NAME",
    summary: "only sessions of this agent",
    choices: LOGGING_PROVIDERS,
  },
  watch: { type: "boolean", short: "w", summary: "keep running and import sessions as they grow" },
  "dry-run": { type: "boolean", short: "n", summary: "list what would be imported" },
} as const;

export const importCommand: Command = {
  name: "import",
  usage: "import [file…] [--provider NAME] [--watch] [--dry-run] [--json]",
  summary: "import sessions that Claude Code and Codex saved, or exports",
  examples: [
    "blockyard import                     # everything new on this machine",
    "blockyard import --provider codex --watch",
    "blockyard import k3vq2mz.jsonl       # what blockyard export -f jsonl wrote",
  ],
  options,
  async run(args) {
    const { values, positionals } = readArguments({ name: "import", options }, args, [0, 10_000]);
    const alone = values.watch ? "--watch" : values["dry-run"] ? "--dry-run" : undefined;
    if (alone !== undefined && positionals.length > 0)
      throw new CommandError(
        `${alone} imports the sessions found on this machine and takes no files\nTry: blockyard help import`,
        EXIT.usage,
      );
    const { importSessions } = await import("./import-sessions.ts");
    return importSessions(positionals, {
      home: values.home,
      only: values.provider,
      isJson: values.json === true,
      isDry: values["dry-run"] === true,
      isWatching: values.watch === true,
    });
  },
};
