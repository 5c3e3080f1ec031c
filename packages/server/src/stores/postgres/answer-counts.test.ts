/** Answers are counted per conversation, and cleaned up in time; the store contract covers the cleanup itself. */
import { describe, expect, it } from "vitest";
import { AnswerCounts } from "./answer-counts.ts";
import { COUNTED_CONVERSATIONS, TRIM_ANSWERS } from "./limits.ts";

describe("[S11] answers that are written", () => {
  it("are cleaned up when one conversation has enough", () => {
    const counts = new AnswerCounts();
    for (let written = 1; written < TRIM_ANSWERS; written++) expect(counts.due([7])).toEqual([]);
    expect(counts.due([7, 8])).toEqual([7]);
    expect(counts.due([7])).toEqual([]);
    expect(counts.due(Array(TRIM_ANSWERS).fill(9))).toEqual([9]);
  });

  it("are cleaned up sooner if there are too many conversations to count", () => {
    const counts = new AnswerCounts();
    const rows = Array.from({ length: COUNTED_CONVERSATIONS + 2 }, (_, row) => row);
    expect(counts.due(rows)).toEqual([0, 1]);
  });
});
