/** `blockyard ls`: the conversations, the last changed first. */

import type { ConversationView } from "@blockyard/kernel";
import { formatAge, spentWords } from "@blockyard/kernel/plain";
import { HOME_OPTION, JSON_OPTION, readArguments } from "./args.ts";
import { type BlockSource, known } from "./block-source.ts";
import { type Command, CommandError, EXIT } from "./command.ts";
import { openClient } from "./command-client.ts";
import { LISTED_ROWS } from "./limits.ts";
import { oneLine, print, printJson, styleFor, terminalWidth } from "./terminal.ts";
import { asTyped } from "./typed-command.ts";

const options = {
  home: HOME_OPTION,
  json: JSON_OPTION,
  limit: { type: "string", value: "N", summary: "show at most N (default: 30)" },
  archived: { type: "boolean", summary: "include archived conversations" },
} as const;

interface Page {
  readonly conversations: readonly ConversationView[];
  readonly more: boolean;
}

export const ls: Command = {
  name: "ls",
  usage: "ls [words in the title] [--limit N] [--archived] [--json]",
  summary: "list conversations, most recent first",
  examples: ["blockyard ls", "blockyard ls parser --limit 5", "blockyard ls --json | jq -r .conversation"],
  options,
  async run(args) {
    const { values, positionals } = readArguments({ name: "ls", options }, args, [0, 20]);
    const limit = Number(values.limit ?? 30);
    if (!Number.isInteger(limit) || limit < 1 || limit > LISTED_ROWS)
      throw new CommandError(`--limit takes a number from 1 to ${LISTED_ROWS}`, EXIT.usage);
    const client = await openClient({ home: values.home });
    try {
      const page = await listed(client, positionals.join(" "), limit, values.archived === true);
      const { views, more } = firstOf(page, limit);
      const idChars = Math.max(...views.map(({ conversation }) => conversation.length));
      if (!values.json && views.length > 0 && process.stdout.isTTY) await print(heading(idChars));
      for (const view of views) {
        if (values.json) await printJson(view);
        else await print(row(view, idChars));
      }
      if (views.length === 0) {
        if (!values.json) process.stderr.write("Nothing found.\n");
        return EXIT.nothing;
      }
      if (more && !values.json)
        process.stderr.write(
          limit < LISTED_ROWS
            ? asTyped(`There are more: blockyard ls --limit ${Math.min(LISTED_ROWS, limit * 2)}\n`)
            : "There are more: add words from the title.\n",
        );
      return EXIT.done;
    } finally {
      await client.close();
    }
  },
};

/** Page by page, until there are enough: pages include archived ones. */
async function listed(client: BlockSource, title: string, limit: number, isAll: boolean): Promise<Page> {
  const conversations: ConversationView[] = [];
  const wanted = title === "" ? {} : { title };
  for (let before: number | undefined; ; ) {
    const input = { limit, ...wanted, ...(before === undefined ? {} : { before }) };
    const page = known(await client.call("conversation.list", input));
    conversations.push(...page.conversations.filter((view) => isListed(view, isAll)));
    before = page.conversations.at(-1)?.updated_at;
    if (!page.more || before === undefined || conversations.length > limit)
      return { conversations, more: page.more };
  }
}

/** The workspace's files are not a conversation. */
export function isListed(view: ConversationView, isAll: boolean): boolean {
  return view.created_by !== "disk" && (isAll || !isArchived(view));
}

function isArchived({ metadata }: ConversationView): boolean {
  return metadata.archived === true;
}

/** The requested number: a page has everything that changed at its last moment, and after an import that can be thousands. */
export function firstOf({ conversations, more }: Page, limit: number) {
  return { views: conversations.slice(0, limit), more: more || conversations.length > limit };
}

function heading(idChars: number): string {
  const facts = `${"agent".padEnd(9)} ${"blocks".padStart(6)} ${"cost".padStart(8)} ${"changed".padStart(7)}`;
  return styleFor(process.stdout).dim(`  ${"id".padEnd(idChars)} ${facts}  title\n`);
}

/** A conversation as a line; its names are others' and made safe. `idChars`: how long the longest id of the list is. */
export function row(view: ConversationView, idChars: number): string {
  const style = styleFor(process.stdout);
  const { conversation, title, provider, blocks, cost_usd, updated_at, running } = view;
  const isAsking = view.asking !== undefined || view.late_asks !== undefined;
  const state = isAsking ? style.yellow("? ") : running.length > 0 ? style.green("● ") : "  ";
  const cost = spentWords(cost_usd, view.uncounted !== undefined);
  const facts = `${oneLine(provider ?? "", 9).padEnd(9)} ${String(blocks).padStart(6)} ${cost.padStart(8)} ${formatAge(Date.now() - updated_at).padStart(7)}`;
  const called = title === "" ? "(no title)" : title;
  const name = oneLine(
    isArchived(view) ? `${called} (archived)` : called,
    Math.max(16, terminalWidth() - idChars - 41),
  );
  return `${state}${style.bold(conversation.padEnd(idChars))} ${style.dim(facts)}  ${name}\n`;
}
