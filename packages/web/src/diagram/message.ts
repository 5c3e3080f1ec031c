/**
 * What the page and the frame in which diagrams are drawn say to each other, and the bounds of it.
 */

/**
 * Longer sources are not drawn: the work grows faster than the text, and not every browser runs the frame beside the page
 * (docs/decisions/0022-diagrams.md).
 */
export const MAX_SOURCE_CHARS = 10_000;
/** Mermaid's bound on the edges of one graph. */
export const MAX_EDGES = 200;
/** A drawing that takes longer is given up, with its frame. */
export const DEADLINE_MS = 10_000;
/** Longer drawings are not shown. */
export const MAX_DRAWING_CHARS = 1_000_000;

export interface DrawRequest {
  readonly source: string;
  readonly isDark: boolean;
  /** Mermaid's theme variables. */
  readonly colors: Readonly<Record<string, string>>;
}

/** What a style attribute is called on its way, so that no parser takes it for one. */
export const STYLE = "data-style";

/** The drawing and its style sheet. */
export interface Svg {
  readonly svg: string;
  readonly css: string;
}

export type Drawn = Svg | { readonly error: string };
