/**
 * Bounds of the streams that this server keeps open for its readers. None of them ends a stream that is read: a connection
 * may live for as long as both ends want it.
 */

export const bounds = {
  /** A stream on which nothing happens carries something this often, so that nothing in between takes it for dead. */
  keepAliveMs: 15_000,
  /** What may wait for a reader of server-sent events; one that is further behind is cut, and may resume. */
  queuedBytes: 4 * 1024 * 1024,
  /** What was there already is told as fast as it is read: no more than this waits. */
  readyBytes: 256 * 1024,
  /** How often a socket is asked whether it has taken that. */
  readyMs: 20,
  /** Commits that wait while a reader is told what was there already. */
  heldCommits: 20_000,
  /** Blocks that are listed with one question. */
  blocksAtOnce: 1_000,
} as const;
