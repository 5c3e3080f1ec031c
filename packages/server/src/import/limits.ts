/** Bounds of imports: what is read and written at once. */

// Import export
/** The size of one write of an import. */
export const BATCH_BLOCKS = 100;
export const BATCH_CHARS = 4 * 1024 * 1024;
/** A conversation's record is written with every change of it: it stays small. */
export const MOST_SESSIONS = 100;
/** The part of a line that an error repeats. */
export const SAID_CHARS = 80;

// Import stream
/** A block's text may have 64 MB; escaped it is longer. */
export const LINE_BYTES = 256 * 1024 * 1024;

// Log body
/** A log that has not changed for this long counts as finished. */
export const LIVE_MS = 10 * 60_000;
export const LOG_EVENTS_PER_LINE = 100;
export const RAW_PIECE_BYTES = 256 * 1024;

// Session logs
/** How much of a log is read at once. */
export const LOG_CHUNK_BYTES = 256 * 1024;
