/** Bounds of the page's frame. */

// App
/** When what is first seen has been drawn. What is typed behind a key must not get lost while its dialog loads. */
export const PREPARE_MS = 1_000;

// Connection note
/** A shorter loss of the connection is not mentioned. */
export const DISCONNECTED_MS = 1_200;

// Home
/** Conversations that are named below the field, of each sort. */
export const NAMED_CONVERSATIONS = 6;
