/**
 * Queued messages in the store: a block with the text and the turn's options (`queued`), so that a message survives its server. A
 * held message (the turn before it was stopped, or its server went away) is not sent automatically: it can be sent, edited or
 * dropped from any window and any node.
 *
 * Attached files are stored as blobs before the message is written.
 */

import { createHash } from "node:crypto";
import {
  type AgentId,
  type Block,
  type BlockId,
  type ConversationId,
  type Draft,
  isEnded,
  isProblem,
  type Kernel,
  limits,
  type Problem,
  problem,
  type QueuedMark,
  type Reason,
  type Store,
} from "@blockyard/kernel";
import type { Attachment } from "./contract.ts";
import { QUEUED_MESSAGES } from "./limits.ts";
import type { TurnRequest } from "./run.ts";

/** The stored part of a request besides its text. */
export async function markOf(store: Store, request: TurnRequest): Promise<QueuedMark> {
  const { provider, model, parent, fresh, allow, mode, sandbox, effort, goesOn, cwd, author, attachments } =
    request;
  const kept = await Promise.all((attachments ?? []).map((each) => keep(store, each)));
  return {
    provider,
    ...(author === undefined ? {} : { author }),
    ...(model === undefined ? {} : { model }),
    ...(parent === undefined ? {} : { parent }),
    ...(fresh === undefined ? {} : { fresh }),
    ...(allow === undefined ? {} : { allow: [...allow] }),
    ...(mode === undefined ? {} : { mode }),
    ...(sandbox === undefined ? {} : { sandbox }),
    ...(effort === undefined ? {} : { effort }),
    ...(goesOn === undefined ? {} : { goesOn }),
    ...(cwd === undefined ? {} : { cwd }),
    ...(kept.length === 0 ? {} : { attachments: kept }),
  };
}

type Kept = NonNullable<QueuedMark["attachments"]>[number];

async function keep(store: Store, attachment: Attachment): Promise<Kept> {
  const { type, name } = attachment;
  if (attachment.type === "image") return { type, name, blob: attachment.blob };
  const bytes = new TextEncoder().encode(attachment.text);
  const blob = createHash("sha256").update(bytes).digest("hex");
  await store.putBlob(blob, "text/plain", bytes);
  return { type, name, blob };
}

/** The request of a queued message, as it was made. */
export async function requestOf(store: Store, block: Block, prompt: string): Promise<TurnRequest | Problem> {
  const mark = queuedIn(block);
  if (mark === undefined) return problem("invalid", `block ${block.id} is not a queued message`);
  const { held: _held, sent: _sent, place: _place, attachments, ...rest } = mark;
  const files: Attachment[] = [];
  for (const { type, name, blob } of attachments ?? []) {
    if (type === "image") files.push({ type, name, blob });
    else {
      const kept = await store.blob(blob);
      if (!kept) return problem("not_found", `the file ${name} of this message no longer exists`);
      files.push({ type, name, text: new TextDecoder().decode(kept.bytes) });
    }
  }
  const request = { ...rest, conversation: block.conversation, prompt } as TurnRequest;
  return files.length === 0 ? request : { ...request, attachments: files };
}

/** Writes a message that waits, at the side of the head. */
export async function writeWaiting(
  kernel: Kernel,
  { id, request, by }: { readonly id: string; readonly request: TurnRequest; readonly by: AgentId },
  node: string | undefined,
): Promise<BlockId | Problem> {
  const { conversation, parent, prompt: text } = request;
  const known = await waitingIn(kernel, conversation);
  if (isProblem(known)) return known;
  if (known.length >= QUEUED_MESSAGES)
    return problem("busy", `${known.length} messages are already queued in this conversation`);
  const queued = await markOf(kernel.store, request);
  const said = await kernel.write(conversation, {
    agent: by,
    plan: (draft) => {
      const above = parent === undefined || parent === null ? undefined : draft.block(parent);
      if (isProblem(above)) return above; // now, while somebody listens
      const metadata = { turn: id, notice: "queued", queued, ...(node === undefined ? {} : { node }) };
      return draft.create({ kind: "text", role: "user", text, side: true, status: "pending", metadata });
    },
  });
  return isProblem(said) ? said : said.id;
}

