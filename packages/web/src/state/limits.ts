/** Bounds of what the page knows. */

// Invitation
/** More is not typed while an editor loads. */
export const EARLY_TYPED_CHARS = 10_000;

// Late keys
/** After a pause of this long, keys mean what is there now. */
export const LATE_KEYS_MS = 1_000;

// Page state
export const NOTICE_MS = 6_000;
/** A long one gives instructions: it stays as long as reading it takes. */
export const READ_CHAR_MS = 90;

// Proof
/** A ticket that ends within this is not used any more: the request must still arrive. */
export const MARGIN_MS = 20_000;

// Session
/** A call of more characters goes out as an HTTP request: each of them may take three bytes of a frame. */
export const FRAME_CHARS = 256 * 1024;
/** How long a requested text may take. */
export const TEXT_ANSWER_MS = 10_000;
/** A hidden tab has no animation frames; it is updated this often instead. */
export const HIDDEN_MS = 250;
