/** Bounds of rows. */

// Late asks
/** They are among the last blocks. */
export const LATE_ASK_BLOCKS = 300;

/** How much of a request has to be visible to be noticed. */
export const ASK_SHOWN_PX = 120;
