/** `blockyard search`: a pattern in every block, as grep prints it, with the ids that `show` and the tools take. */

import { setTimeout } from "node:timers/promises";
import { hitText, isProblem, KINDS, type Kind } from "@blockyard/kernel/plain";
import type { ToolAnswer } from "../contract/index.ts";
import { HOME_OPTION, JSON_OPTION, readArguments } from "./args.ts";
import { known } from "./block-source.ts";
import { type Command, CommandError, EXIT } from "./command.ts";
import { openClient } from "./command-client.ts";
import { INDEXING_MS } from "./limits.ts";
import { wholeId } from "./named-id.ts";
import { print, printJson, safeText, styleFor, terminalWidth } from "./terminal.ts";

const options = {
  home: HOME_OPTION,
  json: JSON_OPTION,
  literal: {
    type: "boolean",
    short: "F",
    summary: "match the pattern as plain text, not as a regular expression",
  },
  "ignore-case": { type: "boolean", short: "i", summary: "ignore case" },
  kind: {
    type: "string",
    multiple: true,
    value: "KIND",
    summary: "search only blocks of this kind",
    choices: KINDS,
  },
  conversation: { type: "string", short: "c", value: "ID", summary: "search only this conversation" },
  all: { type: "boolean", summary: "find every match; waits until the search index is ready" },
} as const;

type Hits = ToolAnswer<"kernel.search">;
type Match = Hits["blocks"][number]["matches"][number];

export const search: Command = {
  name: "search",
  usage: "search <pattern> [-i] [-F] [--kind KIND]… [-c ID] [--all] [--json]",
  summary: "search all blocks",
  examples: [
    'blockyard search "TODO|FIXME" -i',
    "blockyard search -F 'a[0]' --kind code",
    "blockyard search panic --json",
  ],
  options,
  async run(args) {
    const { values, positionals } = readArguments({ name: "search", options }, args, [1, 1, "a pattern"]);
    if (positionals[0] === "") throw new CommandError("the pattern is empty", EXIT.usage);
    const client = await openClient({ home: values.home });
    try {
      const within =
        values.conversation === undefined ? {} : { conversation: await wholeId(client, values.conversation) };
      const input = {
        query: positionals[0] ?? "",
        literal: values.literal === true,
        ignore_case: values["ignore-case"] === true,
        context_lines: 0,
        kinds: (values.kind as readonly Kind[] | undefined) ?? ("all" as const),
        max_blocks: 200,
        ...within,
      };
      let blocks = 0;
      let after: string | undefined;
      for (;;) {
        const page = { ...input, ...(after === undefined ? {} : { after }) };
        const answer = await client.call("kernel.search", page);
        if (isProblem(answer) && answer.problem === "pattern" && !input.literal)
          throw new CommandError(`${answer.message} To find it as plain text, add -F`, EXIT.usage);
        const found = known(answer);
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
          if (blocks > 0) return EXIT.done;
          if (values.json !== true) process.stderr.write("No matches.\n");
          return EXIT.nothing;
        }
        after = found.next;
      }
    } finally {
      await client.close();
    }
  },
};

/** What the reader has to know of unsearched blocks. */
function restOf({ more, indexing }: Hits, canGoOn: boolean): string {
  const still =
    indexing === undefined
      ? ""
      : `Still indexing: ${indexing.indexed} of ${indexing.total} conversations. Matches in the others may be missing.\n`;
  if (!more) return still;
  if (canGoOn)
    return `${still}There may be more: --all finds every match, -c and --kind narrow the search.\n`;
  const hint = indexing === undefined ? "" : "--all waits for the index, ";
  return `${still}The search is incomplete: ${hint}-c and --kind narrow the search.\n`;
}

async function printHits({ blocks }: Hits, isJson: boolean): Promise<void> {
  const style = styleFor(process.stdout);
  const isRead = process.stdout.isTTY === true;
  for (const block of blocks) {
    if (isJson) await printJson(block);
    // A line with two matches is one line.
    else
      for (const [i, match] of block.matches.entries()) {
        const { line } = match;
        if (block.matches[i - 1]?.line === line) continue;
        const where = `${style.cyan(block.block_id)}${style.dim(`:${line}`)}`;
        const room = Math.max(40, terminalWidth() - block.block_id.length - `${line}`.length - 4);
        const { before, hit, after } = excerptOf(match, isRead ? block.kind : "text", room);
        await print(`${where}: ${before}${style.bold(hit)}${after}\n`);
      }
  }
}

/**
 * The line of a match in this many columns, as a block of this kind is read. If it does not fit, its beginning is cut,
 * so that the match is visible.
 */
export function excerptOf(
  match: Match,
  kind: string,
  room: number,
): { readonly before: string; readonly hit: string; readonly after: string } {
  const plain = (text: string) => safeText(text).replace(/\s+/g, " ");
  const found = hitText(match, kind, room, room);
  const whole = plain(found.before).trimStart();
  const hit = cut(plain(found.words), room);
  const after = plain(found.after).trimEnd();
  const isLong = whole.length + hit.length + after.length > room;
  const lead = Math.max(0, Math.floor((room - hit.length) / 3), room - hit.length - after.length);
  const before =
    isLong && whole.length > lead ? (lead < 2 ? "" : `…${whole.slice(1 - lead).toWellFormed()}`) : whole;
  return { before, hit, after: cut(after, room - before.length - hit.length) };
}

function cut(text: string, room: number): string {
  if (text.length <= room) return text;
  return room < 1 ? "" : `${text.slice(0, room - 1).toWellFormed()}…`;
}
