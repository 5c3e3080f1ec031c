/** Bounds of rows. */

// Late asks
/** They are among the last blocks. */
export const LATE_ASK_BLOCKS = 300;
