/** Bounds of colours of code. */

// Code lines
export const CHUNK_LINES = 64;

// Highlight
export const COLOURED_CHARS = 1_000_000;
export const KEPT_TEXTS = 200;

// Highlight
export const SEEN_TEXTS = 100;
export const COLOURED_LINE_CHARS = 2_000;
export const COLOURED_LINES = 20_000;
/** The first line of a language includes compiling it; a line that takes longer leaves the rest in its colour. */
export const LINE_MS = 10_000;

// Near
/** Texts of more lines than this count as very long. */
export const MANY_LINES = 2_000;
