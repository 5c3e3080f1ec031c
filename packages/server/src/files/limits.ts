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
  /** … and no later than this after the first one that is not saved. */
  flushMostMs: 2_000,
  /** A save that failed is tried again after this long, then twice as long, and so on up to the most. */
  retryMs: 2_000,
  retryMostMs: 60_000,
  /** How often a save looks again because the disk has changed under it. */
  flushTries: 8,
  /** Changes on the disk are gathered this long before they are looked at. */
  lookMs: 50,
  /** A file that was looked at this lately is not looked at again for reading its block. */
  freshMs: 100,
  /** Files that are looked at or saved at one time. */
  atOnce: 8,
  /** Files, and characters of their last saved texts, that are kept in memory. */
  openFiles: 512,
  openChars: 64 * 1024 * 1024,
  /** Folders that cannot be watched are looked at this often. */
  pollMs: 1_000,
  /** After this many of those, watched folders too: one that was moved away tells nobody. */
  pollsPerSweep: 10,
  /** Edits between two texts that are looked for, stretch by stretch, before they count as wholly different. */
  diffEdits: 1_000,
  /** Lines that are compared for that, over all. */
  diffSteps: 4_000_000,
  /** Overlaps that a conflict names. */
  regions: 100,
  /** file.list */
  listEntries: 2_000,
  listDepth: 16,
  /** Entries that are read of one folder, and in one listing, those left out included. */
  listRead: 20_000,
  listMs: 2_000,
  /** A .gitignore file, its lines, and the wildcards that one line may have: more of them could take for ever. */
  ignoreBytes: 256 * 1024,
  ignoreLines: 5_000,
  ignoreLineChars: 500,
  ignoreWildcards: 4,
  /** file.status without a path. */
  statusRows: 500,
  /** What the disk has, in an answer. */
  diskChars: 1024 * 1024,
  /** Folders that are looked through for what a killed process has left. */
  sweptFolders: 10_000,
} as const;

/** The same with other numbers, for tests. */
export type Bounds = { readonly [K in keyof typeof bounds]: number };

// Disk file
/** A file that is written to while it is read is read again so often. */
export const READ_TRIES = 3;
/** Longer than file systems take to tell two times apart. */
export const FILE_TIME_MS = 100;

// Grants
/** Of one workspace. */
export const MAX_GRANTS = 500;

// Named files
export const NAMED_DEPTH = 3;
