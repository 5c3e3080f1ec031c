/** Bounds of the page's frame. */

// App
/** After the first paint. Keys typed after a shortcut must not get lost while its dialog loads. */
export const PREPARE_MS = 1_000;

// Connection note
/** A shorter loss of the connection is not mentioned. */
export const DISCONNECTED_MS = 1_200;

// Home
/** Conversations that are named below the field, of each sort. */
export const NAMED_CONVERSATIONS = 6;
