/**
 * What the page and the highlighting worker say to each other. A token is a length and a colour's number, so that a line
 * costs two integers a word; the colours' names are in `COLORS`.
 */

export interface HighlightRequest {
  /** The same text as it grows has the same name: only its new lines are coloured. */
  readonly name: string;
  readonly grammar: string;
  readonly text: string;
}

/** Lengths and colours of one line, alternating. */
export type LineTokens = readonly number[];

export interface HighlightAnswer {
  readonly name: string;
  /** Lines before this one are as they were. */
  readonly from: number;
  readonly lines: readonly LineTokens[];
  /** How long the text was that this answers. */
  readonly chars: number;
}

/** Class names; the number of a colour is its place here. */
export const COLORS = [
  "",
  "constant",
  "string",
  "comment",
  "keyword",
  "parameter",
  "function",
  "string-expression",
  "punctuation",
  "link",
] as const;
