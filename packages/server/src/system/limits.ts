/** Bounds of what all folders use: log, JSON, redaction, gates. */

// Log
/** Of one value in a line of the log. */
export const LOGGED_CHARS = 4_000;

// Owner first
/** A call that takes longer is not waited for. */
export const OWNER_CALL_MS = 50;

// Rounds
/** How long to wait while they are held. */
export const HELD_LOOK_MS = 1;
/** Held this often in a row, one proceeds anyway. */
export const MAX_LOOKS = 50;

// Secret shapes
/** A named value of this many letters is a secret, if it is one word. A few words are, whatever their length. */
export const SECRET_CHARS = 8;

// Sliced JSON
/** How much is encoded at once. */
export const JSON_PIECE_CHARS = 64 * 1024;
/** The cost of anything that is not text. */
export const JSON_LEAF_CHARS = 8;

// Streamed answer
/** How long the items of a stream are made before others have their turn. */
export const STREAM_STEP_MS = 4;

// Text redactor
/** How much is held; of that, how much stays when the rest is released. Longer than any secret but a key. */
export const HELD_CHARS = 32 * 1024;
export const KEPT_CHARS = 16 * 1024;
/** The longest name of a value that is matched before it. */
export const SECRET_NAME_CHARS = 200;

// Thread gate
/** How often to check whether a gate is open. */
export const GATE_LOOK_MS = 1;
