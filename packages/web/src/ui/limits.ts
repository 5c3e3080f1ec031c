/** Bounds of the parts of the interface. */

// Copy
export const COPIED_MS = 1_500;

// Long words
export const LONG_WORD_CHARS = 1_000;
export const WORD_PART_CHARS = 200;

// Picture size
/** How much of the data is searched: the sizes of JPEGs come after camera metadata. */
export const MEASURED_BASE64_CHARS = 87_384;

// Wait
/** How long a new button for an irreversible action is disabled. */
export const UNPRESSABLE_MS = 500;
