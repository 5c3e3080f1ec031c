/** Bounds of the palette and its dialogs. */

// Audit log
/** Entries requested at once. */
export const AUDIT_ENTRIES = 100;

// Commands
/** The palette has to be gone before another menu opens. */
export const PALETTE_CLOSED_MS = 50;
/** The list needs a moment to scroll there. */
export const GOTO_MS = 250;

// Delete conversation
/** The offer to undo ends a little before the server's time does. */
export const UNDO_EARLY_MS = 1_000;

// Palette
export const SHOWN_COMMANDS = 60;

// Search
export const SEARCH_PAUSE_MS = 120;
export const FOUND_BLOCKS = 40;
/** How often to ask again while the search index is being built. */
export const INDEXING_MS = 2_000;
