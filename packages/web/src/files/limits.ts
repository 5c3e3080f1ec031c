/** Bounds of the files. */

// File pane
/** How often to check whether a file has changed. */
export const FILE_LOOK_MS = 3_000;

// Merge text
/** Lines that may differ before the texts count as two different ones: the time grows with its square. */
export const MERGED_EDITS = 2_000;

// Open file
export const FOUND_FILES = 100;

// Workspace
export const LISTED_FILES = 1_000;
export const PAGE_BLOCKS = 200;
