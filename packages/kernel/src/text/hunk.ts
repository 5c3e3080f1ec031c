/**
 * Parses the hunks of a unified diff, as models and tools really write them. Pure; hunk-place.ts finds where a hunk
 * belongs.
 *
 * Parsing is tolerant: file headers may be missing, hunk headers may be bare or have wrong counts, an empty line may
 * stand for an empty context line, line ends may have been changed on the way. The result is never empty: a patch has a
 * hunk and a hunk has a line, or the answer is a problem.
 */

import { limits } from "../model/limits.ts";
import { type Problem, problem } from "../model/problem.ts";

export interface HunkLine {
  readonly sign: " " | "+" | "-";
  readonly text: string;
  /** "\ No newline at end of file" follows it. */
  readonly noNewline: boolean;
}

export interface Hunk {
  /** 0-based line of the old text that the header names; undefined where it names none. */
  readonly line: number | undefined;
  readonly lines: readonly HunkLine[];
}

/** The lines of the text that it wants to find. */
export function oldLines(hunk: Hunk): HunkLine[] {
  return hunk.lines.filter(({ sign }) => sign !== "+");
}

const HEADER = /^@@+\s*-(\d{1,9})(?:,(\d{1,9}))?\s+\+(\d{1,9})(?:,(\d{1,9}))?/;

export function parsePatch(patch: string): { readonly hunks: readonly Hunk[] } | Problem {
  if (patch.length > limits.patchChars) {
    return problem(
      "too_large",
      `the patch has ${patch.length} characters; the limit is ${limits.patchChars}`,
      {
        chars: patch.length,
        max_chars: limits.patchChars,
      },
    );
  }
  const lines = splitPatch(patch);
  const hunks: Hunk[] = [];
  let headers = 0;
  let starts = 0;
  let at = 0;
  if (!lines.some((line) => line.startsWith("@@"))) {
    const first = lines.findIndex(isBody);
    if (first === -1) return notAPatch();
    const body = readUntilHeader(lines, isFileHeader(lines, first) ? first + 2 : first);
    if ("problem" in body) return body;
    return { hunks: [{ line: undefined, lines: body.lines }] };
  }
  while (at < lines.length) {
    const line = lines[at] as string;
    if (isFileHeader(lines, at)) {
      headers++;
      at += 2;
    } else if (line.startsWith("@@")) {
      const hunk = readHunk(lines, at);
      if ("problem" in hunk) return hunk;
      hunks.push(hunk.hunk);
      at = hunk.next;
    } else {
      if (isGitStart(line)) starts++;
      at++; // what stands between hunks is for people: "index", a message
    }
  }
  // A file that is only renamed, or is binary, has a start and no header.
  const files = Math.max(headers, starts);
  if (files > 1) {
    return problem("patch", `the patch changes ${files} files; send only the part for this block`, {
      files,
    });
  }
  return hunks.length === 0 ? notAPatch() : { hunks };
}

/** A patch whose own headers end in CRLF was carried over CRLF: that "\r" belongs to none of its lines. */
function splitPatch(patch: string): string[] {
  const lines = patch.split("\n");
  if (lines.at(-1) === "") lines.pop();
  const headers = lines.filter((line) => line.startsWith("@@"));
  const carried = headers.length > 0 && headers.every((line) => line.endsWith("\r"));
  return carried ? lines.map((line) => line.replace(/\r$/, "")) : lines;
}

function notAPatch(): Problem {
  return problem(
    "patch",
    "it contains no hunk: a hunk is a line @@ -start,count +start,count @@ followed by lines that start with ' ', '-' or '+'",
  );
}

function isBody(line: string): boolean {
  return line[0] === " " || line[0] === "+" || line[0] === "-";
}

function isFileHeader(lines: readonly string[], at: number): boolean {
  return /^--- /.test(lines[at] ?? "") && /^\+\+\+ /.test(lines[at + 1] ?? "");
}

function readHunk(
  lines: readonly string[],
  at: number,
): { readonly hunk: Hunk; readonly next: number } | Problem {
  const header = HEADER.exec(lines[at] as string);
  const counts = header ? { old: Number(header[2] ?? 1), fresh: Number(header[4] ?? 1) } : undefined;
  const body = (counts && readCounted(lines, at + 1, counts)) ?? readUntilHeader(lines, at + 1);
  if ("problem" in body) return body;
  const { next } = body;
  const isInsertion = body.lines.every(({ sign }) => sign === "+");
  // "-5,0" stands behind line 5, "-5,1" at it; added lines alone under a count that is wrong stand nowhere.
  if (header === null || (isInsertion && counts?.old !== 0)) {
    return { hunk: { line: undefined, lines: body.lines }, next };
  }
  const start = Number(header[1]);
  const line = isInsertion ? start : Math.max(0, start - 1);
  return { hunk: { line, lines: body.lines }, next };
}

interface Body {
  readonly lines: readonly HunkLine[];
  readonly next: number;
}

/** As many lines as the header says; undefined if that does not work out. */
function readCounted(
  lines: readonly string[],
  from: number,
  counts: { readonly old: number; readonly fresh: number },
): Body | undefined {
  const body: HunkLine[] = [];
  let { old, fresh } = counts;
  let at = from;
  while (old > 0 || fresh > 0) {
    const line = readLine(lines, at);
    if (line === undefined) return undefined;
    if (line.sign !== "+") old--;
    if (line.sign !== "-") fresh--;
    if (old < 0 || fresh < 0) return undefined;
    body.push(line);
    at += line.noNewline ? 2 : 1;
  }
  const next = lines[at];
  const isSignature = next === "-- " || next === "--";
  if (next !== undefined && isBody(next) && !isSignature && !isFileHeader(lines, at)) return undefined;
  if (body.length === 0) return undefined;
  return { lines: body, next: isSignature ? lines.length : at };
}

/** Counts that are wrong or missing are found by counting: a hunk goes to the next header. */
function readUntilHeader(lines: readonly string[], from: number): Body | Problem {
  let end = from;
  while (end < lines.length && !(lines[end] as string).startsWith("@@") && !isFileStart(lines, end)) end++;
  const next = end;
  while (end > from && (lines[end - 1] as string).trim() === "" && lines[end - 1] !== " ") end--;
  const body: HunkLine[] = [];
  for (let at = from; at < end; ) {
    const line = readLine(lines, at);
    if (line === undefined) {
      return problem("patch", `line ${at + 1} of the patch starts with none of ' ', '-', '+', '@@'`, {
        patch_line: at + 1,
        text: (lines[at] as string).slice(0, 200).toWellFormed(),
      });
    }
    body.push(line);
    at += line.noNewline ? 2 : 1;
  }
  if (body.length === 0)
    return problem("patch", `the hunk before line ${from + 1} of the patch is empty`, { patch_line: from });
  return { lines: body, next };
}

function isFileStart(lines: readonly string[], at: number): boolean {
  return isFileHeader(lines, at) || isGitStart(lines[at] as string);
}

function isGitStart(line: string): boolean {
  return line.startsWith("diff --git ");
}

function readLine(lines: readonly string[], at: number): HunkLine | undefined {
  const line = lines[at];
  if (line === undefined) return undefined;
  const noNewline = (lines[at + 1] ?? "").startsWith("\\");
  // Editors take the blank off an empty context line.
  if (line === "" || line === "\r") return { sign: " ", text: line, noNewline };
  if (!isBody(line)) return undefined;
  return { sign: line[0] as HunkLine["sign"], text: line.slice(1), noNewline };
}
