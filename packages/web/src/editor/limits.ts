/** Bounds of the editor. */

// Colours
/** How often at most colours are asked for. */
export const COLOURS_MS = 150;

// The session
/** How often edits, and one's cursor, are sent. */
export const SEND_MS = 60;
export const CURSOR_MS = 150;
export const CURSOR_AGAIN_MS = 25_000;
/** What one change may bring: it goes out in one frame of a million bytes, and takes a third more there. */
export const CHANGE_BYTES = 700_000;
export const LARGE_BYTES = 50_000;
