/**
 * Blocks and turns that agents keep open with programs of their own: blocks that they write with tools, and turns that they started
 * (turn.begin). They do not run in our processes, so our restarts do not end them; a lease keeps them open (leases.ts).
 *
 * Invariant: each belongs to one agent and ends once: by the agent, by the owner's stop, or as `interrupted` when the lease ends.
 * Only after the last can the agent continue it.
 */

import type { Block } from "../model/block.ts";
import type { Turn } from "../model/conversation.ts";
import type { AgentId, BlockId, ConversationId } from "../model/ids.ts";
import { isEnded, RESULT_KINDS, type Reason } from "../model/kind.ts";
import { limits } from "../model/limits.ts";
import { answersCall } from "../model/metadata.ts";
import { isProblem, type Problem } from "../model/problem.ts";
import type { Draft } from "../write/draft.ts";
import type { Kernel } from "../write/kernel.ts";

/** Whether its agent holds an open block; `turns` are those of its conversation. */
export function isHeld({ kind, metadata }: Block, turns: readonly Turn[]): boolean {
  if (kind === "file" || metadata.node !== undefined) return false;
  const { turn, notice, waiting } = metadata;
  if (waiting === "result") return true; // its turn is over, and the agent owes the result
  const known = turns.find(({ id }) => id === turn);
  // A queued message names a turn that does not exist yet.
  return known === undefined ? notice !== "queued" : known.leased === true;
}

/** The open turn that an agent has begun here. */
export function ownTurn(draft: Draft, agent: AgentId): Turn | undefined {
  for (const id of draft.record.running) {
    const turn = draft.turn(id);
    if (turn?.leased === true && turn.agent === agent) return turn;
  }
  return undefined;
}

/** Open blocks of some turns, to be ended with them. */
export async function openBlocksOf(
  kernel: Kernel,
  conversation: ConversationId,
  isMeant: (turn: string) => boolean,
): Promise<readonly BlockId[] | Problem> {
  const found: BlockId[] = [];
  for (const status of ["pending", "running"] as const) {
    const query = { conversation, status, order: "last", limit: limits.listRows } as const;
    const blocks = await kernel.blocks(query);
    if (isProblem(blocks)) return blocks;
    for (const { id, metadata } of blocks)
      if (typeof metadata.turn === "string" && isMeant(metadata.turn)) found.push(id);
  }
  return found;
}

/** The last results that are whole, by the block that they belong to. */
export async function lastResults(
  kernel: Kernel,
  conversation: ConversationId,
): Promise<ReadonlyMap<BlockId, readonly Block[]> | Problem> {
  const query = { conversation, kinds: RESULT_KINDS, order: "last", limit: limits.listRows } as const;
  const blocks = await kernel.blocks(query);
  if (isProblem(blocks)) return blocks;
  return Map.groupBy(
    blocks.filter(({ status }) => isEnded(status)),
    ({ parent }) => parent ?? "",
  );
}

/** The end of a turn that an agent has begun. */
interface LeasedEnd {
  readonly status: "done" | "error";
  readonly reason?: Reason | undefined;
  /** Its agent was away for too long. */
  readonly lapsed?: true;
  /** What else is known of it then. */
  readonly with?: Partial<Turn>;
  /** By their calls. */
  readonly results?: ReadonlyMap<BlockId, readonly Block[]>;
}

/** Ends a turn with its open blocks; returns their number. A call without an end or a result by then has no known outcome. */
export function endLeased(draft: Draft, turn: Turn, blocks: readonly BlockId[], end: LeasedEnd): number {
  const { status, reason, lapsed } = end;
  let ended = 0;
  for (const id of blocks) {
    const block = draft.block(id);
    if (isProblem(block) || block.metadata.turn !== turn.id || isEnded(block.status)) continue;
    const result = resultOf(block, end);
    const isDone = status === "done" && (block.kind !== "tool_call" || result === "done");
    const failed = result === "error" ? "failed" : "interrupted";
    const why = { reason: reason ?? failed, ...(lapsed ? { lapsed } : {}) };
    if (!isProblem(draft.status(id, isDone ? "done" : "error", isDone ? {} : why))) ended++;
  }
  const { lapsed: _before, reason: _reason, ...rest } = turn;
  draft.setTurn({
    ...rest,
    ...end.with,
    status,
    ...(reason === undefined ? {} : { reason }),
    ...(lapsed ? { lapsed } : {}),
    endedAt: draft.at,
    durationMs: Math.max(0, draft.at - turn.startedAt),
  });
  return ended;
}

/** The outcome of a call that nobody ended, from its result. */
function resultOf({ id, metadata }: Block, { results }: LeasedEnd): "done" | "error" | undefined {
  const found = results?.get(id)?.find((result) => answersCall(result.metadata, metadata));
  if (found === undefined) return undefined;
  return found.status === "error" || found.metadata.isError === true ? "error" : "done";
}

/** Ends turns that agents have begun in a conversation, for the owner; returns their number. `only`: just that one. */
export async function stopLeased(
  kernel: Kernel,
  by: AgentId,
  conversation: ConversationId,
  only?: string,
): Promise<number | Problem> {
  const record = await kernel.conversation(conversation);
  if (isProblem(record)) return record;
  if (record.running.length === 0) return 0;
  const running = new Set(record.running);
  const blocks = await openBlocksOf(kernel, conversation, (turn) => running.has(turn));
  if (isProblem(blocks)) return blocks;
  return kernel.write(conversation, {
    agent: by,
    plan: (draft) => {
      const turns = draft.record.running.flatMap((id) => draft.turn(id) ?? []);
      const meant = turns.filter(({ id, leased }) => leased === true && (only === undefined || id === only));
      for (const turn of meant) endLeased(draft, turn, blocks, { status: "error", reason: "cancelled" });
      return meant.length;
    },
  });
}
