/**
 * A block's history as the kernel tells it (block.history), in the page's words.
 */
import { isProblem, type Json, type Problem } from "@blockyard/kernel";

export interface Unit {
  readonly unit: number;
  readonly agent: string;
  readonly at: number;
  readonly version: number;
  readonly inserted: number;
  readonly deleted: number;
  readonly active: boolean;
}

export interface Span {
  readonly start: number;
  readonly end: number;
  readonly agent: string | null;
}

export interface History {
  readonly version: number;
  /** Newest first. */
  readonly units: readonly Unit[];
  readonly authors: readonly Span[];
  readonly nextUndo: number | undefined;
  readonly nextRedo: number | undefined;
}

export function historyOf(answer: Json | Problem): History | Problem {
  if (isProblem(answer)) return answer;
  const given = answer as unknown as {
    readonly version: number;
    readonly units: readonly Unit[];
    readonly authors?: readonly Span[];
    readonly next_undo?: number;
    readonly next_redo?: number;
  };
  return {
    version: given.version,
    units: given.units,
    authors: given.authors ?? [],
    nextUndo: given.next_undo,
    nextRedo: given.next_redo,
  };
}

/** A colour's number for each writer, the same all over the page. */
export function writerColor(agent: string): number {
  let hash = 7;
  for (const character of agent) hash = (hash * 31 + (character.codePointAt(0) as number)) % 9_973;
  return hash % 6;
}
