/**
 * What others have committed since a sequence number, read from the store: another node's commits, or one's own whose
 * answer was lost on the way.
 */

import type { Block, BlockId, ConversationId } from "./block.ts";
import type { Conversation, Turn } from "./conversation.ts";
import { type Json, sameJson } from "./json.ts";
import { limits } from "./limits.ts";
import type { Op, OpBody } from "./op.ts";
import type { Store } from "./store.ts";

export interface Missed {
  readonly record: Conversation;
  readonly turns: readonly Turn[];
  readonly blocks: readonly Block[];
  readonly ops: readonly Op[];
  readonly renewed: readonly BlockId[];
}

/** How many logs are asked for at once. */
const AT_ONCE = 8;

/**
 * All of it as it was at one moment. Where the conversation moves while it is read, what came meanwhile is read as well,
 * which is less each time: whoever has missed much of a busy conversation gets to its end too.
 */
export async function readMissed(
  store: Store,
  conversation: ConversationId,
  since: number,
): Promise<Missed | undefined> {
  const blocks = new Map<BlockId, Block>();
  const renewed = new Set<BlockId>();
  let ops: readonly Op[] = [];
  let from = since;
  for (let tries = 0; tries < limits.replans; tries++) {
    const record = await store.conversation(conversation);
    if (record === undefined || record.seq === since) return undefined;
    const turns = await store.turns(conversation);
    const read = await readSince(store, conversation, from);
    for (const block of read.blocks) blocks.set(block.id, block);
    for (const id of read.renewed) renewed.add(id);
    ops = joined(ops, read.ops, renewed);
    const now = await store.conversation(conversation);
    if (now?.seq === record.seq) {
      const inOrder = [...ops].sort((a, b) => a.seq - b.seq);
      return { record, turns, blocks: [...blocks.values()], ops: inOrder, renewed: [...renewed] };
    }
    // What was read from behind this point may be half of it only.
    ops = ops.filter(({ seq }) => seq <= record.seq);
    from = record.seq;
  }
  throw new Error("the conversation moves faster than it can be read");
}

async function readSince(
  store: Store,
  conversation: ConversationId,
  since: number,
): Promise<Pick<Missed, "blocks" | "ops" | "renewed">> {
  const query = { conversation, changedSince: since, order: "first", limit: 1e9 } as const;
  const blocks = await store.blocks(query);
  const ops = [...(await store.conversationOps(conversation, since))];
  const renewed: BlockId[] = [];
  for (let at = 0; at < blocks.length; at += AT_ONCE) {
    const some = blocks.slice(at, at + AT_ONCE);
    const logs = await Promise.all(some.map(({ id }) => store.log(id, { seq: since })));
    for (const [i, log] of logs.entries()) {
      if (log.fold) renewed.push((some[i] as Block).id);
      else ops.push(...log.ops);
    }
  }
  return { blocks, ops, renewed };
}

/** What was read first, without what the second has too: a run may have grown out of it, a fold may have taken it in. */
function joined(first: readonly Op[], second: readonly Op[], renewed: ReadonlySet<BlockId>): readonly Op[] {
  const starts = new Map<BlockId, number>();
  for (const { block, versionFrom } of second)
    if (block !== null) starts.set(block, Math.min(versionFrom, starts.get(block) ?? versionFrom));
  const isOld = ({ block, version }: Op) =>
    block === null || (!renewed.has(block) && version < (starts.get(block) ?? Number.POSITIVE_INFINITY));
  return [...first.filter(isOld), ...second.filter(({ block }) => block === null || !renewed.has(block))];
}

/** Whether the ops are among what was committed; undefined if that was folded since and cannot be told any more. */
export function wasTaken({ ops, renewed }: Missed, own: readonly Op[]): boolean | undefined {
  if (own.some((op) => op.block !== null && renewed.includes(op.block))) return undefined;
  return own.every((op) => ops.some((stored) => holds(stored, op)));
}

/** Whether a stored op is, or has taken in, the one that was to be committed. */
function holds(stored: Op, op: Op): boolean {
  const isSame = stored.block === op.block && stored.agent === op.agent && stored.body.type === op.body.type;
  if (!isSame || stored.seqFrom > op.seq || stored.seq < op.seq || stored.unit !== op.unit) return false;
  if (stored.body.type === "append" && op.body.type === "append") {
    return stored.body.text.startsWith(op.body.text, op.body.at - stored.body.at);
  }
  if (stored.seq !== op.seq || stored.at !== op.at || stored.version !== op.version) return false;
  return sameBody(stored.body, op.body);
}

/** Two nodes may plan for one agent at one moment: what they plan tells them apart. */
function sameBody(a: OpBody, b: OpBody): boolean {
  if (a.type !== "splice" || b.type !== "splice") return sameJson(a as unknown as Json, b as unknown as Json);
  const { update: updateA, ...restA } = a;
  const { update: updateB, ...restB } = b;
  const isSameUpdate =
    updateA.length === updateB.length && updateA.every((byte, index) => byte === updateB[index]);
  return isSameUpdate && sameJson(restA as unknown as Json, restB as unknown as Json);
}
