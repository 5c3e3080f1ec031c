/** Bounds of the running server: connections, how calls take turns. */

// Call gateway
/** Who has too much waiting already looks again after this. */
export const CALLER_REST_MS = 100;
/** How much of a stream of an agent is taken in at once: its lines may be a hundred blocks. */
export const INGEST_BYTES = 4 * 1024;

// Call scheduler
/** A call during which the process has rested for so long waits for something, and others may begin. */
export const RESTED_MS = 20;
/** However busy the process is, somebody's turn comes after this. */
export const LONGEST_REST_MS = 250;
/** How often it is looked whether there was rest enough. */
export const REST_LOOK_MS = 2;

// Listeners
/** Connections of the whole server. */
export const MAX_CONNECTIONS = 2_000;

// Serve
/** How often the server tidies up. */
export const UPKEEP_MS = 60_000;
