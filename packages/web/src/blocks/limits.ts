/** Bounds of how blocks are drawn. */

// Ask
/** Of a heading; a longer one is below it as a whole. */
export const HEADING_CHARS = 300;

// Ask answers
/** What `turn.answer` takes. */
export const ANSWER_MESSAGE_CHARS = 10_000;
/** More of an agent's suggestions are shown on request. */
export const SHOWN_ANSWERS = 3;

// Ask form
export const MENU_NAME_CHARS = 200;

// Ask questions
export const ANSWER_CHARS = 10_000;

// Ask subject
/** Longer JSON is shown on several lines. */
export const SUBJECT_LINE_CHARS = 80;

// Exact words
/** Longer words, or more lines of them, scroll in a box of their own. */
export const BOXED_CHARS = 600;
export const BOXED_LINES = 10;

// Excerpt
/** A text of more characters is not fetched to show seven lines of it. */
export const FETCHED_CHARS = 8 * 1024;
/** As many lines as an excerpt may have at either end. */
export const EXCERPT_END_LINES = 13;

// First entries
/** Entries of a list drawn at a time: more than anybody reads, and few for a browser. */
export const LIST_ENTRIES = 200;

// JSON view
/** Longer ones are trees. */
export const JSON_TEXT_CHARS = 4_000;
/** Entries drawn at a time. */
export const JSON_ENTRIES = 100;
export const JSON_VALUE_CHARS = 2_000;

// Notice
/** Of fewer characters nothing is hidden. */
export const SHORT_NOTICE_CHARS = 60;

// Thinking
/** More than two lines of any width have. */
export const THINKING_TAIL_CHARS = 600;
/** How much is searched for the first sentence. */
export const THINKING_CHARS = 1_000;

// Tool call
export const PROGRESS_LINES = 6;

// Tool result
/** Longer ones are shown unparsed: parsing them takes too long. */
export const JSON_CHARS = 2_000_000;

// Tool line
/** How often the time of a running call is drawn. */
export const CLOCK_MS = 1_000;
