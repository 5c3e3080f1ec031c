/** Bounds of Markdown and formulas. */

// Formula
export const KEPT_FORMULAS = 500;

// Math tree
/** A formula of more nodes is no formula that anybody reads. */
export const FORMULA_NODES = 4_000;
export const FORMULA_DEPTH = 80;

// Parse
export const GROUP_TOKENS = 24;
export const SPLIT_CHARS = 1_500;
/** What is near the end of a paragraph may still change its meaning: an open emphasis, half a link. */
export const KEEP_CHARS = 400;
/** Sentences that are looked at, from the end: where something is open for longer, the paragraph stays whole. */
export const SPLIT_TRIES = 24;
/** Of a longer end nothing is closed: looking for what is open takes too long in some. */
export const MEND_CHARS = 16_000;
