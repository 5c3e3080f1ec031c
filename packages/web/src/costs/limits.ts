/** Bounds of the costs. */

// Cost rows
export const REPORTED_DAYS = 3_660;
