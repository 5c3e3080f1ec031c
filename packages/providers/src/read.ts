/**
 * Reads fields out of values that anyone may have written: each function answers with a value of the asked shape, or
 * with undefined (lists and objects: with an empty one). Nothing throws, and nothing is converted
 * but a whole number that was written as text.
 */

import type { Json, JsonObject } from "@blockyard/kernel";
import { isObject } from "./framing/json.ts";

const NOTHING: JsonObject = {};

export function textOf(value: Json | undefined): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** A text that says something: an empty one reads as absent. */
export function wordsOf(value: Json | undefined): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

export function numberOf(value: Json | undefined): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

/** A whole number; some servers write theirs as text. */
export function wholeOf(value: Json | undefined): number | undefined {
  if (typeof value === "string") return /^\d{1,15}$/.test(value) ? Number(value) : undefined;
  return typeof value === "number" && Number.isSafeInteger(value) ? value : undefined;
}

export function objectOf(value: Json | undefined): JsonObject {
  return isObject(value) ? value : NOTHING;
}

export function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? (value as readonly Json[]) : [];
}

/** Milliseconds of a clock reading, whether it was written as a number or as an ISO date. */
export function timeOf(value: Json | undefined): number | undefined {
  if (typeof value === "string") return numberOf(Date.parse(value));
  return numberOf(value);
}

/** The object without the keys that have no value: as `exactOptionalPropertyTypes` requires of a literal. */
export function given<T extends object>(object: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  const kept: Record<string, unknown> = {};
  // for-in creates no list of keys: this runs for nearly every block event.
  for (const key in object) {
    const value = object[key];
    if (value !== undefined) kept[key] = value;
  }
  return kept as { [K in keyof T]: Exclude<T[K], undefined> };
}

/** `1 file`, `2 files`. */
export function plural(count: number, noun: string, many = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : many}`;
}
