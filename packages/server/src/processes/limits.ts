/** Bounds of child processes. */

// Child mark
/** How often marked processes are searched for and killed: they may start others meanwhile. */
export const MARK_ROUNDS = 20;

// Child
/** How much of the end of a process's errors is kept. */
export const STDERR_TAIL_CHARS = 8 * 1024;
/** A process that leaves so much of its input unread is ended. The longest prompt, with its pictures, takes a third. */
export const UNREAD_BYTES = 256 * 1024 * 1024;
/** How long a process has to end by itself. */
export const GRACE_MS = 3_000;

// Visible
/** A longer run of one character is counted instead of spelt. */
export const RUN_CHARS = 16;
