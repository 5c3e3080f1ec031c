/** Bounds of the inspector. */

// Authors
export const AUTHORED_CHARS = 20_000;

// Inspector
/** How long after a change the history is read again, and how much of it. */
export const HISTORY_MS = 250;
export const HISTORY_ROWS = 200;
