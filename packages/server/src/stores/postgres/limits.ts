/** Bounds of the store on PostgreSQL: connections, tries, what one statement takes. */

// Connections
export const MAX_CONNECTIONS = 10;
export const CONNECT_MS = 5_000;
/** A statement without an answer for this long is aborted with its connection: the server may be gone. */
export const STATEMENT_MS = 10_000;
/** Preparing the tables may take longer: a new version may have to rewrite them. */
export const PREPARE_MS = 10 * 60_000;
/** The timeout for checking whether the server answers at all. */
export const HEALTH_MS = 2_000;
export const LOCK_MS = 10_000;
/** A transaction whose node stalls must not hold its locks for long: other nodes wait for them. */
export const SILENT_MS = 3_000;
/** After this long, no connection is tried again: a silent server costs a whole timeout each time. */
export const TAKE_MS = 6_000;
/** How often a repeatable statement is retried; and for how long. */
export const QUERY_TRIES = 3;
export const QUERY_AGAIN_MS = 6_000;

// Deletions
/** A block that names a recent blob may not be written yet: the blob is checked again later. */
export const BLOB_GRACE_MS = 10 * 60_000;
/** Rows that one statement deletes. */
export const DELETED_BLOCKS = 1_000;

// Gather
/** Blocks whose rows are locked together: a write to one of them waits for all. */
export const GATHERED_BLOCKS = 32;
/** The same, for long blocks. */
export const GATHERED_CHARS = 256 * 1024;
/** How long after a write the node checks for work. */
export const GATHER_WAIT_MS = 300;
/** A longer text has no filter: building it would take longer than a commit may. */
export const GATHERED_FILTER_CHARS = 1024 * 1024;
/** This node does not retry blocks that could not be gathered; after this many it stops gathering. */
export const STUCK_BLOCKS = 100;

// Outlines
/** Rows read at once in a full read, and how many changed rows are read individually. */
export const OUTLINE_ROWS = 500;
export const CHANGED_OUTLINE_ROWS = 10_000;
/** How long a search waits for blocks that have not been read yet, and how long they are read between two searches. */
export const READ_OUTLINES_MS = 1_000;
export const READ_ON_MS = 100;

// Query
/** Conversations in one query. */
export const LOOKED_AT_CONVERSATIONS = 500;

// Rows
/** Shorter than this, compressing gains nothing. */
export const PACK_BYTES = 256;
/** The part of a name that an index can hold. */
export const KEY_BYTES = 512;

// Schema
/** The value of `loose` at which a growing block is gathered. */
export const LOOSE_CHUNKS = 32;
/** The part of a path that its index holds. */
export const INDEXED_PATH_BYTES = 512;

// Source
/** Texts read at once: few at first, because the newest blocks are often enough. */
export const FIRST_TEXTS = 4;
export const READ_TEXTS = 64;
export const READ_TEXT_CHARS = 1024 * 1024;
/** A finished block without a filter gets one here, once its text was read anyway. */
export const SEARCHED_FILTER_CHARS = 4 * 1024 * 1024;

// Versions
/** Conversations, and blocks of each, whose versions are cached. */
export const VERSIONED_CONVERSATIONS = 1_024;
export const VERSIONED_BLOCKS_EACH = 256;

// Writer
/** Answers written to a conversation before old ones are looked for: that scans all that are kept. */
export const TRIM_ANSWERS = 64;
/** For more conversations at a time, answers are not counted. */
export const COUNTED_CONVERSATIONS = 1_024;
/** The size of one transaction. */
export const GROUP_COMMITS = 500;
export const GROUP_CHARS = 4 * 1024 * 1024;
/** How often a batch is tried. */
export const GROUP_TRIES = 5;
/** A batch is not retried after this long: its callers have waited long enough for an answer. */
export const GROUP_MS = 8_000;
/** How long the server is asked for the end of a transaction whose answer was lost. */
export const DOUBT_MS = 5_000;
export const DOUBT_STEP_MS = 50;
