/** Bounds of actions on blocks and conversations. */

// My edits
/** The user's own edits that are kept. */
export const MY_EDITS = 500;
export const EDIT_SHOWN_CHARS = 60;
/** How long a change that the server has made may take to be here. */
export const EDIT_ARRIVES_MS = 2_000;

// Rename
export const TITLE_CHARS = 300;

// Usage limit
/** How many of the last blocks are searched. */
export const USAGE_BLOCKS = 200;

// Export
/** How long the browser may take to start a download. */
export const SAVED_URL_MS = 10_000;
