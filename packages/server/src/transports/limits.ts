/**
 * Bounds of requests, frames, sockets and streams. None of them ends a stream that is read: a connection may live for as
 * long as both ends want it.
 */

export const bounds = {
  /** An idle stream sends something this often, so that no proxy considers it dead. */
  keepAliveMs: 15_000,
  /** The queue of a reader of server-sent events; one that is further behind is disconnected, and may resume. */
  queuedBytes: 4 * 1024 * 1024,
  /** Existing content is sent as fast as it is read: no more than this is queued. */
  readyBytes: 256 * 1024,
  /** How often a socket's buffer is checked for that. */
  readyMs: 20,
  /** Commits queued while a reader gets existing content. */
  heldCommits: 20_000,
  /** Blocks listed with one query. */
  blocksAtOnce: 1_000,
} as const;

// Announcer
/** How often at most a change of the list of resources is announced. */
export const ANNOUNCE_MS = 250;

// Bodies
/** The rest of a message around a call, over MCP. */
export const ENVELOPE_BYTES = 16 * 1024;

// Body budget
/** Bodies in memory at once: the owner's, one other caller's, all others'. */
export const OWNER_BODY_BYTES = 512 * 1024 * 1024;
export const GUEST_BODY_BYTES = 32 * 1024 * 1024;
export const GUESTS_BODY_BYTES = 256 * 1024 * 1024;

// JSON parser
/** A longer body is parsed in the thread. */
export const LONG_BODY_BYTES = 256 * 1024;
/** How long the thread may take for one body. The longest takes a tenth of a second. */
export const PARSE_MS = 5_000;
/** How long the thread may take to start: on a busy machine that takes longer than any body. */
export const PARSER_START_MS = 30_000;
/** Memory of that thread. */
export const PARSER_MB = 512;

// MCP
/** Resources that one client may subscribe to. */
export const SUBSCRIBED_URIS = 1_000;
/** Conversations in one page of the list of resources. */
export const LISTED_RESOURCES = 100;

// Page session
/** A request that exchanges or binds a session. */
export const SESSION_BODY_BYTES = 4_096;

// Strict JSON
/** Of one object. */
export const MAX_OBJECT_KEYS = 20_000;

// Sockets
/** One frame of a client. */
export const MAX_FRAME_BYTES = 1024 * 1024;
/** A viewer sends little: the ids of a page's blocks, at most. */
export const VIEWER_FRAME_BYTES = 128 * 1024;
/** Open sockets. */
export const MAX_SOCKETS = 500;
/** This many of them are reserved for the owner: agents must not be able to lock the page out. */
export const OWNER_SOCKETS = 100;
export const SOCKET_PING_MS = 15_000;
/** The send queue of one socket; beyond it the socket is closed. */
export const SOCKET_BUFFER_BYTES = 16 * 1024 * 1024;
/** How long the other end has for its close frame; then the socket is destroyed, and its queue freed. */
export const GOODBYE_MS = 1_000;
/** While this many of a client's requests are in flight, no more of its frames are read. */
export const WORKING_FRAMES = 64;
/** A client that has sent too much is not read for this long at least, and at most. */
export const BREATH_MS = 10;
export const MOST_PAUSE_MS = 250;
/** A client so far over its quota that it would have to wait this long is disconnected. */
export const MOST_WAIT_MS = 5_000;
