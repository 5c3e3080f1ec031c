/** Bounds of the store on PostgreSQL: connections, tries, what one statement takes. */

// Connections
export const MAX_CONNECTIONS = 10;
export const CONNECT_MS = 5_000;
/** A statement without an answer for this long is given up with its connection: there may be no server any more. */
export const STATEMENT_MS = 10_000;
/** Preparing the tables may take longer: a new version may have to rewrite them. */
export const PREPARE_MS = 10 * 60_000;
/** Whether the server answers at all is known sooner. */
export const HEALTH_MS = 2_000;
export const LOCK_MS = 10_000;
/** A transaction whose node stands still must not hold its locks for long: other nodes wait for them. */
export const SILENT_MS = 3_000;
/** No connection is tried for after this long: a server that says nothing costs a whole timeout each time. */
export const TAKE_MS = 6_000;
/** How often something that may run twice is run; and no more after this long. */
export const QUERY_TRIES = 3;
export const QUERY_AGAIN_MS = 6_000;

// Deletions
/** A blob that was put a moment ago may be named by a block that is not written yet: it is looked at again later. */
export const BLOB_GRACE_MS = 10 * 60_000;
/** What one statement deletes. */
export const DELETED_BLOCKS = 1_000;

// Gather
/** Blocks whose rows are locked together: who writes to one of them waits for all. */
export const GATHERED_BLOCKS = 32;
/** The same, where they are long. */
export const GATHERED_CHARS = 256 * 1024;
/** How long after a write it is looked for something to do. */
export const GATHER_WAIT_MS = 300;
/** A longer text has no filter: making it would take longer than a commit may. */
export const GATHERED_FILTER_CHARS = 1024 * 1024;
/** Blocks that could not be gathered are not tried again by this node; more than so many are a reason to stop. */
export const STUCK_BLOCKS = 100;

// Outlines
/** Rows that are read at once when everything is read, and how many changed ones are read by themselves. */
export const OUTLINE_ROWS = 500;
export const CHANGED_OUTLINE_ROWS = 10_000;

// Query
/** Conversations that one statement asks for. */
export const LOOKED_AT_CONVERSATIONS = 500;

// Rows
/** Shorter than this, compressing gains nothing. */
export const PACK_BYTES = 256;
/** What an index can hold of a name. */
export const KEY_BYTES = 512;

// Schema
/** What `loose` may come to before a block that still grows is gathered. */
export const LOOSE_CHUNKS = 32;
/** Of a path, what its index holds. */
export const INDEXED_PATH_BYTES = 512;

// Source
/** Texts that are read at once: few at first, because the newest blocks often are enough. */
export const FIRST_TEXTS = 4;
export const READ_TEXTS = 64;
export const READ_TEXT_CHARS = 1024 * 1024;
/** A filter is made here for a finished block that has none yet, once its text was read anyway. */
export const SEARCHED_FILTER_CHARS = 4 * 1024 * 1024;

// Versions
/** Conversations, and blocks of each, whose versions are remembered. */
export const VERSIONED_CONVERSATIONS = 1_024;
export const VERSIONED_BLOCKS_EACH = 256;

// Writer
/** How many answers are written to a conversation before it is looked for too many: looking walks over all that are kept. */
export const TRIM_ANSWERS = 64;
/** Of more conversations at a time it is not counted. */
export const COUNTED_CONVERSATIONS = 1_024;
/** What one transaction takes. */
export const GROUP_COMMITS = 500;
export const GROUP_CHARS = 4 * 1024 * 1024;
/** How often a group is tried. */
export const GROUP_TRIES = 5;
/** A group is not tried again after this long: its callers have waited enough to be told. */
export const GROUP_MS = 8_000;
/** How long the server is asked whether it has ended a transaction whose end was not heard. */
export const DOUBT_MS = 5_000;
export const DOUBT_STEP_MS = 50;
