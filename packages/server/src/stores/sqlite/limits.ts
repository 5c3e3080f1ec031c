/** Bounds of the store in a file: recent writes, the journal, checks, the search index. */

// Deletions
/** Rows that one step deletes or looks at, and pages that one gives back: some milliseconds. */
export const DELETED_BLOCKS = 100;
export const DELETED_CHUNKS = 500;
export const LOOKED_AT_ROWS = 1_000;
export const FREED_PAGES = 500;
/** A blob that was put a moment ago may be named by a block that is not written yet: it is looked at again later. */
export const BLOB_GRACE_MS = 10 * 60_000;

// Dictionary
/** The dictionary, and how much text it is made from. */
export const DICTIONARY_BYTES = 16 * 1024;
export const SAMPLE_AFTER_BYTES = 64 * 1024;
/** Larger chunks have enough in themselves. */
export const SMALL_CHUNK_BYTES = 16 * 1024;
/** Below this, compression gains nothing. */
export const COMPRESS_BYTES = 96;

// Integrity
/** One sum is taken over so much of a file. */
export const SUMMED_SEGMENT_BYTES = 256 * 1024;
/** Up to this size a whole file is summed, at every start and stop: a tenth of a second. */
export const SUMMED_BYTES = 128 * 1024 ** 2;
/** Up to this size every row is checked when there are no sums: about a second. */
export const CHECKED_BYTES = 128 * 1024 ** 2;

// Journal writer
/** From here on transactions also flush what would rather wait. It bounds the journal, and with it the time of opening. */
export const JOURNAL_BYTES = 2 * 1024 * 1024;

// Memtable flush
/** From here on transactions also flush. */
export const PENDING_BYTES = 512 * 1024;
export const PENDING_HEADS = 1_024;
/** What one transaction flushes at least when there is that much; it also flushes twice what it adds. */
export const SLICE_HEADS = 48;
export const SLICE_BYTES = 96 * 1024;
/** … and when the file is closed, where nobody waits for the next commit. */
export const LAST_SLICE_HEADS = 1_024;
export const LAST_SLICE_BYTES = 4 * 1024 * 1024;
/** Search filters of an earlier program that one transaction deletes. */
export const DELETED_FILTERS = 64;

// Memtable
/** Heads kept although the tables have all of them. */
export const CLEAN_HEADS = 4_096;
/** A head is worth flushing when it has this much for the tables, or when its block has ended. */
export const WORTHWHILE_BYTES = 16 * 1024;
/** What an op costs beside its text, roughly. */
export const OP_BYTES = 32;

// The open file
/** A folder's time of change is told apart from a later one behind so much. */
export const FOLDER_TICK_NS = 1_000_000_000n;

// Schema
/** Pages that the write-ahead log takes up before they are brought into the file. */
export const LOG_PAGES = 4_000;

// Indexer
/** A segment is made when so many blocks, or so many units of text, are fresh and will not change soon. */
export const FRESH_BLOCKS = 256;
export const FRESH_CHARS = 1024 * 1024;
/** So many times as much is more than a search looks at in its time, on a busy machine. */
export const MUCH_TIMES = 8;
/** Units of text of one segment, where there is more to do. */
export const SEGMENT_CHARS = 16 * 1024 * 1024;
/** Segments are merged when so many have about the same size: within a factor of as many. */
export const MERGED_SEGMENTS = 8;
/** Larger ones are left as they are. */
export const MAX_SEGMENT_CHARS = 2 ** 31;
export const MAX_SEGMENT_DOCUMENTS = 500_000;

// Search
/** Work on the index between two looks at whether somebody asks for something. */
export const INDEX_SLICE_MS = 8;

// Source
/** A longer block that is not indexed is looked at after all others. */
export const OVERSIZED_CHARS = 4 * 1024 * 1024;

// SQLite
/** A database with so many rows is looked at after opening, for what its search index lacks. */
export const INDEXED_ROWS = 2_048;
/** … so long after it. */
export const INDEX_AFTER_MS = 5_000;

// Locks
/** How long a connection waits for another process that has the file locked; a backup waits longer. */
export const FILE_LOCK_MS = 2_000;
export const BACKUP_LOCK_MS = 10_000;
