/** Bounds of the side pane. */

// Changes
/** Files whose diffs are open by themselves. */
export const OPEN_FILES = 6;
/** Blocks of earlier that are read; a conversation that has changed more says so. */
export const EARLIER_BLOCKS = 400;

// Outline
export const OUTLINE_BLOCKS = 500;
