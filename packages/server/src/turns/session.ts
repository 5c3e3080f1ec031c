/**
 * The sessions that an agent keeps itself: which of them a turn can continue, and what that session does not know.
 *
 * The context of a turn is the path to its prompt, minus pruned blocks, plus included ones. A session knows the
 * blocks of its own turns, and what it was told in front of them, which is recorded on the prompt. Two rules
 * follow, for every agent alike:
 *   - A session that knows something outside the context (on another branch, pruned, or no
 *     longer included) cannot forget it, so the turn does not continue it.
 *     If the agent can copy its session up to the end of a turn, the turn continues a copy of the part that it may know.
 *   - What belongs to the context and is unknown to the session, or has changed since, is told (see briefing.ts). So is
 *     the text that the agent was writing when its process died: agents keep only what is complete.
 */

import {
  askOf,
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
import { isEditedSince } from "./edited.ts";
import type { TurnStart } from "./run.ts";

export interface Beginning {
  /** The session to go on with; undefined: a new one. */
  readonly session?: string;
  /** It goes on with a copy of the session, up to the end of this turn. `at` is the agent's own name of that place. */
  readonly cut?: Cut;
  /** What it does not know, oldest first, included blocks in front. */
  readonly news: readonly News[];
  /** Versions of the included blocks. */
  readonly included: Readonly<Record<BlockId, number>>;
}

interface Cut {
  readonly turn: string;
  readonly at: string;
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
  const sessions = fresh || isLost ? [] : sessionsOf(turns, record, agent, start, blocks);
  for (const its of [...sessions, ...cutsOf(sessions)]) {
    const known = knownOf(its, base);
    const news = known && (await newsFor(known, base));
    if (isProblem(news)) return news;
    if (news) return { session: its.session, ...(its.cut ? { cut: its.cut } : {}), news, included };
  }
  const said = path.filter((block) => !fresh && !block.pruned && isShared(block));
  const news = [...others.map(asIncluded), ...said.map((block) => ({ block, how: "new" }) as const)];
  return { news, included };
}

/** Remembered on the prompt: what the session was told in front of it. Undefined where nothing was to be told. */
export function markOf(
  { news, included, session, cut }: Beginning,
  told: { readonly blocks: number; readonly leftOut: number },
  isFresh: boolean,
): ToldMark | undefined {
  const from = session === undefined || cut === undefined ? undefined : { from: { session, turn: cut.turn } };
  if (news.length === 0 && !isFresh && from === undefined) return undefined;
  return { blocks: told.blocks, leftOut: told.leftOut, fresh: isFresh, included, ...from };
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

/** A session of an agent in a conversation, or its part up to the end of a turn. */
interface Session {
  readonly session: string;
  readonly cut?: Cut;
  /** Its turns, those of the session that it is a copy of in front. */
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
  blocks: readonly Block[],
): readonly Session[] {
  // A session that a stream or an import has named was not begun here: who wrote the stream would choose what is resumed.
  const ran = (turn: Turn) => turn.startedBy !== undefined;
  const own = turns.filter((turn) => turn.provider === provider && turn.id !== start.id && ran(turn));
  const last = sessions[provider];
  const after = own.findLastIndex(({ error = "" }) => lost.test(error)) + 1;
  const named = own.slice(after).map((turn) => sessionOf(turn, last));
  const all = new Set(named.reverse());
  const agents = new Set([provider, ...own.map(({ agent }) => agent)]);
  const origins = originsIn(blocks);
  const turnsOf = (session: string): readonly Turn[] => {
    const its = own.filter((turn) => sessionOf(turn, last) === session);
    const from = its.map(({ id }) => origins.get(id)).find((origin) => origin !== undefined);
    // Copies of copies: each names a session that is older.
    const older = from === undefined || from.session === session ? [] : turnsOf(from.session);
    return [...older.slice(0, older.findIndex(({ id }) => id === from?.turn) + 1), ...its];
  };
  return [...all].flatMap((session) => {
    if (session === undefined) return [];
    const stray = session === last ? provider : undefined;
    const its = turnsOf(session).map((turn) => [turn.id, turn] as const);
    return [{ session, turns: new Map(its), stray, agents }];
  });
}

/** By the turn with which a session began, what it is a copy of. */
function originsIn(blocks: readonly Block[]): ReadonlyMap<string, NonNullable<ToldMark["from"]>> {
  const origins = new Map<string, NonNullable<ToldMark["from"]>>();
  for (const block of blocks) {
    const from = toldOf(block)?.from;
    if (from !== undefined && block.metadata.turn !== undefined) origins.set(block.metadata.turn, from);
  }
  return origins;
}

/** Their parts up to the end of each turn at which the agent can cut them, the latest first. */
function cutsOf(sessions: readonly Session[]): readonly Session[] {
  const cuts = sessions.flatMap((whole) => {
    const all = [...whole.turns.values()];
    const its = all.flatMap((turn, i) => {
      const at = turn.native?.["resume_at"];
      // What it is a copy of is cut itself.
      if (typeof at !== "string" || turn.status !== "done" || turn.sessionId !== whole.session) return [];
      const turns = new Map(all.slice(0, i + 1).map((each) => [each.id, each]));
      const { startedAt } = turn;
      return [{ ...whole, stray: undefined, cut: { turn: turn.id, at }, turns, startedAt }];
    });
    return its.reverse();
  });
  return cuts.sort((a, b) => b.startedAt - a.startedAt);
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
  /** Its turns in which the agent's process died. */
  readonly died: ReadonlySet<string>;
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
    died: new Set([...session.turns.values()].filter(hasDied).map(({ id }) => id)),
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
      const isCut = block.born > known.until && isCutOff(known, block);
      const isEdited = block.promoted && (await isEditedSince(base.kernel, block, known.until));
      const isNews = isEdited === true ? !(await isApproved(base, block)) : isEdited;
      if (isProblem(isNews)) return isNews;
      if (isCut || isNews) news.push({ block, how: isCut ? "cut" : "changed" });
    } else {
      news.push({ block, how: block.born > known.until ? "new" : "changed" });
    }
  }
  return news;
}

function hasDied({ status, reason }: Turn): boolean {
  return status === "error" && reason === "interrupted";
}

/** What an agent was writing when its process died; what it was stopped in, it knows. */
function isCutOff({ died }: Known, { kind, role, side, metadata }: Block): boolean {
  const isText = kind === "text" && role === "model" && !side;
  return isText && metadata.reason === "interrupted" && died.has(String(metadata.turn));
}

function asIncluded(block: Block): News {
  return { block, how: "included" };
}

/** A plan that reads as it was approved: the agent got it so, with the answer. */
async function isApproved({ kernel, blocks }: SessionBase, plan: Block): Promise<boolean> {
  const asks = blocks.flatMap(({ metadata }) => askOf(metadata) ?? []);
  const approved = asks.findLast(({ state, plan: id }) => id === plan.id && state === "allowed");
  if (approved === undefined) return false;
  const now = await kernel.whole(plan.id);
  return !isProblem(now) && now.text === approved.answer?.text;
}