/** Moves a message before or after its neighbour; returns the queued turns in their new order. */
export async function moveWaiting(
  kernel: Kernel,
  by: AgentId,
  conversation: ConversationId,
  turn: string,
  direction: "up" | "down",
): Promise<readonly string[] | Problem> {
  const all = await waitingIn(kernel, conversation);
  if (isProblem(all)) return all;
  const at = all.findIndex((block) => block.metadata.turn === turn);
  const moved = all[at];
  const other = all[at + (direction === "up" ? -1 : 1)];
  if (moved === undefined) return problem("gone", "this message is no longer queued");
  if (other === undefined)
    return problem("nothing", `it is already ${direction === "up" ? "first" : "last"}`);
  const places = new Map([
    [moved.id, placeOf(other)],
    [other.id, placeOf(moved)],
  ]);
  const written = await kernel.write(conversation, {
    agent: by,
    plan: (draft) => {
      for (const [id, place] of places) {
        const block = draft.block(id);
        if (isProblem(block)) return block;
        const mark = queuedIn(block);
        if (isEnded(block.status) || mark === undefined)
          return problem("conflict", "one of these messages is no longer queued");
        const after = draft.meta(id, { queued: { ...mark, place } });
        if (isProblem(after)) return after;
      }
      return null;
    },
  });
  if (isProblem(written)) return written;
  const order = all.map((block) => (block === moved ? other : block === other ? moved : block));
  return order.map((block) => block.metadata.turn ?? "");
}

function placeOf(block: Block): number {
  return queuedIn(block)?.place ?? block.born;
}

export function queuedIn({ metadata }: Pick<Block, "metadata">): QueuedMark | undefined {
  return metadata.notice === "queued" ? metadata.queued : undefined;
}

/** Messages that wait in a conversation, the next one first, those that are held among them. */
export async function waitingIn(
  kernel: Kernel,
  conversation: ConversationId,
): Promise<readonly Block[] | Problem> {
  const found: Block[] = [];
  // One that somebody has edited while it was queued is running.
  for (const status of ["pending", "running"] as const) {
    const open = await kernel.blocks({ conversation, status, order: "first", limit: limits.listRows });
    if (isProblem(open)) return open;
    found.push(...open.filter((block) => block.metadata.notice === "queued"));
  }
  return found.sort((a, b) => placeOf(a) - placeOf(b) || a.born - b.born);
}

/** Ends a message that waits; whether it still did. */
export function drop(kernel: Kernel, id: BlockId, by: AgentId, reason: Reason): Promise<boolean> {
  return changeWaiting(kernel, id, by, (draft) => draft.status(id, "error", { reason }));
}

/** Changes a message that waits; whether it still did. */
export async function changeWaiting(
  kernel: Kernel,
  id: BlockId,
  agent: AgentId,
  change: (draft: Draft, mark: QueuedMark | undefined) => unknown,
): Promise<boolean> {
  const changed = await kernel.writeBlock(id, {
    agent,
    plan: (draft) => {
      const block = draft.block(id);
      if (isProblem(block)) return block;
      if (isEnded(block.status)) return problem("conflict", "this message is no longer queued");
      const after = change(draft, queuedIn(block));
      return isProblem(after) ? after : null;
    },
  });
  return !isProblem(changed);
}

/** Marks whether the running agent has a queued message and is going to read it. */
export function markSent(kernel: Kernel, id: BlockId, by: AgentId, isSent: boolean): Promise<boolean> {
  return changeWaiting(kernel, id, by, (draft, mark) => {
    if (mark === undefined) return null;
    const { sent: _sent, ...rest } = mark;
    return draft.meta(id, { queued: isSent ? { ...rest, sent: true } : rest });
  });
}

/** Whether a commit has removed a message from the queue: it was dropped, or is held now. */
export function isTaken(blocks: readonly Block[], id: BlockId): boolean {
  return blocks.some(
    (block) => block.id === id && (block.status === "error" || queuedIn(block)?.held !== undefined),
  );
}
