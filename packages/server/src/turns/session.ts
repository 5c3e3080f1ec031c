/**
 * The sessions that an agent keeps itself: which of them a turn can go on with, and what that one does not know.
 *
 * The context of a turn is the path to its prompt, minus what was pruned, plus what was included. A session knows the
 * blocks of its own turns, and what it was told in front of them, which is remembered as a mark on the prompt. Two rules
 * follow, for every agent alike:
 *   - A session that knows what does not belong to the context any more (it stands on another way, or was pruned, or is no
 *     longer included) cannot forget it, so the turn does not go on with it.
 *   - What belongs to the context and is unknown to the session, or has changed since, is told (see briefing.ts).
 */

import {
  type Block,
  type BlockId,
  type Conversation,
  isProblem,
  type Kernel,
  type PathBlock,
  type Problem,
  pathIn,
  type ToldMark,
  type Turn,
} from "@blockyard/kernel";
import type { Agent } from "./agents.ts";
import { isShared, type News } from "./briefing.ts";
import type { TurnStart } from "./run.ts";

export interface Beginning {
  /** The session to go on with; undefined: a new one. */
  readonly session?: string;
  /** What it does not know, oldest first, included blocks in front. */
  readonly news: readonly News[];
  /** Versions of the included blocks. */
  readonly included: Readonly<Record<BlockId, number>>;
}

/** What a turn's context is made of. */
interface SessionBase {
  readonly kernel: Kernel;
  /** All blocks of the conversation. */
  readonly blocks: readonly Block[];
  /** Up to the turn's prompt, without the turn's own blocks. */
  readonly path: readonly PathBlock[];
  readonly inPath: ReadonlyMap<BlockId, PathBlock>;
  readonly included: readonly Block[];
}

export async function beginningOf(
  kernel: Kernel,
  agent: Pick<Agent, "provider" | "lost">,
  start: TurnStart,
  isLost = false,
): Promise<Beginning | Problem> {
  const { conversation, fresh } = start.request;
  const record = await kernel.conversation(conversation);
  if (isProblem(record)) return record;
  const turns = await kernel.turns(conversation);
  if (isProblem(turns)) return turns;
  const blocks = await kernel.allBlocks(conversation);
  if (isProblem(blocks)) return blocks;
  const path = pathIn(blocks, start.prompt).filter(({ metadata }) => metadata.turn !== start.id);
  const inPath = new Map(path.map((block) => [block.id, block]));
  const others = await includedIn(kernel, record, inPath);
  if (isProblem(others)) return others;
  const base = { kernel, blocks, path, inPath, included: others };
  const included = Object.fromEntries(others.map(({ id, version }) => [id, version]));
  for (const its of fresh || isLost ? [] : sessionsOf(turns, record, agent, start)) {
    const { session } = its;
    const known = knownOf(its, base);
    const news = known && (await newsFor(known, base));
    if (isProblem(news)) return news;
    if (news) return { session, news, included };
  }
  const said = path.filter((block) => !fresh && !block.pruned && isShared(block));
  const news = [...others.map(asIncluded), ...said.map((block) => ({ block, how: "new" }) as const)];
  return { news, included };
}

/** Remembered on the prompt: what the session was told in front of it. Undefined where nothing was to be told. */
export function markOf(
  { news, included }: Beginning,
  told: { readonly blocks: number; readonly leftOut: number },
  isFresh: boolean,
): ToldMark | undefined {
  if (news.length === 0 && !isFresh) return undefined;
  return { blocks: told.blocks, leftOut: told.leftOut, fresh: isFresh, included };
}

async function includedIn(
  kernel: Kernel,
  record: Conversation,
  inPath: ReadonlyMap<BlockId, Block>,
): Promise<readonly Block[] | Problem> {
  const found: Block[] = [];
  for (const id of record.included) {
    const block = inPath.has(id) ? undefined : await kernel.block(id);
    if (isProblem(block) && block.problem !== "not_found" && block.problem !== "gone") return block;
    if (block && !isProblem(block)) found.push(block);
  }
  return found;
}

/** A session of an agent in a conversation. */
interface Session {
  readonly session: string;
  readonly turns: ReadonlyMap<string, Turn>;
  /** The agent whose blocks are of this session where they are of no turn: of the last one that the conversation had. */
  readonly stray: string | undefined;
  readonly agents: ReadonlySet<string>;
}

