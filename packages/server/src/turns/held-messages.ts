/**
 * Held messages: the turn before them was stopped, or their server is gone. They are not sent until somebody releases
 * them. This file holds and releases messages; waiting.ts defines queued messages.
 */

import {
  type AgentId,
  type BlockId,
  type ConversationId,
  type HoldReason,
  isProblem,
  type Kernel,
  type Problem,
  problem,
} from "@blockyard/kernel";
import type { TurnRequest } from "./run.ts";
import type { Queued } from "./steering.ts";
import { changeWaiting, drop, queuedIn, requestOf, waitingIn } from "./waiting.ts";

interface StoppedMessages {
  readonly dropped: number;
  readonly held: number;
}

/** What became of the turns of a conversation, and of the messages that wait there. */
export interface Stopped extends StoppedMessages {
  readonly stopped: number;
}

/** Holds messages that are in no queue any more; how many of them. */
export async function holdAll(kernel: Kernel, all: readonly Queued[], reason: HoldReason): Promise<number> {
  let held = 0;
  for (const { waiting, by } of all)
    if (waiting !== undefined && (await hold(kernel, waiting, by, reason))) held++;
  return held;
}

/**
 * Stops messages: those that were just taken out of the queue of this node, and those that wait in none. They are held; dropped
 * with `queued`, or where only that one is meant.
 */
export async function stopMessages(
  kernel: Kernel,
  by: AgentId,
  conversation: ConversationId,
  taken: readonly Queued[],
  { queued, only }: { readonly queued: boolean; readonly only: string | undefined },
): Promise<StoppedMessages | Problem> {
  const dropped = taken.filter(({ id }) => id === only || queued);
  for (const { waiting } of dropped) if (waiting) await drop(kernel, waiting, by, "cancelled");
  const rest = taken.filter((each) => !dropped.includes(each));
  const held = await holdAll(kernel, rest, "stopped");
  const others = await stopWaiting(kernel, by, conversation, queued, only);
  if (isProblem(others)) return others;
  return { dropped: dropped.length + others.dropped, held: held + others.held };
}

/** Stops what waits and is in no queue of this node: held already, or at another node. */
async function stopWaiting(
  kernel: Kernel,
  by: AgentId,
  conversation: ConversationId,
  queued: boolean,
  only: string | undefined,
): Promise<StoppedMessages | Problem> {
  const waiting = await waitingIn(kernel, conversation);
  if (isProblem(waiting)) return waiting;
  const count = { dropped: 0, held: 0 };
  for (const block of waiting) {
    const isNamed = only !== undefined && block.metadata.turn === only;
    if (only !== undefined && !isNamed) continue;
    if (isNamed || queued) count.dropped += (await drop(kernel, block.id, by, "cancelled")) ? 1 : 0;
    else if (queuedIn(block)?.held === undefined)
      count.held += (await hold(kernel, block.id, by, "stopped")) ? 1 : 0;
  }
  return count;
}

interface Release {
  /** Why a message cannot be sent now. */
  readonly check: (request: TurnRequest) => Promise<Problem | undefined>;
  /** This node, where there are several. */
  readonly node: string | undefined;
  readonly enqueue: (queued: Queued) => void;
}

/** Puts messages that were held into the queue of this node, or one of them; how many. */
export async function releaseHeld(
  kernel: Kernel,
  by: AgentId,
  conversation: ConversationId,
  only: string | undefined,
  { check, node, enqueue }: Release,
): Promise<number | Problem> {
  const waiting = await waitingIn(kernel, conversation);
  if (isProblem(waiting)) return waiting;
  const meant = waiting.filter(
    (block) => queuedIn(block)?.held !== undefined && (only === undefined || block.metadata.turn === only),
  );
  if (meant.length === 0) return problem("gone", "no message is held here");
  let sent = 0;
  for (const block of meant) {
    const text = await kernel.whole(block.id);
    if (isProblem(text)) return text;
    const request = await requestOf(kernel.store, block, text.text);
    if (isProblem(request)) return request;
    const refused = await check(request);
    if (refused) return refused;
    if (!(await claim(kernel, block.id, by, node))) continue;
    enqueue({ id: String(block.metadata.turn), request, by: block.agent, waiting: block.id });
    sent++;
  }
  return sent;
}

/** Holds a message back; whether it still waited. */
async function hold(kernel: Kernel, id: BlockId, by: AgentId, held: HoldReason): Promise<boolean> {
  return changeWaiting(kernel, id, by, (draft, mark) =>
    mark === undefined
      ? draft.status(id, "error", { reason: "interrupted" })
      : draft.meta(id, { queued: { ...mark, held } }),
  );
}

/** Takes a held message into the queue of a node: one of several that try gets it. */
function claim(kernel: Kernel, id: BlockId, by: AgentId, node: string | undefined): Promise<boolean> {
  return changeWaiting(kernel, id, by, (draft, mark) => {
    if (mark?.held === undefined) return problem("conflict", "this message is no longer held");
    const { held: _held, sent: _sent, ...rest } = mark;
    return draft.meta(id, { queued: rest, ...(node === undefined ? {} : { node }) });
  });
}
