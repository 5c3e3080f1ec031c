/** Bounds of the conversation: its list, find, places. */

// Announcer
export const SPOKEN_CHARS = 400;

// Find highlights
/** More than anybody looks at; the rest is marked when it is drawn alone. */
export const HIGHLIGHTED_RANGES = 2_000;

// Find
export const FIND_PAUSE_MS = 120;
/** What is being written is counted this often. */
export const FIND_COUNT_MS = 250;
export const FIND_MIN_CHARS = 2;
/** Of a block that has more, so many are counted and gone through. */
export const MATCHES_PER_BLOCK = 100;
/** The server answers page by page; of a conversation that has more, the newest are gone through. */
export const FIND_PAGES = 25;
/** A server that has much to do is asked again, at first after so long. */
export const FIND_TRIES = 4;
export const FIND_AGAIN_MS = 300;

// Guess
/** Characters in a line of usual width, to guess a height. */
export const GUESSED_LINE_CHARS = 80;

// List
/** Older blocks are fetched when the reader has less than so many screens of them above. */
export const AHEAD_SCREENS = 4;
/** Blocks that are asked for at once. */
export const PAGE_BLOCKS = 100;

// Place
/** The conversations that were left last; of the others the end is shown. */
export const KEPT_PLACES = 200;
/** When nothing has come for so long, the end is shown. */
export const PATIENCE_MS = 3_000;

// Printed
/** Rows that are drawn to be printed: the page stands still meanwhile. */
export const PRINTED_ROWS = 1_000;

// Turn footer
/** How often the time of a running turn is drawn. */
export const TURN_CLOCK_MS = 1_000;
/** A turn that is over by then needs no clock. */
export const CLOCKED_SECONDS = 3;

// Stage
/** Nobody scrolls if nothing was heard of it for so long. */
export const SCROLL_QUIET_MS = 160;
/** So long after the list has got another width, rows that have another height have it because of that. */
export const REFLOW_MS = 300;
