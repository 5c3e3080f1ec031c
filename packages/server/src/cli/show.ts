/**
 * `blockyard show`: a conversation as text, or one block's text exactly as it is.
 */

import { parseBlockId, sessionFacts } from "@blockyard/kernel";
import { turnAfter } from "../export/html.ts";
import { timeline } from "../export/timeline.ts";
import { readTree } from "../export/tree.ts";
import { HOME_OPTION, JSON_OPTION, readArguments } from "./args.ts";
import { type BlockSource, known } from "./block-source.ts";
import { itemText, turnText } from "./block-text.ts";
import { type Command, EXIT } from "./command.ts";
import { openClient } from "./command-client.ts";
import { wholeId } from "./named-id.ts";
import { print, printJson, safeText, styleFor, terminalWidth } from "./terminal.ts";

const options = {
  home: HOME_OPTION,
  json: JSON_OPTION,
  full: { type: "boolean", summary: "print whole results and thinking instead of their first lines" },
  session: {
    type: "boolean",
    summary: "print the session's settings: model, permissions, tools, MCP servers",
  },
} as const;

export const show: Command = {
  name: "show",
  usage: "show <conversation | block> [--full | --session] [--json]",
  summary: "print a conversation, or the text of one block",
  examples: [
    "blockyard show k3vq2mz",
    "blockyard show k3vq2mz --full | less",
    "blockyard show k3vq2mz --session",
    "blockyard show k3vq2mz/claude/12",
  ],
  options,
  async run(args) {
    const { values, positionals } = readArguments({ name: "show", options }, args, [
      1,
      1,
      "the id of a conversation or a block",
    ]);
    const client = await openClient({ home: values.home });
    try {
      const id = await wholeId(client, positionals[0] as string);
      if (values.session) await showSession(client, id.split("/", 1)[0] ?? id, values.json === true);
      else if (id.includes("/")) await showBlock(client, id, values.json === true);
      else if (values.json) for await (const line of client.lines(id)) await printJson(line);
      else await showConversation(client, id, values.full === true);
      return EXIT.done;
    } finally {
      await client.close();
    }
  },
};

/** What the agents of a conversation worked with. */
async function showSession(client: BlockSource, id: string, isJson: boolean): Promise<void> {
  const style = styleFor(process.stdout);
  const { head } = await readTree(client.lines(id));
  const sessions = sessionFacts(head);
  if (isJson) return void (await printJson(sessions));
  if (sessions.length === 0) await print("No agent of this conversation reported its session.\n");
  for (const { provider, facts } of sessions) {
    await print(`${style.bold(safeText(provider))}\n`);
    for (const { label, value } of facts)
      await print(`  ${style.dim(label.padEnd(16))} ${safeText(value)}\n`);
  }
}

async function showConversation(client: BlockSource, id: string, isFull: boolean): Promise<void> {
  const style = styleFor(process.stdout);
  const text = { style, width: terminalWidth(), isFull };
  const tree = await readTree(client.lines(id));
  const { title, conversation } = tree.head;
  await print(`${style.bold(safeText(title === "" ? conversation : title))}\n\n`);
  const footers = new Map(
    tree.path.map((node, i) => [node, turnAfter(node, tree.path[i + 1], tree.turns)] as const),
  );
  for (const item of timeline(tree.path, tree.head, (node) => footers.get(node) !== undefined)) {
    await print(itemText(item, text));
    const last =
      item.type === "node" ? item.node : item.type === "gathered" ? item.items.at(-1)?.node : undefined;
    const turn = last && footers.get(last);
    if (turn) await print(turnText(turn, text));
  }
  for (const way of tree.others)
    for (const item of timeline(way, tree.head)) await print(itemText(item, text, 1));
}

/** A file gets the exact text; a terminal gets what cannot harm it. */
async function showBlock(client: BlockSource, id: string, isJson: boolean): Promise<void> {
  if (!parseBlockId(id)) known(await client.call("block.read", { block_id: id }));
  let range: { readonly start: number; readonly column?: number } | undefined;
  do {
    const input = { block_id: id, line_numbers: false, ...(range ? { range } : {}) };
    const piece = known(await client.call("block.read", input));
    range = piece.next;
    const content = piece.truncated ? withoutMarker(piece.content) : piece.content;
    if (isJson) await printJson({ ...piece, content });
    else await print(process.stdout.isTTY ? safeText(content) : content);
    if (!range && !isJson && process.stdout.isTTY && !content.endsWith("\n")) await print("\n");
  } while (range);
}

/** The line at the end of a cut answer that says how to read on. */
function withoutMarker(content: string): string {
  return content.slice(0, content.lastIndexOf("… cut here;"));
}
