/** Bounds of Markdown and formulas. */

// Formula
export const KEPT_FORMULAS = 500;

// Markdown
/** Of a table's cell: a number, a name, a date. */
export const SHORT_CELL_CHARS = 12;

// Math tree
/** Nobody reads a formula of more nodes. */
export const FORMULA_NODES = 4_000;
export const FORMULA_DEPTH = 80;

// Parse
export const GROUP_TOKENS = 24;
export const SPLIT_CHARS = 1_500;
/** The end of a paragraph may still change its meaning: an open emphasis, half a link. */
export const KEEP_CHARS = 400;
/** Sentences checked, from the end: if something is open for longer, the paragraph stays whole. */
export const SPLIT_TRIES = 24;
/** A longer end is not closed: finding what is open can take too long. */
export const MEND_CHARS = 16_000;
