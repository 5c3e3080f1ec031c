/** Bounds of diagrams. */

// Diagram fence
/** Cached drawings: the newest ones. */
export const KEPT_DRAWINGS = 40;

// Drawing
/** Deeper ones are left out. */
export const DRAWING_DEPTH = 100;

// Error words
export const ERROR_CHARS = 160;
/** Longer messages are not parsed: they quote the source. */
export const ERROR_MESSAGE_CHARS = 2_000;

// Message
/**
 * Longer sources are not drawn: the work grows faster than the text, and not every browser runs the frame in a separate
 * process (docs/decisions/0022-diagrams.md).
 */
export const MAX_SOURCE_CHARS = 10_000;
/** Mermaid's bound on the edges of one graph. */
export const MAX_EDGES = 200;
/** A drawing that takes longer is stopped, with its frame. */
export const DRAWING_MS = 10_000;
/** Longer drawings are not shown. */
export const MAX_DRAWING_CHARS = 1_000_000;
