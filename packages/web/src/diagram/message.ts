/** What the page and the frame in which diagrams are drawn say to each other. */

export interface DrawRequest {
  readonly source: string;
  readonly isDark: boolean;
  /** Mermaid's theme variables. */
  readonly colors: Readonly<Record<string, string>>;
}

/** The temporary name of a style attribute, so that no parser treats it as one. */
export const STYLE = "data-style";

/** The drawing and its style sheet. */
export interface Svg {
  readonly svg: string;
  readonly css: string;
}

export type Drawn = Svg | { readonly error: string };
