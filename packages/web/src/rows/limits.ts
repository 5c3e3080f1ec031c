/** Bounds of rows. */

// Late asks
/** They are among the last blocks. */
export const LATE_ASK_BLOCKS = 300;

/** So much of a request on the screen is enough to notice it. */
export const ASK_SHOWN_PX = 120;
