/**
 * How freely an agent works. The same words for every agent; each driver says which it knows, and what they are called there.
 */

/** Plan only, ask before it changes anything, edit without asking, do everything. */
export const MODES = ["plan", "ask", "edits", "full"] as const;
export type Mode = (typeof MODES)[number];
