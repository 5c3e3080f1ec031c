/** Bounds of messages between nodes. */

// NATS
/** How long after a lost connection the broker is tried again. */
export const BROKER_RETRY_MS = 500;
export const BROKER_PING_MS = 5_000;
/** What was sent and not yet taken by the broker; more is dropped. */
export const WAITING_BYTES = 1024 * 1024;

// Message
/** Hints in one message: it must fit into what a broker takes as one message. */
export const HINTS_PER_WORD = 1_000;
export const WORD_BYTES = 512 * 1024;
