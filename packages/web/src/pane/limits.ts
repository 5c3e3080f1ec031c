/** Bounds of the side pane. */

// Changes
/** Files whose diffs are open by themselves. */
export const OPEN_FILES = 6;
/** Earlier blocks that are read; a conversation that has changed more says so. */
export const EARLIER_BLOCKS = 400;
/** Marks of reviewed files that a browser keeps, over all conversations. */
export const VIEWED_FILES = 2_000;

// Session
/** Names of tools, skills or commands that are listed before the user asks for all. */
export const LISTED_NAMES = 14;

// Outline
export const OUTLINE_BLOCKS = 500;
