/**
 * What the pool and its thread say to each other. One request is at work at a time; an answer needs no number.
 * `index` and `end` are not answered; any other request is by `begun`, when the thread has made ready and what follows is up to the pattern, and then by
 * `answer` or `failed`.
 */

import type {
  Block,
  MatchAnswer,
  MatchQuery,
  Op,
  Problem,
  SearchAnswer,
  SearchQuery,
} from "@blockyard/kernel";

/**
 * A thread that gets less than this share of a processor is not slow itself: the machine is busy. It then has more
 * wall-clock time, up to `ms`.
 */
export const starved = { share: 0.5, ms: 2_000 } as const;

export type Request =
  | ({
      readonly type: "search";
      readonly query: SearchQuery;
      /** Blocks with changes that the tables do not have yet. */
      readonly memtable: readonly MemtableBlock[];
    } & Changes)
  | ({ readonly type: "index" } & Changes)
  | { readonly type: "end" }
  | {
      readonly type: "match";
      readonly text: string;
      readonly query: MatchQuery;
      readonly deadlineMs: number;
    };

/** The tables' changes since the last request. */
export interface Changes {
  /** Rows of blocks that have changed; absent: any may have. */
  readonly changed: readonly number[] | undefined;
  /** All that journal rows before this one say is in the tables. */
  readonly flushedBefore: number;
  /** Conversations were removed for ever. */
  readonly hasRemoved?: true | boolean;
}

export interface MemtableBlock {
  readonly record: Block;
  /** Its number in the tables, where it may not be yet. */
  readonly row: number;
  /** Ops that the tables lack, or have got in the meantime. */
  readonly pending: readonly Op[];
}

export type Reply =
  | { readonly type: "begun" }
  /** A message for the operator, not an answer. */
  | { readonly type: "note"; readonly message: string }
  | { readonly type: "answer"; readonly answer: SearchAnswer | MatchAnswer | Problem }
  | { readonly type: "failed"; readonly message: string; readonly stack: string | undefined };
