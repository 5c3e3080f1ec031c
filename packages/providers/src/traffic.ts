/**
 * Traffic: what a driver and its agent say to each other, both directions in one list, one record per line:
 *
 *     {"t": 1234, "dir": "in", "line": "{…}"}
 *
 * `t` is milliseconds since the program was started, `in` was written to it, `out` was read from it, and `line` is the line
 * itself without its newline. `base64` has the bytes where they were no UTF-8, `unterminated` marks a last line without a
 * newline. Recordings and the raw lines of a run have this form; adapters of protocols read it.
 */

import type { Json } from "@blockyard/kernel";
import { isObject, parseText } from "./framing/json.ts";
import { numberOf } from "./read.ts";

export type Direction = "in" | "out";

export interface Traffic {
  /** Milliseconds since the program was started; undefined if unknown. */
  readonly t: number | undefined;
  readonly dir: Direction;
  readonly line: string;
  /** The line's content; undefined if it is no JSON, or was cut. */
  readonly message: Json | undefined;
  /** The stream ended inside this line. */
  readonly isCut: boolean;
}

/** One record; undefined if the value is none. */
export function readTraffic(record: Json): Traffic | undefined {
  if (!isObject(record) || typeof record.line !== "string") return undefined;
  if (record.dir !== "in" && record.dir !== "out") return undefined;
  return {
    t: numberOf(record.t),
    dir: record.dir,
    line: record.line,
    message: parseText(record.line),
    isCut: record.unterminated === true,
  };
}

/** A stored record: one line of JSON, without its newline. */
export function trafficLine(dir: Direction, line: string, t: number): string {
  return JSON.stringify({ t, dir, line });
}
