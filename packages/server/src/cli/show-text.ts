/** What `blockyard show` prints: a conversation as text, the session's settings, or one block. */

import type { BlockSnapshot } from "@blockyard/kernel";
import { isProblem, parseBlockId, sessionFacts } from "@blockyard/kernel/plain";
import { footersOf } from "../export/html.ts";
import { timeline } from "../export/timeline.ts";
import { readTree } from "../export/tree.ts";
import { type BlockSource, known } from "./block-source.ts";
import { itemText, turnText } from "./block-text.ts";
import { lineWidth, print, printJson, safeText, styleFor, terminalWidth } from "./terminal.ts";
import { asTyped } from "./typed-command.ts";

/** What the agents of a conversation worked with. */
export async function showSession(client: BlockSource, id: string, isJson: boolean): Promise<void> {
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

export async function showConversation(client: BlockSource, id: string, isFull: boolean): Promise<void> {
  const style = styleFor(process.stdout);
  const text = { style, width: terminalWidth(), lineWidth: lineWidth(), isFull };
  const tree = await readTree(client.lines(id));
  const { title, conversation } = tree.head;
  await print(`${style.bold(safeText(title === "" ? conversation : title))}\n\n`);
  const footers = footersOf(tree);
  const errors: BlockSnapshot[] = [];
  for (const item of timeline(tree.path, tree.head, (node) => footers.get(node) !== undefined)) {
    await print(itemText(item, text));
    const last =
      item.type === "node" ? item.node : item.type === "gathered" ? item.items.at(-1)?.node : undefined;
    if (last?.block.kind === "error") errors.push(last.block);
    const turn = last && footers.get(last);
    if (turn) await print(turnText(turn, text, errors.splice(0)));
  }
  for (const way of tree.others)
    for (const item of timeline(way, tree.head)) await print(itemText(item, text, 1));
  await print(await lateText(client, conversation));
}

/** What a restart has cut off and can still be answered. */
async function lateText(client: BlockSource, conversation: string): Promise<string> {
  const read = await client.call("conversation.read", { conversation, blocks: 0 });
  const late = isProblem(read) ? [] : (read.conversation.late_asks ?? []);
  if (late.length === 0) return "";
  const words = late.length === 1 ? "The agent's request" : `${late.length} requests of the agent`;
  return `${words} can still be answered: ${asTyped(`blockyard attach ${conversation}`)}\n`;
}

/** A file gets the exact text; a terminal gets what cannot harm it. */
export async function showBlock(client: BlockSource, id: string, isJson: boolean): Promise<void> {
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
