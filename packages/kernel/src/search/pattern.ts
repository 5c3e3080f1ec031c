/**
 * A search pattern, ready to find its matches in a text. Literals are found by `indexOf`; regular expressions by a
 * linear-time engine of the RE2 kind, which is known to this file alone.
 *
 * Meaning of a regular expression: RE2's syntax; `^` and `$` match at the ends of lines, which only `\n` ends (so in a
 * CRLF text `$` stands behind the `\r`: write `\r?$`); `.` matches all but `\n`; `(?s)`, `(?-m)`, `(?i)` change that.
 * Ignoring case compares by simple Unicode folding, the same for literals and for expressions.
 *
 * Invariant: what cannot be compiled is a problem with its reason, never taken for a literal.
 */

import { RE2JS } from "re2js";
import { limits } from "../model/limits.ts";
import { type Problem, problem } from "../model/problem.ts";
import { foldCase } from "./case-fold.ts";
import { type Demand, shapeOf, shapeOfLiteral } from "./search-syntax.ts";

export interface PatternSource {
  readonly pattern: string;
  /** Taken literally, not as a regular expression. */
  readonly literal: boolean;
  readonly ignoreCase: boolean;
}

export interface Pattern {
  /** How much a character of text may cost: the instructions of an expression, next to nothing for a literal. */
  readonly weight: number;
  /** What every text with a match contains. */
  readonly demand: Demand;
  /**
   * Calls `visit` for every match from the first to the last; none overlaps another. Ends early when `visit` answers
   * false, or when `isLate` does not: then the answer is "late". A single step of the engine cannot be stopped from
   * inside: see Guard in search.ts.
   */
  find(
    text: string,
    visit: (start: number, end: number) => boolean,
    isLate: () => boolean,
  ): "all" | "stopped" | "late";
}

const NO_LOOKAROUND =
  "The engine runs in time linear in the text, so it has no lookahead, lookbehind or backreferences: " +
  "use a simpler pattern and filter its matches.";

export function compilePattern(source: PatternSource): Pattern | Problem {
  const { pattern, literal } = source;
  if (pattern === "") return problem("pattern", "The pattern is empty.");
  if (pattern.length > limits.patternChars) {
    return problem(
      "pattern",
      `The pattern has ${pattern.length} characters; the limit is ${limits.patternChars}.`,
      {
        chars: pattern.length,
        max_chars: limits.patternChars,
      },
    );
  }
  if (!pattern.isWellFormed()) return problem("pattern", "The pattern contains a lone surrogate.");
  return literal ? literalPattern(source) : regexPattern(source);
}

function literalPattern({ pattern, ignoreCase }: PatternSource): Pattern {
  const needle = ignoreCase ? foldCase(pattern) : pattern;
  return {
    weight: 0,
    demand: shapeOfLiteral(pattern).demand,
    find(text, visit, isLate) {
      const hay = ignoreCase ? foldCase(text) : text;
      for (let at = hay.indexOf(needle); at !== -1; at = hay.indexOf(needle, at + needle.length)) {
        if (!visit(at, at + needle.length)) return "stopped";
        if (isLate()) return "late";
      }
      return "all";
    },
  };
}

function regexPattern({ pattern, ignoreCase }: PatternSource): Pattern | Problem {
  let regex: RE2JS;
  try {
    regex = RE2JS.compile(pattern, RE2JS.MULTILINE | (ignoreCase ? RE2JS.CASE_INSENSITIVE : 0));
  } catch (error) {
    return problem("pattern", refusal(pattern, error));
  }
  const instructions = regex.programSize();
  if (instructions > limits.patternInstructions) {
    return problem(
      "pattern",
      `The pattern compiles to ${instructions} instructions; the limit is ${limits.patternInstructions}. ` +
        "Nested counted repetitions multiply.",
      { instructions, max_instructions: limits.patternInstructions },
    );
  }
  const { demand, lineBound } = shapeOf(pattern);
  return {
    weight: instructions,
    demand,
    find(text, visit, isLate) {
      if (!lineBound || text.length <= limits.patternPieceChars) return findIn(regex, text, 0, visit, isLate);
      for (let from = 0; from <= text.length; ) {
        const end = lineEnd(text, from + limits.patternPieceChars);
        const outcome = findIn(regex, text.slice(from, end), from, visit, isLate);
        if (outcome !== "all") return outcome;
        if (isLate()) return "late";
        from = end + 1;
      }
      return "all";
    },
  };
}

/** Asks first whether there is a match at all: the engine answers that ten times as fast as where it is. */
function findIn(
  regex: RE2JS,
  text: string,
  offset: number,
  visit: (start: number, end: number) => boolean,
  isLate: () => boolean,
): "all" | "stopped" | "late" {
  if (!regex.test(text)) return "all";
  const matcher = regex.matcher(text);
  while (matcher.find()) {
    if (!visit(offset + matcher.start(), offset + matcher.end())) return "stopped";
    if (isLate()) return "late";
  }
  return "all";
}

function lineEnd(text: string, from: number): number {
  const end = text.indexOf("\n", from);
  return end === -1 ? text.length : end;
}

function refusal(pattern: string, error: unknown): string {
  // The engine says the flags as if they had been written.
  const reason = (error instanceof Error ? error.message : String(error)).replace(/`\(\?[a-z]+\)/, "`");
  const wants = /\(\?<?[=!]/.test(pattern) || /\\([1-9]|k[<{'])/.test(pattern);
  return `The pattern is not valid: ${reason}.${wants ? ` ${NO_LOOKAROUND}` : ""}`;
}
