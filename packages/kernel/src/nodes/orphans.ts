/**
 * Closes what a dead process left open: the turns that it ran, their blocks, and what waited for it. Done after a
 * start, before anything new begins, so that nothing stays `running` for ever; and, if several nodes share a store, by
 * the first node that notices a death. What agents hold with their own programs belongs to no process and is left alone
 * (leased.ts).
 *
 * What a live node runs is never touched. Nodes are checked after open turns were read: a node is in the register
 * before it opens anything, so every turn read belongs to a node in the answer, or to a dead one.
 */

import type { Block } from "../model/block.ts";
import type { Turn } from "../model/conversation.ts";
import type { AgentId, BlockId, ConversationId } from "../model/ids.ts";
import { isProblem } from "../model/problem.ts";
import type { Draft } from "../write/draft.ts";
import type { Kernel } from "../write/kernel.ts";
import { isHeld } from "./leased.ts";

export interface Closed {
  readonly blocks: number;
  readonly turns: number;
}

export const NONE_CLOSED: Closed = { blocks: 0, turns: 0 };

type Alive = () => Promise<ReadonlySet<string>>;

/** What is open in one conversation. */
export interface Open {
  readonly blocks: readonly Block[];
  readonly turns: readonly Turn[];
  /** Its turns, open or not. */
  readonly all: readonly Turn[];
}

/** Ends what an earlier process ran, as interrupted. */
export function closeOrphans(
  kernel: Kernel,
  agent: AgentId,
  alive: Alive = async () => new Set(),
): Promise<Closed> {
  return closeWhere(kernel, agent, alive, () => true);
}

/** Ends only what names a node that is dead: others are at work, and may have the rest open. */
export function closeLeftBy(kernel: Kernel, agent: AgentId, alive: Alive): Promise<Closed> {
  return closeWhere(kernel, agent, alive, (node) => node !== undefined);
}

async function closeWhere(
  kernel: Kernel,
  agent: AgentId,
  alive: Alive,
  isMeant: (node: string | undefined) => boolean,
): Promise<Closed> {
  let blocks = 0;
  let turns = 0;
  for (const [conversation, open] of await allOpen(kernel)) {
    const living = await alive();
    const isLeft = (node: string | undefined) => isMeant(node) && (node === undefined || !living.has(node));
    const nodes = new Map(open.turns.map(({ id, node }) => [id, node]));
    const left: readonly BlockId[] = open.blocks
      .filter((block) => !isHeld(block, open.all))
      .filter(({ metadata }) => isLeft(nodeOf(metadata) ?? nodes.get(turnOf(metadata))))
      .map(({ id }) => id);
    const ended = open.turns.filter((turn) => !turn.leased && isLeft(turn.node)).map(({ id }) => id);
    if (left.length + ended.length === 0) continue;
    const closed = await kernel.write(conversation, { agent, plan: (draft) => close(draft, left, ended) });
    if (isProblem(closed)) continue;
    blocks += closed.blocks;
    turns += closed.turns;
  }
  return { blocks, turns };
}

/** What is open anywhere. File blocks have no end and are left out. */
export async function allOpen(kernel: Kernel): Promise<ReadonlyMap<ConversationId, Open>> {
  const blocks = new Map<ConversationId, Block[]>();
  for (const status of ["pending", "running"] as const) {
    for (const block of await kernel.store.blocks({ status, order: "first", limit: 1e9 })) {
      if (block.kind !== "file")
        blocks.set(block.conversation, [...(blocks.get(block.conversation) ?? []), block]);
    }
  }
  const open = new Map<ConversationId, Open>();
  for (const { id, running } of await kernel.store.conversations({ limit: 1e9 })) {
    if (running.length === 0 && !blocks.has(id)) continue;
    open.set(id, openOf(blocks.get(id) ?? [], running, await kernel.store.turns(id)));
  }
  return open;
}

/** The same in one conversation. */
export async function openIn(kernel: Kernel, conversation: ConversationId): Promise<Open> {
  const blocks: Block[] = [];
  for (const status of ["pending", "running"] as const) {
    const found = await kernel.store.blocks({ conversation, status, order: "first", limit: 1e9 });
    for (const block of found) if (block.kind !== "file") blocks.push(block);
  }
  const record = await kernel.store.conversation(conversation);
  return openOf(blocks, record?.running ?? [], await kernel.store.turns(conversation));
}

function openOf(blocks: readonly Block[], running: readonly string[], all: readonly Turn[]): Open {
  return { blocks, turns: all.filter(({ id }) => running.includes(id)), all };
}

/** The node that a block waits for, where it is part of no turn yet. */
function nodeOf(metadata: Block["metadata"]): string | undefined {
  const { node } = metadata;
  return typeof node === "string" ? node : undefined;
}

function turnOf(metadata: Block["metadata"]): string {
  return metadata.turn ?? "";
}

function close(draft: Draft, blocks: readonly BlockId[], turns: readonly string[]): Closed {
  let ended = 0;
  for (const id of blocks) {
    if (holdBack(draft, id)) continue;
    const after = draft.status(id, "error", { reason: "interrupted" });
    if (!isProblem(after)) ended++;
  }
  const stopped = turns.flatMap((id) => draft.turn(id) ?? []).filter(({ status }) => status === "running");
  for (const turn of stopped) {
    // What it used since it last said so, nobody knows.
    draft.setTurn({ ...turn, status: "error", reason: "interrupted", endedAt: draft.at, uncounted: true });
  }
  return { blocks: ended, turns: stopped.length };
}

/** A message that waited for its turn is not lost with the process that was to send it: it is held until somebody says so. */
function holdBack(draft: Draft, id: BlockId): boolean {
  const block = draft.block(id);
  if (isProblem(block) || block.metadata.notice !== "queued") return false;
  const mark = block.metadata.queued;
  if (mark === undefined) return false;
  if (mark["held"] === undefined) draft.meta(id, { queued: { ...mark, held: "restarted" } });
  return true;
}
