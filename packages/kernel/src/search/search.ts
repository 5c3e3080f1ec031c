/**
 * Search over blocks: narrowed by an index, decided by the pattern itself, newest block first. It says which
 * blocks are looked at, in which order and when to stop; where blocks, index and texts come from is the source's
 * business, which thread it runs on the caller's.
 *
 * Invariant: an index only ever saves work. Without one, and with one that lets everything pass, the hits are the same.
 */

import type { Block } from "../model/block.ts";
import type { BlockId } from "../model/ids.ts";
import { limits } from "../model/limits.ts";
import { isProblem, type Problem, problem } from "../model/problem.ts";
import type {
  SearchAnswer,
  SearchHit,
  SearchIndexing,
  SearchMatch,
  SearchPlace,
  SearchQuery,
} from "../ports/store.ts";
import { newestBlockFirst } from "../ports/store-rules.ts";
import { compilePattern, type Pattern, type PatternSource } from "./pattern.ts";
import { type Matches, matchText } from "./search-match.ts";
import type { Demand } from "./search-syntax.ts";

/**
 * The source that searchBlocks searches. A store in memory answers at once, a remote one later. `C` is the source's own
 * reference to a block.
 */
export interface SearchSource<C = BlockId> {
  /**
   * The blocks that fit the query's conversation, kinds and path (`fitsSearch`) and that may contain the demanded
   * strings, newest first (`newestBlockFirst`) as far as an index knows them. A block that is not indexed (its text is
   * still growing) may contain anything. Stops finding candidates at the deadline.
   */
  candidates(query: SearchQuery, demand: Demand, isLate: () => boolean): Iterable<C> | AsyncIterable<C>;
  block(candidate: C): Block | undefined | Promise<Block | undefined>;
  text(candidate: C): string | Promise<string>;
  /** Whether it comes after all that are ordered by age: no page can continue after it. Absent: none does. */
  isUnordered?(candidate: C): boolean;
  /** The index's progress, while it is incomplete. */
  indexing?(): SearchIndexing | undefined;
}

/** Milliseconds that only go forward; any origin. */
export type Clock = () => number;

/**
 * Runs `work` and stops it, wherever it is, after `leftMs`: then the result is undefined. If nothing can stop a
 * function from outside, `work` just runs.
 */
export type Guard = <T extends object>(work: () => T, leftMs: number) => T | undefined;

const unguarded: Guard = (work) => work();

export async function searchBlocks<C>(
  source: SearchSource<C>,
  query: SearchQuery,
  clock: Clock,
  guard: Guard = unguarded,
): Promise<SearchAnswer | Problem> {
  const search = new TimedMatching(query, query.deadlineMs, clock, guard);
  const { pattern } = search;
  if (isProblem(pattern)) return pattern;
  const options = { contextLines: query.contextLines, maxMatches: query.maxMatchesPerBlock };
  const maxBlocks = Math.min(query.maxBlocks, limits.searchBlocks);
  const hits: SearchHit[] = [];
  let contentChars = 0;
  let last: C | undefined;
  const answer = async (more: boolean): Promise<SearchAnswer> => {
    const indexing = source.indexing?.();
    const next = more ? await placeOf(source, last, query.after) : undefined;
    return {
      hits,
      more,
      ...(next === undefined ? {} : { next }),
      ...(indexing === undefined ? {} : { indexing }),
    };
  };
  for await (const candidate of source.candidates(query, pattern.demand, search.isLate)) {
    if (hits.length >= maxBlocks || contentChars > limits.searchContentChars || search.isLate())
      return await answer(true);
    const found = search.matches(await source.text(candidate), pattern, options);
    // Stopped in the middle of the very first block: the pattern is too expensive for any.
    if (found === undefined) return last === undefined ? search.timeout() : await answer(true);
    last = candidate;
    const block = found.matches.length === 0 ? undefined : await source.block(candidate);
    if (block !== undefined) {
      hits.push({ block, matches: found.matches, more: found.more });
      contentChars += found.matches.reduce((sum, match) => sum + match.content.length, 0);
    }
    if (found.late) return await answer(true);
  }
  return await answer(search.isLate());
}

