/**
 * Sessions that were imported twice at the same time by earlier versions: an event has become two blocks. Finds them, and
 * imports them anew from their logs, into the same conversations, once.
 *
 * What is in such a conversation besides stays: one in which somebody has written, or to whose blocks another one refers, is
 * left as it is, and so is one whose log does not have everything any more.
 */

import {
  type Block,
  type Conversation,
  conversationOf,
  isProblem,
  Kernel,
  keyIn,
  type Store,
} from "@blockyard/kernel";
import { providers } from "@blockyard/providers";
import { type Caller, ownerName } from "../access/auth.ts";
import { IMPORT_MARK } from "../ingest/import-mark.ts";
import { forgetConversations } from "../stores/sqlite/forget.ts";
import { openSqliteStore } from "../stores/sqlite/sqlite.ts";
import { nodeEnv } from "../system/env.ts";
import { type LogMark, markOf } from "./import-log.ts";
import { importStream } from "./import-stream.ts";
import { LIVE_MS } from "./limits.ts";
import { logBody, readLog } from "./log-body.ts";
import { type SessionLog, sessionAt } from "./session-logs.ts";

export interface Repaired {
  readonly conversation: string;
  readonly title: string;
  /** Blocks that were there once too often. */
  readonly doubles: number;
  /** Why it was left unchanged. */
  readonly left?: string;
}

/** The number of doubled blocks of each conversation. Blocks come conversation by conversation. */
export function countDoubles(blocks: Iterable<Block>): ReadonlyMap<string, number> {
  const doubles = new Map<string, number>();
  let [conversation, keys] = ["", new Set<string>()];
  for (const block of blocks) {
    if (block.conversation !== conversation) [conversation, keys] = [block.conversation, new Set()];
    const key = keyIn(block);
    if (key !== undefined && keys.has(key)) doubles.set(conversation, (doubles.get(conversation) ?? 0) + 1);
    if (key !== undefined) keys.add(key);
  }
  return doubles;
}

interface Plan extends Repaired {
  readonly record: Conversation;
  readonly log?: SessionLog;
}

/** Repairs a database file that nobody has open. */
export async function repairDoubled(path: string): Promise<readonly Repaired[]> {
  const plans = await planned(path);
  const ready = plans.filter(({ log }) => log !== undefined);
  forgetConversations(
    path,
    ready.map(({ conversation }) => conversation),
  );
  const store = await openSqliteStore(path);
  try {
    const kernel = new Kernel(nodeEnv, store);
    for (const plan of ready) await importAnew(kernel, plan.record, plan.log as SessionLog);
    await kernel.close();
  } finally {
    await store.close();
  }
  return plans.map(({ record: _, log: __, ...repaired }) => repaired);
}

async function planned(path: string): Promise<readonly Plan[]> {
  const store = await openSqliteStore(path);
  try {
    const records = await store.conversations({ limit: 1e9 });
    const plans: Plan[] = [];
    for (const record of records) {
      const mark = markOf(record.metadata);
      if (!mark) continue;
      const blocks = await blocksOf(store, record.id);
      const doubles = countDoubles(blocks).get(record.id) ?? 0;
      if (doubles === 0) continue;
      const found = whyLeft(blocks) ?? (await whyReferred(store, records, record.id)) ?? logOf(mark, blocks);
      const { id: conversation, title } = record;
      const how = typeof found === "string" ? { left: found } : { log: found };
      plans.push({ conversation, title, doubles, record, ...how });
    }
    return plans;
  } finally {
    await store.close();
  }
}

function blocksOf(store: Store, conversation: string): Promise<readonly Block[]> {
  return store.blocks({ conversation, order: "first", limit: 1e9 });
}

function whyLeft(blocks: readonly Block[]): string | undefined {
  const isOwn = (block: Block) => keyIn(block) === undefined && block.metadata.notice === undefined;
  if (blocks.some(isOwn)) return "it contains blocks that were not imported";
  if (blocks.some(({ promoted, pruned }) => promoted || pruned)) return "someone has edited it";
  return undefined;
}

async function whyReferred(
  store: Store,
  records: readonly Conversation[],
  conversation: string,
): Promise<string | undefined> {
  for (const { id, included } of records) {
    if (id === conversation) continue;
    const refers = (block: string | null) => block !== null && conversationOf(block) === conversation;
    const others = await blocksOf(store, id);
    if (included.some(refers) || others.some(({ parent }) => refers(parent)))
      return `conversation ${id} refers to it`;
  }
  return undefined;
}

/** The log that it came from, if it still has everything. */
function logOf({ provider: name, path }: LogMark, blocks: readonly Block[]): SessionLog | string {
  const gone = `its log ${path} no longer exists`;
  try {
    const provider = providers.get(name);
    const log = provider && sessionAt(provider, path);
    if (!log) return gone;
    if (Date.now() - log.changedAt < LIVE_MS) return "its session may still be running; try again later";
    const keys = new Set(
      readLog(log, "close").events.flatMap((event) => (event.type === "block-start" ? [event.key] : [])),
    );
    const isThere = (block: Block) => keys.has(keyIn(block) ?? "") || keyIn(block) === undefined;
    return blocks.every(isThere) ? log : `its log ${path} is no longer complete`;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
    return gone;
  }
}

async function importAnew(kernel: Kernel, before: Conversation, log: SessionLog): Promise<void> {
  const owner: Caller = { agent: ownerName(), role: "owner", by: "token" };
  const answer = await importStream(kernel, owner, logBody(log, readLog(log, "close"), "close", 0));
  if (isProblem(answer)) throw new Error(answer.message);
  // Metadata that a user set on the whole conversation stays.
  const { [IMPORT_MARK]: _, ...metadata } = before.metadata;
  const kept = await kernel.write(before.id, {
    agent: owner.agent,
    plan: (draft) => {
      draft.dated(before.updatedAt);
      draft.conversation({ title: before.title, metadata });
      return null;
    },
  });
  if (isProblem(kept)) throw new Error(kept.message);
}
