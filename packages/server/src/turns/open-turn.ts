/** Writes the start of a turn, its record and its prompt at the current head, in one write. It starts no agent. */

import {
  type BlockId,
  type Draft,
  isEnded,
  isProblem,
  type Op,
  type PictureSize,
  type Problem,
  problem,
} from "@blockyard/kernel";
import { writeAttachments } from "./attachments.ts";
import { keepMode, type Mode, modeIn } from "./mode.ts";
import type { TurnRequest, TurnStart } from "./run.ts";
import type { Queued } from "./steering.ts";
import { keepSwitched } from "./switched.ts";

export interface Opened {
  readonly prompt: BlockId;
  /** The conversation's. */
  readonly mode: Mode | undefined;
  readonly text: string;
}

/** The turn's record, and its prompt at its current place. Undefined: the queued message is at another version. */
export function openTurn(
  draft: Draft,
  {
    id,
    request,
    waiting,
  }: { readonly id: string; readonly request: TurnRequest; readonly waiting?: BlockId },
  version: number | undefined,
  node: string | undefined,
  /** The pictures attached to it. */
  sizes: ReadonlyMap<string, PictureSize>,
): Opened | Problem | undefined {
  const text = waiting === undefined ? request.prompt : draft.text(waiting).toString();
  if (waiting !== undefined) {
    const waited = draft.block(waiting);
    if (isProblem(waited)) return waited;
    if (waited.version !== version) return undefined;
    if (!isEnded(waited.status)) draft.status(waiting, "done");
  }
  const parent = writeAttachments(draft, id, request.attachments ?? [], request.parent, sizes);
  if (isProblem(parent)) return parent;
  const asked = draft.create({
    kind: "text",
    role: "user",
    text,
    side: false,
    status: "done",
    metadata: { turn: id, ...(request.author === undefined ? {} : { author: request.author }) },
    ...(parent === undefined ? {} : { parent }),
  });
  if (isProblem(asked)) return asked;
  const { cwd } = request;
  keepMode(draft, request.mode);
  if (cwd !== undefined && draft.record.metadata.cwd !== cwd) draft.conversation({ metadata: { cwd } });
  setRunning(draft, id, request, node);
  return { prompt: asked.id, text, mode: request.mode ?? modeIn(draft.record.metadata) };
}

/** The record alone, for a turn that the agent has begun by itself. A problem: there is no block before it. */
export function openOwnTurn(
  draft: Draft,
  { id, request }: Pick<Queued, "id" | "request">,
  node: string | undefined,
): Opened | Problem {
  const { head } = draft.record;
  if (head === null) return problem("invalid", "this conversation has no prompt yet");
  setRunning(draft, id, request, node);
  return { prompt: head, text: "", mode: request.mode };
}

function setRunning(draft: Draft, id: string, request: TurnRequest, node: string | undefined): void {
  keepSwitched(draft, id, request);
  draft.setTurn({
    id,
    provider: request.provider,
    agent: request.provider,
    startedBy: draft.agent,
    status: "running",
    startedAt: draft.at,
    ...(request.model === undefined ? {} : { model: request.model }),
    ...(node === undefined ? {} : { node, orders: [] }),
  });
}

/** The agent's start options. A mode that is no longer available is not replaced by a freer one. */
export function startOf(
  { id, by, request, isOwn }: Queued,
  { prompt, text, mode }: Opened,
  modes: readonly Mode[],
): TurnStart {
  const known = mode === undefined || modes.includes(mode) ? mode : "ask";
  const given = known === undefined ? {} : { mode: known };
  const start = { id, by, prompt, request: { ...request, prompt: text, ...given } };
  return isOwn ? { ...start, isOwn } : start;
}

export function isText({ body }: Op): boolean {
  return body.type === "append" || body.type === "splice";
}
