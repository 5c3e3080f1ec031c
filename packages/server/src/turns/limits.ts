/** Bounds of turns: waits, queues, what is observed of a workspace. */

// Agent watch
/** A silent agent is stopped after this long; how long a finished one may take to exit. */
export const AGENT_SILENT_MS = 10 * 60_000;
export const AGENT_LINGER_MS = 10_000;

// Api
/** Output of one answer of a model, by default. */
export const ANSWER_TOKENS = 16_384;

// Attachments
/** Of all files of one message. */
export const ATTACHED_CHARS = 1024 * 1024;

// Awaited turns
/** How long after a failed check the end of a turn is checked again. */
export const AWAITED_LOOK_MS = 1_000;

// Briefing
export const BRIEFED_NAME_CHARS = 200;

// Child run
/** A message that a session is lost is shorter. */
export const FIRST_ERROR_BYTES = 64 * 1024;

// Contract
export const MAX_ATTACHMENTS = 20;
export const INCLUDED_BLOCKS = 50;
export const ATTACHED_FILE_CHARS = 256 * 1024;

// Driver
/** How long an agent may take to say whether it has a model. */
export const MODEL_MS = 10_000;

// Later
/** Messages that wait for a usage limit to be over. */
export const LATER_MESSAGES = 1_000;
/** The longest wait; timers cannot wait longer either. */
export const LATER_MS = 8 * 24 * 3_600_000;
export const LATER_LOOK_MS = 3_600_000;
/** A limit may end slightly later than stated. */
export const LATER_GRACE_MS = 5_000;

// Logins
/** How long one may take to say it. */
export const LOGIN_MS = 8_000;

// Turn opener
/** Turns that an agent may begin by itself after a requested one. */
export const OWN_TURNS = 50;

// Prices
/** A table for every model there is takes a fraction of it. */
export const PRICES_BYTES = 1024 * 1024;

// Pattern
export const OFFERED_PATTERNS = 5;
/** Words examined after a program's name in a text that cannot be parsed. */
export const LOOSE_WORDS = 64;

// Rules
export const MAX_RULES = 1_000;

// Turns
/** How long a server that stops waits for the store. */
export const STORE_CLOSING_MS = 2_000;

// Voices
/** The longest chain of copies; beyond it the author counts as unknown. */
export const VOICE_COPIES = 16;

// Waiting
/** Messages that wait for a turn to end. */
export const QUEUED_MESSAGES = 20;

// Observed
/** More files are counted, not shown. */
export const OBSERVED_FILES = 40;
export const OBSERVED_DIFF_CHARS = 400_000;
export const OBSERVED_BLOCKS = 2_000;

// Snapshot
/** A folder with more files is not scanned. */
export const SNAPSHOT_FILES = 50_000;
/** Of longer files only that they have changed is known. */
export const SNAPSHOT_FILE_BYTES = 512 * 1024;
/** Texts of files that git does not have, of one snapshot. */
export const SNAPSHOT_BYTES = 16 * 1024 * 1024;
/** Time and output limits for git. */
export const GIT_MS = 5_000;
export const GIT_BYTES = 64 * 1024 * 1024;
export const PARALLEL_STATS = 64;
