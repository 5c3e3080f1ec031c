/** Patterns, matches and trigrams, for a thread that searches and needs nothing else of the kernel. Everything here is in index.ts too. */

export { foldCase } from "./search/case-fold.ts";
export { compilePattern } from "./search/pattern.ts";
export {
  type Clock,
  fitsSearch,
  type Guard,
  inlineMatcher,
  type MatchAnswer,
  type Matcher,
  type MatchQuery,
  matchWithin,
  type SearchSource,
  searchBlocks,
} from "./search/search.ts";
export { matchText } from "./search/search-match.ts";
export type { Demand } from "./search/search-syntax.ts";
export { filterOf, mayContain, type TrigramQuery, trigramsOf } from "./search/trigram.ts";
