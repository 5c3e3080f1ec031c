/** Bounds of the sidebar. */

// Asked
/** Requests whose words are cached. */
export const KEPT_ASKS = 200;
export const ASKED_CHARS = 300;

// Conversations
/** Conversations requested at once, and in all. */
export const LISTED_CONVERSATIONS = 500;
export const MAX_CONVERSATIONS = 20_000;
/** The age of a running conversation is not shown to the second. */
export const AGE_STEP_MS = 30_000;

// Entry
/** How long one points at an entry before its facts are shown: who only passes by does not see them. */
export const CARD_MS = 450;

// Seen
export const SEEN_CONVERSATIONS = 500;
export const SEEN_SAVE_MS = 1_000;

// Sidebar
export const AGE_MS = 30_000;
/** Entries that are drawn; the filter finds the others. */
export const DRAWN_ENTRIES = 300;

// Workspace switcher
/** Folders that the menu names. */
export const NAMED_FOLDERS = 12;
