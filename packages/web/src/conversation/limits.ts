/** Bounds of the conversation: its list, find, places. */

// Announcer
export const SPOKEN_CHARS = 400;

// Find highlights
/** More than anybody looks at; the rest is highlighted when it is drawn alone. */
export const HIGHLIGHTED_RANGES = 2_000;

// Find
export const FIND_PAUSE_MS = 120;
/** How often a growing text is counted. */
export const FIND_COUNT_MS = 250;
export const FIND_MIN_CHARS = 2;
/** For a block with more, this many are counted and visited. */
export const MATCHES_PER_BLOCK = 100;
/** The server answers page by page; for a conversation with more, the newest are visited. */
export const FIND_PAGES = 25;
/** A busy server is asked again, at first after this long. */
export const FIND_TRIES = 4;
export const FIND_AGAIN_MS = 300;

// Guess
/** Characters in a line of usual width, to guess a height. */
export const GUESSED_LINE_CHARS = 80;

// List
/** Older blocks are fetched when the user has less than this many screens of them above. */
export const AHEAD_SCREENS = 4;
/** Blocks requested at once. */
export const PAGE_BLOCKS = 100;

// Place
/** The conversations that were left last; of the others the end is shown. */
export const KEPT_PLACES = 200;
/** When nothing has arrived for this long, the end is shown. */
export const PATIENCE_MS = 3_000;

// Printed
/** Rows drawn for printing: the page is blocked meanwhile. */
export const PRINTED_ROWS = 1_000;

// Turn footer
/** How often the time of a running turn is drawn. */
export const TURN_CLOCK_MS = 1_000;
/** A turn that is over by then needs no clock. */
export const CLOCKED_SECONDS = 3;

// Stage
/** Without scroll events for this long, nobody is scrolling. */
export const SCROLL_QUIET_MS = 160;
/** For this long after a change of the list's width, rows change their height because of it. */
export const REFLOW_MS = 300;
