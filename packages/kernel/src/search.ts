/**
 * Search over blocks: narrowed by trigram filters, decided by the pattern itself, newest block first. It says which
 * blocks are looked at, in which order and when to stop; where blocks, filters and texts come from is the source's
 * business, which thread it runs on the caller's.
 *
 * Invariant: a filter only ever saves work. Without one, and with one that lets everything pass, the hits are the same.
 */

import type { Block, BlockId } from "./block.ts";
import { limits } from "./limits.ts";
import { compilePattern, type PatternSource } from "./pattern.ts";
import { isProblem, type Problem } from "./problem.ts";
import { type Matches, matchText } from "./search-match.ts";
import type { SearchAnswer, SearchHit, SearchMatch, SearchQuery } from "./store.ts";
import { type TrigramQuery, trigramsOf } from "./trigram.ts";

/** What searchBlocks searches. A store in memory answers at once, one far away later. */
export interface SearchSource {
  /**
   * The blocks that fit the query's conversation, kinds and path (`fitsSearch`) and that may hold what is asked for
   * (`mayContain`), the last created first. A block without a filter (its text is still growing) may hold anything.
   */
  candidates(
    query: SearchQuery,
    trigrams: TrigramQuery | undefined,
  ): Iterable<BlockId> | AsyncIterable<BlockId>;
  block(id: BlockId): Block | undefined | Promise<Block | undefined>;
  text(id: BlockId): string | Promise<string>;
}

/** Milliseconds that only go forward; any origin. */
export type Clock = () => number;

export async function searchBlocks(
  source: SearchSource,
  query: SearchQuery,
  clock: Clock,
): Promise<SearchAnswer | Problem> {
  const endMs = clock() + query.deadlineMs;
  const pattern = compilePattern(query);
  if (isProblem(pattern)) return pattern;
  const isLate = () => clock() >= endMs;
  const maxMatches = Math.min(query.maxMatchesPerBlock, limits.searchMatches);
  const maxBlocks = Math.min(query.maxBlocks, limits.searchBlocks);
  const hits: SearchHit[] = [];
  let contentChars = 0;
  for await (const id of source.candidates(query, trigramsOf(pattern.demand))) {
    if (hits.length >= maxBlocks || contentChars > limits.searchContentChars || isLate())
      return { hits, more: true };
    const text = await source.text(id);
    const found = matchText(text, pattern, { contextLines: query.contextLines, maxMatches, isLate });
    const block = found.matches.length === 0 ? undefined : await source.block(id);
    if (block !== undefined) {
      hits.push({ block, matches: found.matches, more: found.more });
      contentChars += found.matches.reduce((sum, match) => sum + match.content.length, 0);
    }
    if (found.late) return { hits, more: true };
  }
  return { hits, more: false };
}

/** Whether a block is among those that a query asks about. */
export function fitsSearch(block: Block, query: SearchQuery): boolean {
  if (query.conversation !== undefined && block.conversation !== query.conversation) return false;
  if (query.kinds !== undefined && !query.kinds.includes(block.kind)) return false;
  if (query.pathPrefix === undefined) return true;
  const path = block.metadata["path"];
  return typeof path === "string" && path.startsWith(query.pathPrefix);
}

export interface MatchQuery extends PatternSource {
  readonly contextLines: number;
  readonly maxMatches: number;
}

export interface MatchAnswer {
  readonly matches: readonly SearchMatch[];
  /** More matches than were asked for, or than the time allowed to find. */
  readonly more: boolean;
}

/** Finds a pattern in one text. The server's runs in a worker that can be killed. */
export type Matcher = (text: string, query: MatchQuery, deadlineMs: number) => Promise<MatchAnswer | Problem>;

/**
 * Finds it here and now. Late is noticed only between two matches and between two pieces of text: not for a server that
 * others wait for.
 */
export function inlineMatcher(clock: Clock): Matcher {
  return async (text, query, deadlineMs) => {
    const endMs = clock() + deadlineMs;
    return matchWithin(text, query, () => clock() >= endMs);
  };
}

export function matchWithin(text: string, query: MatchQuery, isLate: () => boolean): MatchAnswer | Problem {
  const pattern = compilePattern(query);
  if (isProblem(pattern)) return pattern;
  const { contextLines, maxMatches } = query;
  const found: Matches = matchText(text, pattern, {
    contextLines,
    maxMatches: Math.min(maxMatches, limits.searchMatches),
    isLate,
  });
  return { matches: found.matches, more: found.more };
}
