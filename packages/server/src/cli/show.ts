/**
 * `blockyard show`: a conversation as text, or one block's text exactly as it is.
 */

import { type BlockSnapshot, parseBlockId, sessionFacts } from "@blockyard/kernel";
import { turnAfter } from "../export/html.ts";
import { readTree } from "../export/tree.ts";
import { HOME_OPTION, JSON_OPTION, readArguments } from "./args.ts";
import { nodeText, turnText } from "./block-text.ts";
import { type Command, EXIT } from "./command.ts";
import { wholeId } from "./named-id.ts";
import { print, printJson, safeText, styleFor, terminalWidth } from "./terminal.ts";
import { known, openYard, type Yard } from "./yard.ts";

const options = {
  home: HOME_OPTION,
  json: JSON_OPTION,
  full: { type: "boolean", summary: "whole results and thinking, not their first lines" },
  session: { type: "boolean", summary: "what the agent worked with: model, permissions, tools, MCP servers" },
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
    const { values, positionals } = readArguments({ name: "show", options }, args, [1, 1]);
    const yard = await openYard({ home: values.home });
    try {
      const id = await wholeId(yard, positionals[0] as string);
      if (values.session) await showSession(yard, id.split("/", 1)[0] ?? id, values.json === true);
      else if (id.includes("/")) await showBlock(yard, id, values.json === true);
      else if (values.json) for await (const line of yard.lines(id)) await printJson(line);
      else await showConversation(yard, id, values.full === true);
      return EXIT.done;
    } finally {
      await yard.close();
    }
  },
};

/** What the agents of a conversation worked with. */
async function showSession(yard: Yard, id: string, isJson: boolean): Promise<void> {
  const style = styleFor(process.stdout);
  const { head } = await readTree(yard.lines(id));
  const sessions = sessionFacts(head);
  if (isJson) return void (await printJson(sessions));
  if (sessions.length === 0) await print("No agent of this conversation has told of its session.\n");
  for (const { provider, facts } of sessions) {
    await print(`${style.bold(safeText(provider))}\n`);
    for (const { label, value } of facts)
      await print(`  ${style.dim(label.padEnd(16))} ${safeText(value)}\n`);
  }
}

async function showConversation(yard: Yard, id: string, isFull: boolean): Promise<void> {
  const style = styleFor(process.stdout);
  const text = { style, width: terminalWidth(), isFull };
  const tree = await readTree(yard.lines(id));
  const { title, conversation } = tree.head;
  await print(`${style.bold(safeText(title === "" ? conversation : title))}\n\n`);
  for (const [i, node] of tree.path.entries()) {
    await print(nodeText(node, text));
    const turn = turnAfter(node, tree.path[i + 1], tree.turns);
    if (turn) await print(turnText(turn, text));
  }
  for (const way of tree.others) for (const node of way) await print(nodeText(node, text, 1));
}

/** A file gets the exact text; a terminal gets what cannot harm it. */
async function showBlock(yard: Yard, id: string, isJson: boolean): Promise<void> {
  if (!parseBlockId(id)) known(await yard.call("block.read", { block_id: id }));
  let range: object | undefined;
  do {
    const input = { block_id: id, line_numbers: false, ...(range ? { range } : {}) };
    const piece = known(await yard.call("block.read", input)) as unknown as BlockSnapshot & {
      truncated: boolean;
      next?: { start: number; column?: number };
    };
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
