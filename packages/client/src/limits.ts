/** Bounds of the client's connections. */

// Client
/** How long a server may take to answer for the first time. */
export const CONNECT_MS = 30_000;

// Link
/** How often a socket is pinged. */
export const PING_MS = 15_000;
/** An answer to a ping takes at most this. */
export const PONG_MS = 20_000;
/** The first pause before connecting again; each is twice the one before, up to the longest. */
export const FIRST_WAIT_MS = 250;
export const LONGEST_WAIT_MS = 10_000;
/** A connection that has lasted this long was a good one: the next pause is the shortest again. */
export const STEADY_MS = 10_000;

// LLM stream
/** The server says something every fifteen seconds: after this long the connection is dead. */
export const STREAM_SILENCE_MS = 45_000;
export const STREAM_FIRST_WAIT_MS = 250;
export const STREAM_LONGEST_WAIT_MS = 10_000;
