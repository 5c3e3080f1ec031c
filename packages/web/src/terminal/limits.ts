/** Bounds of terminal output. */

// Terminal
export const CHUNK_LINES = 64;
