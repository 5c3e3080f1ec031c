/** A block's history as the kernel tells it (block.history), in the page's words. */
import type { ToolAnswer } from "@blockyard/client";
import { isProblem, type Problem } from "@blockyard/kernel";

type Answer = ToolAnswer<"block.history">;

export type Unit = Answer["units"][number];
type Span = NonNullable<Answer["authors"]>[number];

export interface History {
  readonly version: number;
  /** Newest first. */
  readonly units: readonly Unit[];
  readonly authors: readonly Span[];
  readonly nextUndo: number | undefined;
  readonly nextRedo: number | undefined;
}

export function historyOf(answer: Answer | Problem): History | Problem {
  if (isProblem(answer)) return answer;
  const { version, units, authors = [], next_undo: nextUndo, next_redo: nextRedo } = answer;
  return { version, units, authors, nextUndo, nextRedo };
}

/** A colour's number for each author, the same all over the page. */
export function writerColor(agent: string): number {
  let hash = 7;
  for (const character of agent) hash = (hash * 31 + (character.codePointAt(0) as number)) % 9_973;
  return hash % 6;
}
