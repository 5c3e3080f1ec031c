/** Bounds of the store in a file: recent writes, the journal, checks, the search index. */

// Deletions
/** Rows that one step deletes or reads, and pages that it frees: some milliseconds. */
export const DELETED_BLOCKS = 100;
export const DELETED_CHUNKS = 500;
export const LOOKED_AT_ROWS = 1_000;
export const FREED_PAGES = 500;
/** A block that names a recent blob may not be written yet: the blob is checked again later. */
export const BLOB_GRACE_MS = 10 * 60_000;

// Dictionary
/** The dictionary, and how much text it is built from. */
export const DICTIONARY_BYTES = 16 * 1024;
export const SAMPLE_AFTER_BYTES = 64 * 1024;
/** Larger chunks compress well without a dictionary. */
export const SMALL_CHUNK_BYTES = 16 * 1024;
/** Below this, compression gains nothing. */
export const COMPRESS_BYTES = 96;

// Integrity
/** One checksum covers this much of a file. */
export const SUMMED_SEGMENT_BYTES = 256 * 1024;
/** Up to this size the whole file is checksummed, at every start and stop: a tenth of a second. */
export const SUMMED_BYTES = 128 * 1024 ** 2;
/** Up to this size every row is checked if there are no checksums: about a second. */
export const CHECKED_BYTES = 128 * 1024 ** 2;

// Journal writer
/** From here on transactions also flush running blocks. This bounds the journal, and with it the time to open. */
export const JOURNAL_BYTES = 2 * 1024 * 1024;

// Memtable flush
/** From here on transactions also flush. */
export const PENDING_BYTES = 512 * 1024;
export const PENDING_HEADS = 1_024;
/** What one transaction flushes at least, if there is that much; it also flushes twice what it adds. */
export const SLICE_HEADS = 48;
export const SLICE_BYTES = 96 * 1024;
/** … and when the file is closed, when no commit is waiting. */
export const LAST_SLICE_HEADS = 1_024;
export const LAST_SLICE_BYTES = 4 * 1024 * 1024;
/** Search filters of an earlier version that one transaction deletes. */
export const DELETED_FILTERS = 64;

// Memtable
/** Heads cached although the tables have all of their data. */
export const CLEAN_HEADS = 4_096;
/** A head is worth flushing if it has this much unflushed data, or if its block has ended. */
export const WORTHWHILE_BYTES = 16 * 1024;
/** The rough cost of an op besides its text. */
export const OP_BYTES = 32;

// The open file
/** A folder's modification times closer than this cannot be told apart. */
export const FOLDER_TICK_NS = 1_000_000_000n;

// Schema
/** Pages in the write-ahead log before a checkpoint. */
export const LOG_PAGES = 4_000;

// Indexer
/** A segment is built once this many blocks, or units of text, are fresh and unlikely to change soon. */
export const FRESH_BLOCKS = 256;
export const FRESH_CHARS = 1024 * 1024;
/** This many times as much is more than a search can scan in its time, on a busy machine. */
export const MUCH_TIMES = 8;
/** Units of text in one segment, if there is more to index. */
export const SEGMENT_CHARS = 16 * 1024 * 1024;
/** Segments are merged when this many have about the same size: within the same factor. */
export const MERGED_SEGMENTS = 8;
/** Larger ones are not merged. */
export const MAX_SEGMENT_CHARS = 2 ** 31;
export const MAX_SEGMENT_DOCUMENTS = 500_000;

// Search
/** Work on the index between two checks for requests. */
export const INDEX_SLICE_MS = 8;

// Source
/** A longer block that is not indexed is searched after all others. */
export const OVERSIZED_CHARS = 4 * 1024 * 1024;

// SQLite
/** A database with this many rows is checked after opening for missing parts of its search index. */
export const INDEXED_ROWS = 2_048;
/** … after this delay. */
export const INDEX_AFTER_MS = 5_000;

// Locks
/** How long a connection waits for another process's lock on the file; a backup waits longer. */
export const FILE_LOCK_MS = 2_000;
export const BACKUP_LOCK_MS = 10_000;
