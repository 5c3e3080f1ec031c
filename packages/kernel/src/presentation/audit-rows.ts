/**
 * The audit log for people. An entry is written before its action; what is refused after all gets a second entry, which names the
 * first. Shown are both as one row that says so: alone, the first reads as if the action had been done.
 */

import type { JsonObject } from "../model/json.ts";

interface Entry {
  readonly id: number;
  readonly action: string;
  readonly details: JsonObject;
}

/** Newest first, as they are read. A refusal whose first entry is not there stays a row of its own. */
export function auditRows<E extends Entry>(entries: readonly E[]): readonly E[] {
  const known = new Map(entries.map((entry) => [entry.id, entry]));
  const refusals = new Map<number, E>();
  for (const entry of entries) {
    const first = known.get(firstOf(entry));
    if (first !== undefined && first.action === entry.action) refusals.set(first.id, entry);
  }
  const folded = new Set([...refusals.values()].map(({ id }) => id));
  return entries.flatMap((entry) => {
    if (folded.has(entry.id)) return [];
    const refusal = refusals.get(entry.id);
    const refused = refusal?.details["refused"];
    return refused === undefined ? [entry] : [{ ...entry, details: { ...entry.details, refused } }];
  });
}

function firstOf({ details }: Entry): number {
  const { refused, entry } = details;
  return refused !== undefined && typeof entry === "number" ? entry : -1;
}
