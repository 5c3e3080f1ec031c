/**
 * The one-line row of a tool call: its input (`compactParams`) and its outcome (`shortResult`).
 *
 * Provider-neutral: it uses the parameter names that tools commonly have. A provider that knows a tool better makes its
 * own.
 */

import type { Json } from "@blockyard/kernel";
import { patchChanges } from "./apply-patch.ts";
import { isObject } from "./framing/json.ts";
import { bounds } from "./limits.ts";

/** The parameters that say most, in this order. */
const TELLING = [
  "command",
  "commands",
  "cmd",
  "file_path",
  "filePath",
  "notebook_path",
  "path",
  "filename",
  "pattern",
  "query",
  "queries",
  "url",
  "uri",
  "description",
  "subject",
  "prompt",
  "revised_prompt",
  "code",
  "name",
  "id",
] as const;

/** One line for a tool's input; undefined where there is nothing to say. */
export function compactParams(input: Json | undefined): string | undefined {
  if (typeof input === "string") return patchedFiles(input) ?? rowOf(input);
  if (!isObject(input)) return undefined;
  for (const name of TELLING) {
    const value = input[name];
    if (typeof value === "string" && value.trim() !== "") return rowOf(value);
    if (Array.isArray(value) && value.length > 0 && value.every((word: Json) => typeof word === "string")) {
      return rowOf(value.join(" "));
    }
  }
  const asked = firstQuestion(input["questions"]);
  if (asked !== undefined) return asked;
  return Object.keys(input).length === 0 ? undefined : rowOf(JSON.stringify(input));
}

/** Questions to the person are told by the first of them. */
function firstQuestion(questions: Json | undefined): string | undefined {
  const first = Array.isArray(questions) ? questions[0] : undefined;
  return isObject(first) && typeof first["question"] === "string" ? rowOf(first["question"]) : undefined;
}

/** A patch is told by its files. */
function patchedFiles(text: string): string | undefined {
  if (!text.startsWith("*** Begin Patch")) return undefined;
  const paths = patchChanges(text).map((change) => change.path);
  return paths.length === 0 ? undefined : cutRow(paths.join(", "));
}

/** The first line that says something, cut to a row. */
export function rowOf(text: string): string | undefined {
  for (let from = 0; from < text.length; ) {
    const end = text.indexOf("\n", from);
    const line = text.slice(from, end === -1 ? undefined : end).trim();
    if (line !== "") return cutRow(line);
    if (end === -1) return undefined;
    from = end + 1;
  }
  return undefined;
}

/** Cut at the bound, never inside a character. */
export function cutRow(line: string, most: number = bounds.rowChars): string {
  if (line.length <= most) return line;
  const last = line.charCodeAt(most - 2);
  return `${line.slice(0, last >= 0xd800 && last <= 0xdbff ? most - 2 : most - 1)}…`;
}

/** How many lines a text has, in words: "1 line", "12 lines". */
export function lineCount(text: string): string {
  const lines = countLines(text);
  return `${lines} line${lines === 1 ? "" : "s"}`;
}

/** A last line counts whether or not a newline ends it. */
export function countLines(text: string): number {
  let lines = 0;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) lines++;
  return text === "" || text.endsWith("\n") ? lines : lines + 1;
}