/** The start of the next page: after the last block searched, or where this one began if there was none. */
async function placeOf<C>(
  source: SearchSource<C>,
  last: C | undefined,
  after: SearchPlace | undefined,
): Promise<SearchPlace | undefined> {
  if (last === undefined) return after;
  if (source.isUnordered?.(last) === true) return undefined;
  const block = await source.block(last);
  return block && { createdAt: block.createdAt, conversation: block.conversation, born: block.born };
}

/** Whether a block is among those that a query asks about. */
export function fitsSearch(block: Block, query: SearchQuery): boolean {
  if (query.conversation !== undefined && block.conversation !== query.conversation) return false;
  if (query.except?.includes(block.conversation)) return false;
  if (query.kinds !== undefined && !query.kinds.includes(block.kind)) return false;
  if (query.after !== undefined && newestBlockFirst(block, query.after) <= 0) return false;
  if (query.pathPrefix === undefined) return true;
  const path = block.metadata.path;
  return typeof path === "string" && path.startsWith(query.pathPrefix);
}

export interface MatchQuery extends PatternSource {
  readonly contextLines: number;
  readonly maxMatches: number;
}

export interface MatchAnswer {
  readonly matches: readonly SearchMatch[];
  /** More matches than requested, or than the time allowed. */
  readonly more: boolean;
}

/** Finds a pattern in one text. The server's runs in a worker that can be killed. */
export type Matcher = (text: string, query: MatchQuery, deadlineMs: number) => Promise<MatchAnswer | Problem>;

/**
 * Finds it here and now. Late is noticed only between two matches and between two pieces of text: not for a server that
 * others wait for.
 */
export function inlineMatcher(clock: Clock): Matcher {
  return async (text, query, deadlineMs) => matchWithin(text, query, deadlineMs, clock);
}

export function matchWithin(
  text: string,
  query: MatchQuery,
  deadlineMs: number,
  clock: Clock,
  guard: Guard = unguarded,
): MatchAnswer | Problem {
  const matching = new TimedMatching(query, deadlineMs, clock, guard);
  if (isProblem(matching.pattern)) return matching.pattern;
  const found = matching.matches(text, matching.pattern, query);
  return found === undefined ? matching.timeout() : { matches: found.matches, more: found.more };
}

/** Compiling and matching with one deadline over both. */
class TimedMatching {
  readonly pattern: Pattern | Problem;
  readonly #deadlineMs: number;
  readonly #endMs: number;
  readonly #clock: Clock;
  readonly #guard: Guard;

  constructor(source: PatternSource, deadlineMs: number, clock: Clock, guard: Guard) {
    this.#deadlineMs = deadlineMs;
    this.#endMs = clock() + deadlineMs;
    this.#clock = clock;
    this.#guard = guard;
    this.pattern = this.#guarded(() => compilePattern(source)) ?? this.timeout();
  }

  readonly isLate = () => this.#clock() >= this.#endMs;

  /** Undefined if it had to be stopped. */
  matches(
    text: string,
    pattern: Pattern,
    { contextLines, maxMatches }: { contextLines: number; maxMatches: number },
  ): Matches | undefined {
    const options = {
      contextLines,
      maxMatches: Math.min(maxMatches, limits.searchMatches),
      isLate: this.isLate,
    };
    const work = () => matchText(text, pattern, options);
    return text.length * pattern.weight <= limits.lightSearchWork ? work() : this.#guarded(work);
  }

  timeout(): Problem {
    const message = `The search timed out after ${this.#deadlineMs} ms. Use a simpler pattern or search fewer blocks.`;
    return problem("timeout", message, { deadline_ms: this.#deadlineMs });
  }

  #guarded<T extends object>(work: () => T): T | undefined {
    return this.#guard(work, Math.max(1, this.#endMs - this.#clock()));
  }
}
