/**
 * What every kind of import is: lines in, and what came of them out. How lines come is import-stream.ts' business.
 */

import type { Problem } from "@blockyard/kernel";

export interface Imported {
  readonly conversation: string;
  readonly title: string;
  /** Blocks that were not there before. */
  readonly added: number;
  readonly blocks: number;
  /** Of a log: how much of it is kept as it was, from its beginning. */
  readonly raw_bytes?: number;
}

/** One kind of body, line by line. */
export interface BodyImport {
  /** Takes a line; a problem ends the import. */
  line(line: Readonly<Record<string, unknown>>): Promise<Problem | undefined>;
  /** The body is over; `line` has seen everything. */
  end(): Promise<Imported | Problem>;
}
