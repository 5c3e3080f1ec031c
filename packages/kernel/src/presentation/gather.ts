/**
 * Groups consecutive quiet steps into one row, which says in words what they were: "Read 4 files, searched twice". And
 * merges the to-do lists of a turn into one, which shows its latest state where it was first written.
 */

import { callOutcome } from "./call-outcome.ts";
import type { Deed } from "./deed.ts";
import { formatDuration, plural } from "./format.ts";
import { SHOWN_DURATION_MS } from "./limits.ts";
import { deedOfCall, type Entry } from "./loudness.ts";
import { knownTool, toolTitle } from "./tool-title.ts";

/** Runs of at least two that belong together become lists; everything else stays alone. */
export function gather<T>(items: readonly T[], mayJoin: (item: T) => boolean): readonly (T | readonly T[])[] {
  const found: (T | readonly T[])[] = [];
  for (let at = 0; at < items.length; ) {
    let end = at;
    while (end < items.length && mayJoin(items[end] as T)) end++;
    if (end - at >= 2) found.push(items.slice(at, end));
    else found.push(items[at] as T);
    at = Math.max(end, at + 1);
  }
  return found;
}

/** What gathered entries were, in the order in which their kinds came first. `tookMs`: of all of them together. */
export function gatheredWords(entries: readonly Entry[], tookMs = 0): string {
  const counts = new Map<Deed | "think", number>();
  let failed = 0;
  for (const { block, results } of entries) {
    const deed = block.kind === "thinking" ? "think" : deedOfCall(block, results);
    counts.set(deed, (counts.get(deed) ?? 0) + 1);
    if (callOutcome(block).state === "failed") failed++;
  }
  const parts = [...counts].map(([deed, count]) =>
    deed === "other" ? used(entries, count) : DONE[deed](count),
  );
  if (failed > 0) parts.push(`${failed} failed`);
  const words = parts.join(", ");
  const took = tookMs >= SHOWN_DURATION_MS ? ` · ${formatDuration(tookMs)}` : "";
  return `${words.slice(0, 1).toUpperCase()}${words.slice(1)}${took}`;
}

const DONE: Readonly<Record<Exclude<Deed, "other"> | "think", (count: number) => string>> = {
  think: (count) => `thought${times(count)}`,
  read: (count) => `read ${plural(count, "file")}`,
  search: (count) => `searched${times(count)}`,
  list: (count) => `listed ${plural(count, "folder")}`,
  fetch: (count) => `fetched ${plural(count, "page")}`,
  web: (count) => `searched the web${times(count)}`,
  run: (count) => `ran ${plural(count, "command")}`,
  edit: (count) => `changed ${plural(count, "file")}`,
  todo: () => "updated the to-do list",
  agent: (count) => `started ${plural(count, "agent")}`,
  ask: (count) => `asked${times(count)}`,
};

function times(count: number): string {
  return count === 1 ? "" : count === 2 ? " twice" : ` ${count} times`;
}

/** One tool by its name, several by their number. */
function used(entries: readonly Entry[], count: number): string {
  const names = new Set(
    entries.flatMap(({ block, results }) => {
      if (block.kind !== "tool_call" || deedOfCall(block, results) !== "other") return [];
      const { toolName = "", displayName } = block.metadata;
      const title = toolTitle(toolName, displayName);
      return [knownTool(toolName) === undefined ? `used ${title}` : lowered(title)];
    }),
  );
  const [only] = names;
  return names.size === 1 ? `${only}${times(count)}` : `used ${plural(count, "tool")}`;
}

function lowered(words: string): string {
  return `${words.slice(0, 1).toLowerCase()}${words.slice(1)}`;
}

export interface TodoStep<Id> {
  readonly id: Id;
  /** The turn that it belongs to, where that is known. */
  readonly turn: string | undefined;
  /** A prompt begins another list where turns are not known. */
  readonly isPrompt: boolean;
  /** The list that it wrote. */
  readonly todo: Id | undefined;
}

/** By the call that is the first of its turn to write a list: the latest list of that turn. */
export function livingTodos<Id>(steps: readonly TodoStep<Id>[]): ReadonlyMap<Id, Id> {
  const latest = new Map<Id, Id>();
  let home: { readonly id: Id; readonly turn: string | undefined } | undefined;
  for (const { id, turn, isPrompt, todo } of steps) {
    if (isPrompt || (home !== undefined && todo !== undefined && turn !== home.turn)) home = undefined;
    if (todo === undefined) continue;
    home ??= { id, turn };
    latest.set(home.id, todo);
  }
  return latest;
}
