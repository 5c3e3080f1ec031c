/** Bounds of commands that are run again. */

// Confirmation
/** How long a confirmation is good, and how many may be open. */
export const CONFIRM_MS = 60_000;
export const MAX_OPEN_CONFIRMATIONS = 100;

// Contract
/** A command's time limit by default. */
export const RERUN_MS = 10 * 60_000;

// Output
/** The limit on a command's output; the rest is counted and left out. */
export const OUTPUT_CHARS = 8 * 1024 * 1024;
/** Unwritten output before the command is paused. */
export const UNWRITTEN_CHARS = 256 * 1024;

// Rerun
export const MAX_RUNNING_COMMANDS = 20;
