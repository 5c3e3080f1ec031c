/** Bounds of streams that come in. */

// Call starts
/** Agents ask within a few milliseconds; a start that is told this late is still told at once for a person. */
export const START_HELD_MS = 150;

// Event redactor
/** So much of a call's input is held to be looked at as JSON; a longer one is looked at as a text. */
export const HELD_INPUT_CHARS = 256 * 1024;

// Ingest stream
/** So much of a stream is read to find out whose format it is. */
export const STREAM_HEAD_BYTES = 64 * 1024;

// Kept pictures
/** A smaller picture stays in the block that shows it. */
export const INLINE_PICTURE_CHARS = 4 * 1024;

// Pictures
/** As much as fits into a block's metadata when it is exported with its conversation. */
export const PICTURE_BYTES = 3_000_000;

// Raw lines
/** Raw lines are written when there are so many characters of them. */
export const RAW_FLUSH_CHARS = 64 * 1024;

// Redact body
/** A line that never ends is cut here, and its parts are looked at as texts. */
export const REDACTED_LINE_CHARS = 16 * 1024 * 1024;

// Secrets
/** Asks that are kept. */
export const MAX_ASKS = 1_000;
