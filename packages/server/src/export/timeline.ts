/**
 * An exported conversation in reading order: speakers, what was said and changed, and groups of quiet steps. The same
 * rules as on the page, applied to whole blocks.
 */

import type { BlockSnapshot } from "@blockyard/kernel";
import { isEnded } from "@blockyard/kernel/plain";
import {
  cutSummary,
  type Entry,
  gather,
  gatheredWords,
  isGathered,
  livingTodos,
  outputSummary,
  plainTerminal,
  type Speaker,
  SUMMARY_LINES,
  speakerOf,
  tookMs,
} from "@blockyard/kernel/presentation";
import { linesOf } from "./closed.ts";
import type { ExportHead, ExportNode } from "./tree.ts";

export type Item =
  | { readonly type: "speaker"; readonly speaker: Speaker; readonly at: number }
  | { readonly type: "gathered"; readonly words: string; readonly items: readonly NodeItem[] }
  | NodeItem;

export interface NodeItem {
  readonly type: "node";
  readonly node: ExportNode;
  /** The to-do list of its turn, as it was at last: shown in place of its own. */
  readonly todo: BlockSnapshot | undefined;
}

/** `endsHere`: something stands behind a node that ends what is gathered, such as the foot of a turn. */
export function timeline(
  nodes: readonly ExportNode[],
  head: ExportHead | undefined,
  endsHere: (node: ExportNode) => boolean = () => false,
): readonly Item[] {
  const lists = livingTodos(nodes.map(todoStep));
  const all: NodeItem[] = nodes.map((node) => ({ type: "node", node, todo: lists.get(node.block) }));
  const items: Item[] = [];
  let speaker: string | undefined;
  for (const part of parts(all, head, endsHere)) {
    const [first] = part as [NodeItem];
    const speaks =
      head && speakerOf(first.node.block, { createdBy: head.created_by, provider: head.provider });
    if (speaks && `${speaks.side} ${speaks.id}` !== speaker) {
      speaker = `${speaks.side} ${speaks.id}`;
      items.push({ type: "speaker", speaker: speaks, at: first.node.block.created_at });
    }
    for (const found of gather(part, (item) => isGathered(entryOf(item))))
      items.push("type" in found ? found : gathered(found));
  }
  return items;
}

/** Where one stops and another speaks, or something stands between, nothing is gathered over it. */
function parts(
  items: readonly NodeItem[],
  head: ExportHead | undefined,
  endsHere: (node: ExportNode) => boolean,
): readonly (readonly NodeItem[])[] {
  const found: NodeItem[][] = [];
  let before: NodeItem | undefined;
  for (const item of items) {
    const isNew =
      before === undefined ||
      endsHere(before.node) ||
      before.node.branches.length > 0 ||
      isOther(before.node.block, item.node.block, head);
    if (isNew) found.push([item]);
    else found.at(-1)?.push(item);
    before = item;
  }
  return found;
}

function isOther(a: BlockSnapshot, b: BlockSnapshot, head: ExportHead | undefined): boolean {
  if (head === undefined) return false;
  const told = { createdBy: head.created_by, provider: head.provider };
  const [one, other] = [speakerOf(a, told), speakerOf(b, told)];
  return `${one?.side} ${one?.id}` !== `${other?.side} ${other?.id}`;
}

function gathered(items: readonly NodeItem[]): Item {
  const tookMs = items.reduce((sum, { node }) => sum + tookOf(node.block), 0);
  return { type: "gathered", words: gatheredWords(items.map(entryOf), tookMs), items };
}

function entryOf({ node, todo }: Pick<NodeItem, "node" | "todo">): Entry {
  return {
    block: node.block,
    results: node.results.map(({ block }) => block),
    isFollowed: node.results.some(isFollowed),
    isLivingTodo: todo !== undefined,
  };
}

/** Whether something hangs off a result. */
export function isFollowed({ work, results, nested }: ExportNode): boolean {
  return work.length + results.length + nested.length > 0;
}

function todoStep({ block, results }: ExportNode) {
  return {
    id: block,
    turn: block.metadata.turn,
    isPrompt: block.kind === "text" && block.role === "user" && !block.side,
    todo: results.find((result) => result.block.kind === "todo")?.block,
  };
}

function tookOf({ status, metadata, created_at, updated_at }: BlockSnapshot): number {
  if (!isEnded(status)) return 0;
  return tookMs(metadata, created_at, updated_at);
}

/** The line that a command which succeeded is remembered by. */
export function commandSummary({ content, metadata }: BlockSnapshot): string {
  const cut = cutSummary(content.length, metadata.truncatedChars);
  if (cut !== undefined) return cut;
  const text = content === "" ? (metadata.stderr ?? "").trimEnd() : content;
  return outputSummary(linesOf(text).slice(-SUMMARY_LINES).map(plainTerminal));
}
