/**
 * `blockyard search`: a pattern in every block, as grep prints it, with the ids that `show` and the tools take.
 */

import { KINDS } from "@blockyard/kernel";
import { HOME_OPTION, JSON_OPTION, readArguments } from "./args.ts";
import { type Command, EXIT } from "./command.ts";
import { wholeId } from "./named-id.ts";
import { oneLine, print, printJson, styleFor, terminalWidth } from "./terminal.ts";
import { known, openYard } from "./yard.ts";

const options = {
  home: HOME_OPTION,
  json: JSON_OPTION,
  literal: { type: "boolean", short: "F", summary: "take the pattern as text, not as a regular expression" },
  "ignore-case": { type: "boolean", short: "i", summary: "upper and lower case are the same" },
  kind: {
    type: "string",
    multiple: true,
    value: "KIND",
    summary: "only blocks of this kind",
    choices: KINDS,
  },
  conversation: { type: "string", short: "c", value: "ID", summary: "only in this conversation" },
} as const;

interface Match {
  readonly line: number;
  readonly content: string;
}

interface Hits {
  readonly blocks: readonly {
    readonly block_id: string;
    readonly kind: string;
    readonly matches: readonly Match[];
  }[];
  readonly more: boolean;
}

export const search: Command = {
  name: "search",
  usage: "search <pattern> [-i] [-F] [--kind KIND]… [-c ID] [--json]",
  summary: "find a pattern in every block",
  examples: [
    'blockyard search "TODO|FIXME" -i',
    "blockyard search -F 'a[0]' --kind code",
    "blockyard search panic --json",
  ],
  options,
  async run(args) {
    const { values, positionals } = readArguments({ name: "search", options }, args, [1, 1]);
    const yard = await openYard({ home: values.home });
    try {
      const within =
        values.conversation === undefined ? {} : { conversation: await wholeId(yard, values.conversation) };
      const input = {
        query: positionals[0],
        literal: values.literal === true,
        ignore_case: values["ignore-case"] === true,
        context_lines: 0,
        kinds: values.kind ?? "all",
        max_blocks: 200,
        ...within,
      };
      const found = known(await yard.call("kernel.search", input)) as unknown as Hits;
      await printHits(found, values.json === true);
      if (found.more)
        process.stderr.write("Not everything was looked at: narrow the search with -c or --kind.\n");
      return found.blocks.length > 0 ? EXIT.done : EXIT.nothing;
    } finally {
      await yard.close();
    }
  },
};

async function printHits({ blocks }: Hits, isJson: boolean): Promise<void> {
  const style = styleFor(process.stdout);
  for (const block of blocks) {
    if (isJson) await printJson(block);
    else
      for (const { line, content } of block.matches) {
        const where = `${style.cyan(block.block_id)}${style.dim(`:${line}`)}`;
        await print(
          `${where}: ${oneLine(content, Math.max(40, terminalWidth() - block.block_id.length - 8))}\n`,
        );
      }
  }
}
