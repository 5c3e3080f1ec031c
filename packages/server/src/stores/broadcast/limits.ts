/** Bounds of messages between nodes. */

// NATS
/** Delay before a lost connection to the broker is retried. */
export const BROKER_RETRY_MS = 500;
export const BROKER_PING_MS = 5_000;
/** Data sent but not yet accepted by the broker; more is dropped. */
export const WAITING_BYTES = 1024 * 1024;

// Message
/** Hints in one message: it must fit the broker's limit. */
export const HINTS_PER_WORD = 1_000;
export const WORD_BYTES = 512 * 1024;
