/** The load's commands and answers: plain data, since it travels between processes. */

export interface Place {
  readonly target: "blockyard" | "relay";
  readonly url: string;
  readonly token: string;
}

export interface Order extends Place {
  readonly agents: number;
  readonly viewers: number;
  /** Viewers that subscribe and then never read. */
  readonly stalled: number;
  /** Viewers that read ten kilobytes a second. */
  readonly slow?: number;
  readonly flushesPerSecond: number;
  readonly lineChars: number;
  /** Pieces end without a newline, so that each is a tail that waits. */
  readonly tails?: boolean;
  readonly seconds: number;
}

export interface Outcome {
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
  readonly delivered: number;
  readonly lost: number;
  readonly doubled: number;
  readonly reordered: number;
}

/** Many viewers at once for one conversation that is there already. */
export interface Attach extends Place {
  readonly conversation: string;
  readonly attach: number;
}

export interface Attached {
  /** When the last of them had everything. */
  readonly allMs: number;
  readonly blocks: number;
}
