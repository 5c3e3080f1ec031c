/**
 * How many answers were written to conversations since it was last looked whether they keep too many. Looking costs a walk over
 * all that are kept, so not every commit does it.
 */

import { COUNTED_CONVERSATIONS, TRIM_ANSWERS } from "./limits.ts";

export class AnswerCounts {
  /** By the row of the conversation; the one written to longest ago first. */
  readonly #counts = new Map<number, number>();

  /** Counts written answers, and returns the conversations that are due for cleanup. */
  due(written: Iterable<number>): number[] {
    const rows = new Set<number>();
    for (const row of written) {
      rows.add(row);
      const count = (this.#counts.get(row) ?? 0) + 1;
      this.#counts.delete(row);
      this.#counts.set(row, count);
    }
    const due = [...rows].filter((row) => (this.#counts.get(row) ?? 0) >= TRIM_ANSWERS);
    for (const row of due) this.#counts.delete(row);
    for (const row of this.#counts.keys()) {
      if (this.#counts.size <= COUNTED_CONVERSATIONS) break;
      this.#counts.delete(row);
      due.push(row);
    }
    return due;
  }
}
