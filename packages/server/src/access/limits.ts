/** Bounds of who may come in: connections, guesses, sessions, quotas, the audit log. */

// Audit
/** Of one field of an entry. */
export const AUDIT_TEXT_CHARS = 2_000;

// Auth
/** Wrong tokens from one address before it has to wait, for how long, and how many addresses are remembered. */
export const BAD_TOKENS_PER_MINUTE = 20;
export const GUESS_DELAY_MS = 1_000;
export const MAX_PEERS = 10_000;

// Contract
/** Entries of one answer of the audit log. */
export const AUDIT_ENTRIES = 1_000;

// HTTP gateway
/** How long an open connection with a revoked token may still read. It cannot write from that moment on. */
export const REVOKED_MS = 1_000;
/** The time for the body of a request that is not a stream. */
export const BODY_MS = 60_000;
/** Beyond this many unauthenticated connections, the oldest is closed. Well below the limit on all connections, so that there is room for authenticated ones. */
export const MAX_UNAUTHENTICATED_CONNECTIONS = 1_000;
/** Connections that one agent or viewer may have: several of them together still leave room for the owner. */
export const MAX_CONNECTIONS_EACH = 100;
/** … and all of them together: even with the unauthenticated ones, some are left for the owner alone. */
export const MAX_GUEST_CONNECTIONS = 700;
/**
 * Whoever asks more often than it may is told so late: it has only so many connections to be told on. Each at another moment,
 * up to twice as late, or all of them would ask again together.
 */
export const TOO_OFTEN_MS = 1_000;

// Page proof
/** How long a page has to sign a challenge. */
export const CHALLENGE_MS = 60_000;
/** How long a page's ticket for a signed challenge is valid. */
export const TICKET_MS = 120_000;

// Page sessions
/** A link that nobody opens ends after a day, a session after thirty. */
export const LINK_MS = 24 * 3600 * 1000;
export const SESSION_MS = 30 * 24 * 3600 * 1000;
/** How long after the exchange a page may bind its session. */
export const BIND_MS = 10 * 60 * 1000;
export const SESSION_NAME_CHARS = 80;

// Quotas
/** Bytes of a message that cost as much as a request. */
export const BYTES_PER_REQUEST = 16 * 1024;
/** The extra cost of a call that is refused as busy: it slows a caller that keeps asking. */
export const TURNED_AWAY_REQUESTS = 4;
/** The cost of an op besides its text, whatever it is: a conversation, a turn, a status. */
export const OP_CHARS = 200;
/** Names whose usage is counted. */
export const MAX_ACCOUNTS = 10_000;

// Refused answer
/** How long a client whose upgrade was refused has to close the connection. */
export const LAST_WORDS_MS = 1_000;

// Revocations
/** How often a node looks for sessions that another node has revoked. */
export const REVOCATION_LOOK_MS = 1_000;
/** … and how many entries it reads at once. */
export const REVOCATION_ENTRIES = 1_000;
