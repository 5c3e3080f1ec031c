/** Bounds of the search index and its thread. */

// Pool
/** The thread's extra time after the deadline to end a search by itself, before its caller is answered without it … */
export const SEARCH_GRACE_MS = 150;
/** … and before the thread is ended. On a machine that is too busy it is just late, and a new one would be later. */
export const SEARCH_GIVE_UP_MS = 1_500;
/** How long a thread may take to report its CPU time; if it does not, it has had none. */
export const THREAD_TIME_MS = 100;
/** Starting a thread and loading its part of a large database: not the pattern's fault, but limited. */
export const THREAD_PREPARE_MS = 30_000;
/** More changed rows than this are not listed: the index is compared with the tables. */
export const CHANGED_ROWS = 20_000;
/** Changed rows sent to a thread for indexing; for more, one is started. */
export const INDEXED_ROWS = 256;
export const STARTED_ROWS = 2_048;
/** A pattern's memory is bounded with its thread's. */
export const THREAD_MB = 768;
/** Its young generation: without a limit it takes 130 MB, and indexing is no faster for it. */
export const YOUNG_THREAD_MB = 24;

// Segment builder
/** A text is indexed in parts of this many units, so that others run in between. */
export const TEXT_PART_CHARS = 512 * 1024;
/** Keys after which others run. */
export const BUILT_KEYS = 1_024;

// Segment file
/** Bytes in one write. */
export const WRITE_BYTES = 256 * 1024;
/** Bytes after which the file is synced, so that the device never has much to do at once. */
export const SYNC_BYTES = 4 * 1024 * 1024;

// Segment merge
/** Keys and blocks after which others run. */
export const MERGED_KEYS = 256;
export const MERGED_DOCUMENTS = 4_096;

// Segment reader
/** A word part in more pages or more keys than this is not looked up: reading the blocks is faster. */
export const MAX_MATCHED_PAGES = 4_096;
export const MAX_MATCHED_KEYS = 8_192;
/** So few blocks are read sooner than they are narrowed down further. */
export const FEW_BLOCKS = 8;
/** Pages of documents cached unpacked. */
export const KEPT_PAGES = 64;

// Segment writer
/** A page ends at this many bytes. */
export const SEGMENT_PAGE_BYTES = 2_048;
/** A longer list is a part of its own. */
export const INLINE_LIST_BYTES = 256;
/** Grams after which others run. */
export const WRITTEN_GRAMS = 256;

// Tokens
/** Longer runs are hardly words: encoded data, mostly. */
export const MAX_RUN_UNITS = 48;

// Stoppable
/** Asking for the time takes a microsecond: not for every match. */
export const DEADLINE_LOOK_MS = 1;
