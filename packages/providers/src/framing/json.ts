/**
 * Text → JSON value, for text that anyone may have written: never throws, and refuses nesting and too many values before
 * parsing it, because JSON.parse accepts depths that nothing behind it can write, clone or walk, and a value takes many times
 * the memory of its two bytes.
 */

import { type Json, type JsonObject, limits } from "@blockyard/kernel";
import { bounds } from "../limits.ts";

/** The value, or undefined where the text is no JSON or too deep. (JSON itself has no undefined.) */
export function parseJson(text: string, maxDepth: number = bounds.eventDepth): Json | undefined {
  if (isDeeper(text, maxDepth) || hasMoreValues(text, limits.lineValues)) return undefined;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/** A JSON object, or undefined where the text is anything else. */
export function parseObject(text: string, maxDepth?: number): JsonObject | undefined {
  const value = parseJson(text, maxDepth);
  return isObject(value) ? value : undefined;
}

/** The same for a line or a document that may begin with a byte order mark, or with the remains of a crash in a file. */
export function parseText(text: string): Json | undefined {
  const first = text.charCodeAt(0);
  if (first === 0xfeff) return parseJson(text.slice(1));
  return parseJson(first === 0 || text.endsWith("\0") ? withoutPadding(text) : text);
}

/** File systems fill unwritten parts with zeros. */
function withoutPadding(text: string): string {
  let from = 0;
  let to = text.length;
  while (from < to && text.charCodeAt(from) === 0) from++;
  while (to > from && text.charCodeAt(to - 1) === 0) to--;
  return text.slice(from, to);
}

type ParsedLine = { readonly json: Json } | { readonly noise: string };

/** The same, for callers that keep anything but JSON. */
export function parseLine(line: string): ParsedLine {
  const json = parseText(line);
  return json === undefined ? { noise: line } : { json };
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether the text opens more than `maxDepth` brackets at once, ignoring strings. */
export function isDeeper(text: string, maxDepth: number): boolean {
  // A level costs at least `[]`, or `{"":}` for all objects but the innermost: most lines are too short for
  // that many, or have too few brackets, and finding that out is a pass or two of memchr.
  const levels = maxDepth + 1;
  if (text.length < levels * 2) return false;
  const arrays = countUpTo(text, "[", levels);
  if (text.length < arrays * 2 + (levels - arrays) * 5 - 3) return false;
  return arrays + countUpTo(text, "{", levels - arrays) >= levels && scanDepth(text, maxDepth);
}

/** Whether the text has more values than that, strings aside. */
export function hasMoreValues(text: string, maxValues: number): boolean {
  // Each but the first costs a comma or a bracket, and its own character.
  if (text.length < maxValues * 2) return false;
  const marks = [",", "[", "{"].reduce((sum, mark) => sum + countUpTo(text, mark, maxValues), 0);
  return marks >= maxValues && countValues(text, maxValues) > maxValues;
}

function countValues(text: string, most: number): number {
  let values = 1;
  for (let i = 0; i < text.length && values <= most; i++) {
    const code = text.charCodeAt(i);
    if (code === 0x22) {
      i = endOfString(text, i);
      if (i === -1) return values;
    } else if (code === 0x2c || code === 0x5b || code === 0x7b) values++;
  }
  return values;
}

function countUpTo(text: string, character: string, most: number): number {
  let count = 0;
  for (let at = text.indexOf(character); at !== -1 && count < most; at = text.indexOf(character, at + 1))
    count++;
  return count;
}

function scanDepth(text: string, maxDepth: number): boolean {
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === 0x22) {
      i = endOfString(text, i);
      if (i === -1) return false; // not JSON: parsing will say so
    } else if (code === 0x5b || code === 0x7b) {
      if (++depth > maxDepth) return true;
    } else if (code === 0x5d || code === 0x7d) depth--;
  }
  return false;
}

/** Where the string that opens at `start` closes; -1 if it does not. */
function endOfString(text: string, start: number): number {
  let at = text.indexOf('"', start + 1);
  while (at !== -1) {
    let backslashes = 0;
    while (text.charCodeAt(at - 1 - backslashes) === 0x5c) backslashes++;
    if (backslashes % 2 === 0) return at;
    at = text.indexOf('"', at + 1);
  }
  return -1;
}
