/** Bounds of how stores encode. */

// Bytes
/** A longer string is not tried as ASCII. */
export const SHORT_STRING_CHARS = 128;
/** Larger memory than this is not kept for the next use. */
export const KEPT_BYTES = 4 * 1024 * 1024;

// Codec
/** Shorter than this, compressing gains nothing. */
export const PACK_BYTES = 512;

// Runs
/** A chunk of at least this many bytes, uncompressed, is left as it is. */
export const FULL_CHUNK_BYTES = 16 * 1024;

// Text
/** A growing text is kept in pieces of about this length. */
export const TEXT_PIECE_CHARS = 32 * 1024;
