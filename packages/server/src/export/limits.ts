/** Bounds of exports: of a page's parts, and of the thread that makes it. */

// Export pool
/** Lines that are sent at once: so many, and so much text. */
export const SENT_LINES = 64;
export const SENT_CHARS = 256 * 1024;
/** Memory of the thread that makes exports. */
export const THREAD_MB = 1_024;

// Highlight
/** Beyond this a text is shown plain: colours are for reading, and nobody reads that much. */
export const HIGHLIGHTED_CHARS = 200_000;
/** What keeps a text of nothing but quotes from being read again for each of them. */
export const STRING_CHARS = 400;

// HTML block
/** Of a call's input. */
export const INPUT_CHARS = 200_000;
/** Of a thought, where its first sentence is looked for. */
export const THINKING_CHARS = 1_000;

// HTML item
/** A sub-agent's work with longer texts than this is closed. */
export const SHORT_WORK_LINES = 10;

// Tree
/** What is nested deeper, such as the work of a sub-agent's sub-agent's sub-agent, stands in one list. */
export const NESTED_LEVELS = 32;

// Markdown HTML
/** Longer texts are shown as they are: nobody reads them, and a lexer may take long over them. */
export const MARKDOWN_CHARS = 1_000_000;
export const MARKDOWN_DEPTH = 64;

// Terminal HTML
/** A longer output is cut. */
export const TERMINAL_CHARS = 2_000_000;
