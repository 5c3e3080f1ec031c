/** Bounds of our own loop, of its requests and its tools. */
export const bounds = {
  /** How much of an error response is read. */
  errorBytes: 64 * 1024,
  /** How much is shown of an error that is not JSON, such as a proxy's page. */
  errorChars: 500,
} as const;

// Asking
/** How often a model is asked, and the delays in between. */
export const REQUEST_TRIES = 6;
export const FIRST_PAUSE_MS = 500;
export const MOST_PAUSE_MS = 60_000;

// Calls
export const PARALLEL_CALLS = 8;

// Context
export const INPUT_DEPTH = 64;

// Loop
/** Requests of one turn; and how long a model may say nothing. */
export const LOOP_ROUNDS = 50;
export const MODEL_SILENT_MS = 5 * 60_000;

// Result text
/** A longer text is sent to the model without its middle. */
export const RESULT_CHARS = 60_000;

// Bash
/** How long a command may run if the model says nothing, and at most. */
export const BASH_MS = 120_000;
export const LONGEST_BASH_MS = 600_000;
/** The limit on a command's output; the rest is counted and left out. */
export const BASH_OUTPUT_CHARS = 1024 * 1024;

// Files
/** Lines of one answer. */
export const READ_LINES = 2_000;
/** No longer file is read either. */
export const READ_FILE_CHARS = 10 * 1024 * 1024;

// Find
export const WALKED_FILES = 100_000;
export const LISTED_FILES = 1_000;
export const SEARCHED_BYTES = 128 * 1024 * 1024;
export const SEARCHED_FILE_BYTES = 2 * 1024 * 1024;
export const FIND_MS = 20_000;
export const FIND_MATCH_MS = 5_000;
export const GLOB_STARS = 3;
export const GLOB_DEPTHS = 4;
export const GLOB_WAYS = 64;

// Guarded
/** Names in the workspace that are checked for guarded files before a command runs. */
export const GUARDED_LOOKED_AT = 20_000;
/** Guarded files that a message names. */
export const GUARDED_NAMED = 5;

// Workspace
export const READ_FILE_BYTES = 10 * 1024 * 1024;
