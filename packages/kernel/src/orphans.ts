/**
 * Closing what a dead process left open: blocks that nobody writes any more and turns that nobody runs. Done after a
 * start, before anything new begins, so that nothing stays `running` for ever; and, where several nodes share a store, by
 * whoever notices that one of them has died.
 *
 * What a living node runs is never touched. Whether a node is alive is asked after what is open was read: a node is in the
 * register before it opens anything, so what was read belongs to one that is in the answer, or to a dead one.
 */

import type { AgentId, Block, BlockId, ConversationId } from "./block.ts";
import type { Turn } from "./conversation.ts";
import type { Draft } from "./draft.ts";
import type { Kernel } from "./kernel.ts";
import { isProblem } from "./problem.ts";

export interface Closed {
  readonly blocks: number;
  readonly turns: number;
}

type Alive = () => Promise<ReadonlySet<string>>;

/** What is open in one conversation. */
interface Open {
  readonly blocks: readonly Block[];
  readonly turns: readonly Turn[];
}

/** Ends every open block as interrupted, and every running turn. File blocks have no end and are left alone. */
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

/** What is open and names no node: whose it is nobody can tell, except that it is none that begins later. */
export async function openOfNobody(kernel: Kernel): Promise<ReadonlyMap<BlockId, number>> {
  const found = new Map<BlockId, number>();
  for (const { blocks, turns } of (await allOpen(kernel)).values()) {
    const nodes = new Map(turns.map(({ id, node }) => [id, node]));
    for (const { id, version, metadata } of blocks)
      if ((nodeOf(metadata) ?? nodes.get(turnOf(metadata))) === undefined) found.set(id, version);
  }
  return found;
}

/** Ends those that nobody has written to since. */
export async function closeUntouched(
  kernel: Kernel,
  agent: AgentId,
  found: ReadonlyMap<BlockId, number>,
): Promise<Closed> {
  let blocks = 0;
  for (const [id, version] of found) {
    const closed = await kernel.writeBlock(id, {
      agent,
      plan: (draft) => {
        const block = draft.block(id);
        if (isProblem(block)) return block;
        return block.version === version ? close(draft, [id], []) : { blocks: 0, turns: 0 };
      },
    });
    if (!isProblem(closed)) blocks += closed.blocks;
  }
  return { blocks, turns: 0 };
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
      .filter(({ metadata }) => isLeft(nodeOf(metadata) ?? nodes.get(turnOf(metadata))))
      .map(({ id }) => id);
    const ended = open.turns.filter(({ node }) => isLeft(node)).map(({ id }) => id);
    if (left.length + ended.length === 0) continue;
    const closed = await kernel.write(conversation, { agent, plan: (draft) => close(draft, left, ended) });
    if (isProblem(closed)) continue;
    blocks += closed.blocks;
    turns += closed.turns;
  }
  return { blocks, turns };
}

async function allOpen(kernel: Kernel): Promise<ReadonlyMap<ConversationId, Open>> {
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
    const turns = running.length === 0 ? [] : await kernel.store.turns(id);
    open.set(id, { blocks: blocks.get(id) ?? [], turns: turns.filter((turn) => running.includes(turn.id)) });
  }
  return open;
}

/** The node that a block waits for, where it is part of no turn yet. */
function nodeOf(metadata: Block["metadata"]): string | undefined {
  const { node } = metadata;
  return typeof node === "string" ? node : undefined;
}

function turnOf(metadata: Block["metadata"]): string {
  return String(metadata["turn"] ?? "");
}

function close(draft: Draft, blocks: readonly BlockId[], turns: readonly string[]): Closed {
  let ended = 0;
  for (const id of blocks) {
    const after = draft.status(id, "error", { reason: "interrupted" });
    if (!isProblem(after)) ended++;
  }
  const stopped = turns.flatMap((id) => draft.turn(id) ?? []).filter(({ status }) => status === "running");
  for (const turn of stopped) {
    draft.setTurn({ ...turn, status: "error", reason: "interrupted", endedAt: draft.at });
  }
  return { blocks: ended, turns: stopped.length };
}
