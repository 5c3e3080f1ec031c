/** Bounds of diffs. */

// Diff rows
/** Texts that take longer to compare are shown as all removed and all added. */
export const EDIT_DIFF_MS = 50;
/** In longer lines it is not marked which words differ. */
export const MARKED_LINE_CHARS = 400;

// Net diff
/** Unchanged lines that are shown around changed ones. */
export const CONTEXT_LINES = 3;

// Diff view
export const CHUNK_ROWS = 64;
/** A longer diff is shown without colours. */
export const COLOURED_DIFF_CHARS = 200_000;
