/** Bounds of the parts of the interface. */

// Copy
export const COPIED_MS = 1_500;

// Long words
export const LONG_WORD_CHARS = 1_000;
export const WORD_PART_CHARS = 200;

// Picture size
/** So much of the data is looked at: the sizes of JPEGs stand behind what cameras write. */
export const MEASURED_BASE64_CHARS = 87_384;

// Wait
/** How long a new button that does something for good cannot be pressed. */
export const UNPRESSABLE_MS = 500;
