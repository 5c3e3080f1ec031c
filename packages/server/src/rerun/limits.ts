/** Bounds of commands that are run again. */

// Confirmation
/** How long a confirmation is good, and how many may be open. */
export const CONFIRM_MS = 60_000;
export const MAX_OPEN_CONFIRMATIONS = 100;

// Contract
/** How long a command may run, if nothing else is said. */
export const RERUN_MS = 10 * 60_000;

// Output
/** What a command may print; the rest is counted and left out. */
export const OUTPUT_CHARS = 8 * 1024 * 1024;
/** What may wait to be written before the command is paused. */
export const UNWRITTEN_CHARS = 256 * 1024;

// Rerun
export const MAX_RUNNING_COMMANDS = 20;
