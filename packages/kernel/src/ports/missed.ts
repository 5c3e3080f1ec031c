/**
 * What others have committed since a sequence number, read from the store: another node's commits, or one's own whose
 * answer was lost on the way.
 */

import type { Block } from "../model/block.ts";
import type { BlockId, ConversationId } from "../model/ids.ts";
import { sameJson } from "../model/json.ts";
import { limits } from "../model/limits.ts";
import type { Op, OpBody } from "../model/op.ts";
import type { BlockLog, Missed, Store } from "./store.ts";

/**
 * All missed commits, consistent as of one moment. If the conversation changes during the read, the changed blocks are
 * read again. These are fewer each time, so even a reader that missed much of a busy conversation catches up.
 */
export async function readMissed(
  store: Store,
  conversation: ConversationId,
  since: number,
): Promise<Missed | undefined> {
  if (store.missed) return store.missed(conversation, since);
  const read = new Map<BlockId, { readonly block: Block; readonly log: BlockLog }>();
  let from = since;
  for (let tries = 0; tries < limits.replans; tries++) {
    const record = await store.conversation(conversation);
    if (record === undefined || record.seq === since) return undefined;
    const turns = await store.turns(conversation);
    const ops = [...(await store.conversationOps(conversation, since))];
    const query = { conversation, changedSince: from, order: "first", limit: 1e9 } as const;
    const changed = await store.blocks(query);
    for (let at = 0; at < changed.length; at += limits.missedLogs) {
      const some = changed.slice(at, at + limits.missedLogs);
      // From the start each time: how ops are merged into runs may have changed too.
      const logs = await Promise.all(some.map(({ id }) => store.log(id, { seq: since })));
      for (const [i, block] of some.entries()) read.set(block.id, { block, log: logs[i] as BlockLog });
    }
    const now = await store.conversation(conversation);
    if (now?.seq === record.seq) {
      const all = [...read.values()];
      for (const { log } of all) if (!log.compacted) ops.push(...log.ops);
      ops.sort((a, b) => a.seq - b.seq);
      const renewed = all.filter(({ log }) => log.compacted).map(({ block }) => block.id);
      return { record, turns, blocks: all.map(({ block }) => block), ops, renewed };
    }
    from = record.seq;
  }
  throw new Error("the conversation changes faster than it can be read");
}

/** Whether the ops were committed; undefined if that range was compacted since, so nobody can know. */
export function wasTaken({ ops, renewed }: Missed, own: readonly Op[]): boolean | undefined {
  if (own.some((op) => op.block !== null && renewed.includes(op.block))) return undefined;
  return own.every((op) => ops.some((stored) => holds(stored, op)));
}

/** Whether a stored op is, or contains, the one to commit. */
function holds(stored: Op, op: Op): boolean {
  const isSame = stored.block === op.block && stored.agent === op.agent && stored.body.type === op.body.type;
  if (!isSame || stored.seqFrom > op.seq || stored.seq < op.seq || stored.unit !== op.unit) return false;
  if (stored.body.type === "append" && op.body.type === "append") {
    return stored.body.text.startsWith(op.body.text, op.body.at - stored.body.at);
  }
  if (stored.seq !== op.seq || stored.at !== op.at || stored.version !== op.version) return false;
  return sameBody(stored.body, op.body);
}

/** Two nodes may plan for one agent at the same time: the content of their ops distinguishes them. */
function sameBody(a: OpBody, b: OpBody): boolean {
  if (a.type !== "splice" || b.type !== "splice") return sameJson(a, b);
  const { update: updateA, ...restA } = a;
  const { update: updateB, ...restB } = b;
  const isSameUpdate =
    updateA.length === updateB.length && updateA.every((byte, index) => byte === updateB[index]);
  return isSameUpdate && sameJson(restA, restB);
}
