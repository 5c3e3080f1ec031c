/** The bounds and times of files on disk, in one place. What is counted against them is in the files beside this one. */

export const bounds = {
  /** A file with more bytes is not opened. */
  fileBytes: 10 * 1024 * 1024,
  /** One part of a path, in UTF-8. */
  partBytes: 255,
  /** Parts of one path. */
  pathParts: 64,
  /** A file is saved this long after the last edit … */
  flushMs: 300,
  /** … and no later than this after the first unsaved edit. */
  flushMostMs: 2_000,
  /** A failed save is retried after this long, then after twice as long, up to the maximum. */
  retryMs: 2_000,
  retryMostMs: 60_000,
  /** How often a save rereads a file that keeps changing on disk. */
  flushTries: 8,
  /** Changes on disk are batched for this long. */
  lookMs: 50,
  /** A file checked this recently is not checked again for reading its block. */
  freshMs: 100,
  /** Files checked or saved at one time. */
  atOnce: 8,
  /** Files, and characters of their last saved texts, kept in memory. */
  openFiles: 512,
  openChars: 64 * 1024 * 1024,
  /** How often folders that cannot be watched are polled. */
  pollMs: 1_000,
  /** After this many polls, watched folders are checked too: a moved one sends no event. */
  pollsPerSweep: 10,
  /** Edits between two texts that are searched, section by section, before the texts count as wholly different. */
  diffEdits: 1_000,
  /** Lines that are compared for that, over all. */
  diffSteps: 4_000_000,
  /** Overlaps that a conflict names. */
  regions: 100,
  /** file.list */
  listEntries: 2_000,
  listDepth: 16,
  /** Entries read of one folder, and in one listing, including those left out. */
  listRead: 20_000,
  listMs: 2_000,
  /** A .gitignore file, its lines, and the wildcards that one line may have: more of them could take for ever. */
  ignoreBytes: 256 * 1024,
  ignoreLines: 5_000,
  ignoreLineChars: 500,
  ignoreWildcards: 4,
  /** file.status without a path. */
  statusRows: 500,
  /** The disk's text, in an answer. */
  diskChars: 1024 * 1024,
  /** Folders searched for a killed process's temporary files. */
  sweptFolders: 10_000,
} as const;

/** The same with other numbers, for tests. */
export type Bounds = { readonly [K in keyof typeof bounds]: number };

// Disk file
/** How often a file that changes while it is read is read again. */
export const READ_TRIES = 3;
/** Longer than file systems take to tell two times apart. */
export const FILE_TIME_MS = 100;

// Grants
/** Of one workspace. */
export const MAX_GRANTS = 500;

// Named files
export const NAMED_DEPTH = 3;