/** An agent's sessions in a conversation, the latest first; not those that it has lost. */
function sessionsOf(
  turns: readonly Turn[],
  { sessions }: Conversation,
  { provider, lost }: Pick<Agent, "provider" | "lost">,
  start: TurnStart,
): readonly Session[] {
  // A session that a stream or an import has named was not begun here: who wrote the stream would choose what is resumed.
  const ran = (turn: Turn) => turn.startedBy !== undefined;
  const own = turns.filter((turn) => turn.provider === provider && turn.id !== start.id && ran(turn));
  const last = sessions[provider];
  const after = own.findLastIndex(({ error = "" }) => lost.test(error)) + 1;
  const named = own.slice(after).map((turn) => sessionOf(turn, last));
  const all = new Set(named.reverse());
  const agents = new Set([provider, ...own.map(({ agent }) => agent)]);
  return [...all].flatMap((session) => {
    if (session === undefined) return [];
    const its = own.filter((turn) => sessionOf(turn, last) === session);
    const stray = session === last ? provider : undefined;
    return [{ session, turns: new Map(its.map((turn) => [turn.id, turn])), stray, agents }];
  });
}

/** Turns of older versions do not say it; one that failed without saying it never got as far as a session. */
function sessionOf({ sessionId, status }: Turn, last: string | undefined): string | undefined {
  return sessionId ?? (status === "done" ? last : undefined);
}

/** What a session knows of the context. */
interface Known {
  readonly own: ReadonlySet<BlockId>;
  /** What is older does not belong to it: it began anew there. */
  readonly from: number;
  /** Up to here it has been told what others wrote. */
  readonly until: number;
  readonly included: Readonly<Record<BlockId, number>>;
}

/** Undefined where it knows what is not in the context. */
function knownOf(session: Session, base: SessionBase): Known | undefined {
  const { blocks, inPath } = base;
  const own = blocks.filter((block) => isOwn(session, block));
  if (own.some(({ id, side, pruned }) => pruned || (!side && !inPath.has(id)))) return undefined;
  const last = own.findLast((block) => toldOf(block) !== undefined);
  const known: Known = {
    own: new Set(own.map(({ id }) => id)),
    from: Math.max(own.findLast((block) => toldOf(block)?.fresh)?.born ?? -1, clearedAt(session, base)),
    until: last?.born ?? -1,
    included: (last && toldOf(last)?.included) ?? {},
  };
  return knowsTooMuch(known, base) ? undefined : known;
}

function isOwn({ turns, stray }: Session, { agent, role, metadata }: Block): boolean {
  const { turn } = metadata;
  if (turn === undefined) return agent === stray;
  const of = turns.get(String(turn));
  return of !== undefined && (of.agent === agent || role === "user");
}

/** An agent that is told to clear itself begins a new session; that it did may stand in the turn of either. */
function clearedAt({ agents }: Session, { blocks, inPath }: SessionBase): number {
  const reset = blocks.findLast(
    ({ id, agent, parent, metadata }) =>
      metadata.notice === "reset" && agents.has(agent) && (inPath.has(id) || inPath.has(parent ?? "")),
  );
  return reset?.born ?? -1;
}

/** It was told what has been pruned since, or is not included any more. */
function knowsTooMuch({ own, from, until, included }: Known, base: SessionBase): boolean {
  const { path, inPath } = base;
  const now = new Set(base.included.map(({ id }) => id));
  if (Object.keys(included).some((id) => !now.has(id) && inPath.get(id)?.pruned !== false)) return true;
  return path.some(
    ({ id, pruned, born, seq }) => pruned && !own.has(id) && born >= from && born <= until && seq > until,
  );
}

function toldOf({ metadata }: Block): ToldMark | undefined {
  return metadata.told;
}

async function newsFor(known: Known, base: SessionBase): Promise<readonly News[] | Problem> {
  const news: News[] = base.included
    .filter(({ id, version }) => known.included[id] !== version)
    .map(asIncluded);
  for (const block of base.path) {
    if (block.pruned || block.born < known.from || block.seq <= known.until || !isShared(block)) continue;
    if (known.own.has(block.id)) {
      const isEdited = block.promoted && (await isEditedSince(base.kernel, block, known.until));
      if (isProblem(isEdited)) return isEdited;
      if (isEdited) news.push({ block, how: "changed" });
    } else {
      news.push({ block, how: block.born > known.until ? "new" : "changed" });
    }
  }
  return news;
}

function asIncluded(block: Block): News {
  return { block, how: "included" };
}

/** By somebody else than the agent itself: that it has written on is nothing new to it. A prompt is known as it was sent. */
async function isEditedSince(
  kernel: Kernel,
  { id, agent, role }: Block,
  seq: number,
): Promise<boolean | Problem> {
  const log = await kernel.log(id, { seq });
  if (isProblem(log)) return log;
  if (log.fold) return true; // by whom is not known any more
  return log.ops.some((op) => op.body.type === "splice" && (role === "user" || op.agent !== agent));
}
