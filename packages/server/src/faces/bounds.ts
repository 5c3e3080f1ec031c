/**
 * Bounds of the streams that this server keeps open for its readers. None of them ends a stream that is read: a connection
 * may live for as long as both ends want it.
 */

export const bounds = {
  /** A stream on which nothing happens carries something this often, so that nothing in between takes it for dead. */
  keepAliveMs: 15_000,
  /** What may wait for a reader of server-sent events; one that is further behind is cut, and may resume. */
  queuedBytes: 4 * 1024 * 1024,
} as const;
