/**
 * The line of a search hit: the text before the match, the match, and the text after. A tool's input is JSON: of it the
 * string with the match is shown, unescaped, without its surroundings. Pure.
 */
import { HIT_CHARS } from "./limits.ts";

/** How a search shows one match. */
export interface FoundLine {
  readonly line: number;
  readonly content: string;
  readonly content_line: number;
  readonly match_start: number;
  readonly match_end: number;
  readonly shown_from?: number | undefined;
}

export interface HitText {
  readonly before: string;
  readonly words: string;
  readonly after: string;
}

/** A line that is shown from its middle begins with a mark of one character. */
const CUT_CHARS = 1;

/** The matched line around the match, with at most `mostBefore` characters before it and `mostAfter` after it. */
export function hitText(found: FoundLine, kind: string, mostBefore: number, mostAfter = HIT_CHARS): HitText {
  const line = found.content.split("\n")[found.line - found.content_line] ?? found.content;
  const skipped = found.shown_from === undefined ? 0 : found.shown_from - CUT_CHARS;
  const from = Math.max(0, found.match_start - skipped);
  const to = found.match_end - skipped;
  const read = kind === "tool_call" ? unescaped : (text: string) => text;
  const isJson = kind === "tool_call" && (skipped > 0 || JSON_LINE.test(line));
  const around = isJson ? stringAround(line, from, to) : { from: headOf(line, kind, from), to: line.length };
  const before = read(line.slice(around.from, from)).trimStart();
  return {
    before: before.length > mostBefore ? `…${before.slice(-mostBefore)}` : before,
    words: read(line.slice(from, to)).slice(0, mostAfter),
    after: read(line.slice(to, Math.min(around.to, to + mostAfter))),
  };
}

/** The sign before a file's path in the head of a diff is none of its words. */
const FILE_HEAD = /^(?:\+\+\+|---) (?:[ab]\/)?(?=\/|\S+$)/;

function headOf(line: string, kind: string, from: number): number {
  const [head = ""] = kind === "file_change" ? (FILE_HEAD.exec(line) ?? []) : [];
  return head.length <= from ? head.length : 0;
}

/** A line of JSON: the beginning of a value, or a field on a line of its own. Some tools take plain text. */
const JSON_LINE = /^\s*(?:\{\s*(?:"|\}|$)|\[|"(?:[^"\\]|\\.)*"\s*:)/;
const OPENS = /(?:^|[{[,:])\s*$/;
const CLOSES = /^\s*(?:[:,}\]]|$)/;

/**
 * The start and end of the string around a match; the whole line if it is in none. In JSON, an unescaped quote ends a
 * string.
 */
function stringAround(
  line: string,
  from: number,
  to: number,
): { readonly from: number; readonly to: number } {
  const edges = [...line.matchAll(/\\.|"/g)].flatMap(([sign], i, all) =>
    sign === '"' ? (all[i]?.index ?? []) : [],
  );
  const first = edges.findLast((at) => at < from);
  const last = edges.find((at) => at >= to);
  const isInside = first === undefined || OPENS.test(line.slice(0, first));
  if (!isInside || edges.some((at) => at >= from && at < to)) return { from: 0, to: line.length };
  return {
    from: first === undefined ? 0 : first + 1,
    to: last !== undefined && CLOSES.test(line.slice(last + 1)) ? last : line.length,
  };
}

const SIGNS: Readonly<Record<string, string>> = { n: " ", r: " ", t: " ", b: "", f: " " };

/** JSON's escapes as text on one line; a cut one stays as it is. */
function unescaped(json: string): string {
  return json.replace(/\\(?:u([0-9a-fA-F]{4})|(["\\/bfnrt]))/g, (_, code?: string, sign = "") =>
    code === undefined ? (SIGNS[sign] ?? sign) : String.fromCharCode(Number.parseInt(code, 16)),
  );
}
