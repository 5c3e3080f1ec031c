/**
 * `blockyard search`: a pattern in every block, as grep prints it, with the ids that `show` and the tools take.
 */

import { setTimeout } from "node:timers/promises";
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
  all: { type: "boolean", summary: "every match; waits for the search index, if it is being made" },
} as const;

/** How often is asked whether the index is done. */
const INDEXING_MS = 250;

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
  /** Where the next page begins. */
  readonly next?: string;
  readonly indexing?: { readonly indexed: number; readonly total: number };
}

export const search: Command = {
  name: "search",
  usage: "search <pattern> [-i] [-F] [--kind KIND]… [-c ID] [--all] [--json]",
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
      let blocks = 0;
      let after: string | undefined;
      for (;;) {
        const page = { ...input, ...(after === undefined ? {} : { after }) };
        const found = known(await yard.call("kernel.search", page)) as unknown as Hits;
        if (values.all === true && found.indexing !== undefined) {
          await setTimeout(INDEXING_MS);
          continue;
        }
        await printHits(found, values.json === true);
        blocks += found.blocks.length;
        // A page that ends where it began would be the same again.
        const canGoOn = found.next !== undefined && found.next !== after;
        if (values.all !== true || !canGoOn) {
          process.stderr.write(restOf(found, canGoOn));
          return blocks > 0 ? EXIT.done : EXIT.nothing;
        }
        after = found.next;
      }
    } finally {
      await yard.close();
    }
  },
};

/** What the reader has to know of what was not looked at. */
function restOf({ more, indexing }: Hits, canGoOn: boolean): string {
  const still =
    indexing === undefined
      ? ""
      : `Still indexing: ${indexing.indexed} of ${indexing.total} conversations. Matches in the others may be missing.\n`;
  if (!more) return still;
  if (canGoOn) return `${still}There may be more: --all goes on, -c and --kind narrow the search.\n`;
  const hint = indexing === undefined ? "" : "--all waits for the index, ";
  return `${still}Not everything was looked at: ${hint}-c and --kind narrow the search.\n`;
}

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
