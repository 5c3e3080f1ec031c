/** One check of several nodes, and what most of them need. */

import { type Check, require } from "../checks.ts";
import { type Node, type TestHarness, until } from "./harness.ts";
import type { Viewer } from "./viewer.ts";
import type { Writer } from "./writer.ts";

export type NodesCheck = Check<TestHarness, string>;

export async function newConversation({ nodes: [a] }: TestHarness, title: string): Promise<string> {
  return (await a.do("conversation.create", { title })).conversation;
}

/** The texts of all blocks, as a node reads them. */
export async function textsAt(node: Node, conversation: string): Promise<readonly string[]> {
  const texts: string[] = [];
  let since = 0;
  for (;;) {
    const answer = await node.do("block.sync", { conversation, since_seq: since });
    for (const { content } of answer.new_blocks) texts.push(content);
    since = answer.seq;
    if (!answer.more) return texts;
  }
}

/** Every acknowledged block is there once, at both nodes and for every viewer; and no viewer saw a gap or a double. */
export async function requireEverything(
  { nodes }: TestHarness,
  conversation: string,
  writers: readonly Writer[],
  viewers: readonly Viewer[],
  withinMs: number,
): Promise<number> {
  const wanted = writers.flatMap(({ acknowledged }) => acknowledged);
  const { seq } = (await nodes[0].do("conversation.read", { conversation })).conversation as { seq: number };
  for (const [i, viewer] of viewers.entries()) {
    await until(
      `viewer ${i} is at ${viewer.seq} of ${seq}`,
      withinMs,
      async () => viewer.seq >= seq || undefined,
    );
    require(viewer.ledger.failures.length ===
      0, `viewer ${i}: ${viewer.ledger.failures.slice(0, 5).join("; ")}`);
  }
  for (const node of nodes) {
    const counts = new Map<string, number>();
    for (const text of await textsAt(node, conversation)) counts.set(text, (counts.get(text) ?? 0) + 1);
    const lost = wanted.filter((text) => !counts.has(text));
    const doubled = [...counts].filter(([, count]) => count > 1).map(([text]) => text);
    require(lost.length === 0, `lost: ${lost.slice(0, 5).join(", ")}`);
    require(doubled.length === 0, `twice: ${doubled.slice(0, 5).join(", ")}`);
  }
  return wanted.length;
}
