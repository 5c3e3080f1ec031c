/** Bounds of the running server: connections, how calls take turns. */

// Call gateway
/** A caller with a full queue retries after this. */
export const CALLER_REST_MS = 100;
/** How much of an agent's stream is processed at once: its lines may be a hundred blocks. */
export const INGEST_BYTES = 4 * 1024;

// Call scheduler
/** If the process was idle for this long during a call, the call is waiting, and others may begin. */
export const RESTED_MS = 20;
/** However busy the process is, the next call begins after this. */
export const LONGEST_REST_MS = 250;
/** How often the idle time is checked. */
export const REST_LOOK_MS = 2;

// Listeners
/** Connections of the whole server. */
export const MAX_CONNECTIONS = 2_000;

// Serve
/** How often the server tidies up. */
export const UPKEEP_MS = 60_000;
