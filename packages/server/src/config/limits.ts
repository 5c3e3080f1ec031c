/** Bounds of what settings may be. */

// Credentials file
/** A longer file holds no credentials of ours. */
export const CREDENTIALS_BYTES = 64 * 1024;
