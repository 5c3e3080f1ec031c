/**
 * A problem: an expected failure, as a value.
 *
 * It has a code from a closed list, a sentence for a person or a model, and the numbers needed to try again. It is returned, never
 * thrown; bugs are `assert`, and operating errors are caught once per boundary.
 */

export type ProblemCode =
  | "invalid" // the call does not fit the schema
  | "unknown_tool"
  | "not_found"
  | "forbidden"
  | "out_of_range"
  | "overlap" // two operations of one batch touch the same lines
  | "boundary" // an offset inside a character
  | "mismatch" // compare-and-set failed
  | "stale" // a touched line has changed since base_version
  | "closed" // the block has ended
  | "transition" // a status or stage that cannot follow the present one
  | "patch" // a hunk does not apply
  | "pattern" // an invalid or refused search pattern
  | "timeout"
  | "too_large"
  | "nothing" // nothing to undo or redo
  | "gone" // history older than what is kept, or a conversation that was deleted
  | "conflict"
  | "busy" // a bounded queue is full; try again
  | "storage" // the store cannot do it now; nothing was written
  | "uncertain" // the store did not answer: it may have been written; resending it with its key gives the answer
  | "unavailable";

export interface Problem {
  readonly problem: ProblemCode;
  readonly message: string;
  /** Numbers and texts that the caller needs to try again. JSON values only. */
  readonly details?: Readonly<Record<string, unknown>>;
}

export function problem(code: ProblemCode, message: string, details?: Record<string, unknown>): Problem {
  return details === undefined ? { problem: code, message } : { problem: code, message, details };
}

/** Temporary problems: the same request may succeed later, unchanged. */
const PASSING: readonly ProblemCode[] = ["storage", "uncertain", "unavailable", "busy", "timeout"];

export function isPassing({ problem: code }: Problem): boolean {
  return PASSING.includes(code);
}

/** Checks the shape, because a problem may have come over the wire. A field named `problem` alone is not enough. */
export function isProblem(value: unknown): value is Problem {
  if (typeof value !== "object" || value === null) return false;
  const { problem: code, message } = value as Partial<Problem>;
  return typeof code === "string" && typeof message === "string";
}
