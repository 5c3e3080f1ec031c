/** Bounds of streams that come in. */

// Call starts
/** Agents ask within a few milliseconds; a start that is shown this late still seems immediate to a person. */
export const START_HELD_MS = 150;

// Event redactor
/** How much of a call's input is held to be parsed as JSON; a longer one is scanned as a text. */
export const HELD_INPUT_CHARS = 256 * 1024;

// Ingest stream
/** How much of a stream is read to detect its format. */
export const STREAM_HEAD_BYTES = 64 * 1024;
/** How many lines show its shape, and how many may come before its session. */
export const STREAM_SHAPE_LINES = 3;
export const STREAM_HEAD_LINES = 40;
/** How much of earlier runs a stream that continues them is compared with: lines of each, and the last so many runs. */
export const REPEATED_LINES = 400;
export const REPEATED_RUNS = 10;
/** Conversations that hold the same session. */
export const REPEATED_PLACES = 4;
/** So many lines of a run that was cut short are said again only by the same run. */
export const REPEATED_LEAST_LINES = 4;

// Kept pictures
/** A smaller picture stays in the block that shows it. */
export const INLINE_PICTURE_CHARS = 4 * 1024;

// Pictures
/** The size that fits into a block's metadata when it is exported with its conversation. */
export const PICTURE_BYTES = 3_000_000;

// Raw lines
/** Raw lines are written when they have this many characters. */
export const RAW_FLUSH_CHARS = 64 * 1024;

// Redact body
/** An endless line is cut here, and its parts are scanned as texts. */
export const REDACTED_LINE_CHARS = 16 * 1024 * 1024;

// Secrets
/** Asks that are kept. */
export const MAX_ASKS = 1_000;
