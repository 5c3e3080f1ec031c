/**
 * Search against the slow and obvious way: random patterns on random texts.
 *
 * A seed makes patterns of two sorts: grown from a grammar together with strings that they match, and shaken together
 * from pieces of syntax, where those that the engine takes count. For each, our matches must be those that the engine
 * finds in the whole text at once [Q7], their lines and contents those that splitting the text gives [Q6, Q8, Q9], and a
 * text with a match must pass its own filter, and be named by the segments of an index that it is in [Q12].
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  compilePattern,
  type Demand,
  filterOf,
  isProblem,
  limits,
  matchText,
  mayContain,
  type SearchMatch,
  type SearchQuery,
  trigramsOf,
} from "@blockyard/kernel";
import { RE2JS } from "re2js";
import {
  type IndexedBlock,
  SegmentBuilder,
} from "../../packages/server/src/search/segment/segment-builder.ts";
import { mergeSegments } from "../../packages/server/src/search/segment/segment-merge.ts";
import { SegmentReader } from "../../packages/server/src/search/segment/segment-reader.ts";
import type { Fuzz, FuzzOutcome } from "./fuzz.ts";

const PATTERNS_PER_SEED = 12;
const CONTEXT = 2;
const MATCHES = 300;

export const fuzz: Fuzz = {
  name: "search",
  sometimes: [
    "match",
    "empty match",
    "long text",
    "over lines",
    "ruled out",
    "filter in use",
    "ignored case",
    "segment rules out",
  ],
  async run(seed): Promise<FuzzOutcome> {
    const random = new Random(seed);
    const hits: Record<string, number> = {};
    const count = (name: string) => {
      hits[name] = (hits[name] ?? 0) + 1;
    };
    const cases: { pattern: string; ignoreCase: boolean; text: string }[] = [];
    for (let i = 0; i < PATTERNS_PER_SEED; i++) {
      const { pattern, sample } = random.below(3) === 0 ? shaken(random) : grown(random, 3);
      const text = textAround(random, sample);
      const ignoreCase = random.below(2) === 0;
      cases.push({ pattern, ignoreCase, text });
      const detail = check(pattern, ignoreCase, text, count);
      if (detail !== undefined) {
        return { ok: false, hits, detail: `${detail}\n${JSON.stringify({ pattern, ignoreCase, text })}` };
      }
    }
    const missed = checkSegments(cases, count);
    return missed === undefined ? { ok: true, hits } : { ok: false, hits, detail: missed };
  },
};

/** Every pattern on all texts, through segments of the index: two, and the one that they are merged into. */
function checkSegments(
  cases: readonly { pattern: string; ignoreCase: boolean; text: string }[],
  count: (name: string) => void,
): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), "blockyard-fuzz-search-"));
  try {
    const texts = cases.flatMap(({ text, pattern }) => [
      text,
      `${pattern} ${text.slice(0, 40)}`,
      text.toUpperCase(),
    ]);
    const half = texts.length >> 1;
    const parts = [built(folder, texts, 0, half), built(folder, texts, half, texts.length)];
    const path = join(folder, "merged.seg");
    const merged = new SegmentReader(path, ended(mergeSegments(parts, path, () => "c")));
    for (const { pattern: source, ignoreCase } of cases) {
      const pattern = compilePattern({ pattern: source, literal: false, ignoreCase });
      if (isProblem(pattern)) continue;
      for (const [name, segments] of [
        ["parts", parts],
        ["merged", [merged]],
      ] as const) {
        const named = namedRows(segments, pattern.demand);
        if (named !== undefined && named.size < texts.length) count("segment rules out");
        for (const [i, text] of texts.entries()) {
          if (named === undefined || named.has(i + 1)) continue;
          if (engineMatches(source, ignoreCase, text).length > 0)
            return `the index (${name}) rules out a text with a match\n${JSON.stringify({ source, ignoreCase, text })}`;
        }
      }
    }
    for (const segment of [...parts, merged]) segment.close();
    return undefined;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Undefined: a segment could not tell. */
function namedRows(segments: readonly SegmentReader[], demand: Demand): Set<number> | undefined {
  const rows = new Set<number>();
  for (const segment of segments) {
    const ranks = segment.ranks(demand, {} as SearchQuery, undefined);
    if (ranks === undefined) return undefined;
    for (const rank of ranks) rows.add(segment.document(rank).row);
  }
  return rows;
}

function built(folder: string, texts: readonly string[], from: number, to: number): SegmentReader {
  const builder = new SegmentBuilder();
  for (let i = from; i < to; i++) {
    const block = {
      row: i + 1,
      version: 1,
      conversation: 1,
      born: i,
      createdAt: i % 5,
      name: "c",
      kind: "text",
      path: null,
    };
    ended(builder.add(block as IndexedBlock, texts[i] as string));
  }
  const path = join(folder, `${from}.seg`);
  return new SegmentReader(path, ended(builder.write(path, [])));
}

function ended<T>(work: Generator<void, T>): T {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
}

function check(
  source: string,
  ignoreCase: boolean,
  text: string,
  count: (name: string) => void,
): string | undefined {
  const pattern = compilePattern({ pattern: source, literal: false, ignoreCase });
  if (isProblem(pattern)) return undefined;
  const spans: [number, number][] = [];
  pattern.find(
    text,
    (start, end) => spans.push([start, end]) > 0,
    () => false,
  );
  if (JSON.stringify(spans) !== JSON.stringify(engineMatches(source, ignoreCase, text)))
    return "other matches";
  const expected = spans.filter(
    ([start]) => !(start === text.length && (text === "" || text.endsWith("\n"))),
  );
  const found = matchText(text, pattern, { contextLines: CONTEXT, maxMatches: MATCHES, isLate: () => false });
  if (found.more !== expected.length > MATCHES) return `more: ${found.more}`;
  if (found.matches.length !== Math.min(MATCHES, expected.length)) return `${found.matches.length} matches`;
  // The slow way is slow: in long lists only some matches are compared.
  for (let i = 0; i < found.matches.length; i += i < 10 ? 1 : 29) {
    const [start, end] = expected[i] as [number, number];
    const [a, b] = [JSON.stringify(found.matches[i]), JSON.stringify(shownSlowly(text, start, end))];
    if (a !== b) return `match ${i} is ${a}, not ${b}`;
  }
  const trigrams = trigramsOf(pattern.demand);
  const passes = mayContain(filterOf(text), trigrams);
  if (expected.length > 0 && !passes) return "the filter rules out a text with a match";
  if (expected.length > 0) count("match");
  if (expected.some(([start, end]) => start === end)) count("empty match");
  if (expected.some(([start, end]) => text.slice(start, end).includes("\n"))) count("over lines");
  if (expected.length > 0 && text.length > 10_000) count("long text");
  if (expected.length > 0 && ignoreCase) count("ignored case");
  if (expected.length > 0 && trigrams !== undefined) count("filter in use");
  if (!passes) count("ruled out");
  return undefined;
}

function engineMatches(source: string, ignoreCase: boolean, text: string): [number, number][] {
  const flags = RE2JS.MULTILINE | (ignoreCase ? RE2JS.CASE_INSENSITIVE : 0);
  const matcher = RE2JS.compile(source, flags).matcher(text);
  const all: [number, number][] = [];
  while (matcher.find()) all.push([matcher.start(), matcher.end()]);
  return all;
}

/** The match as the rules say, from a list of all lines. Lines are short here, so nothing is cut. */
function shownSlowly(text: string, start: number, end: number): SearchMatch {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  const line = text.slice(0, start).split("\n").length - 1;
  const newlines = text.slice(start, Math.max(start, end - 1)).split("\n").length - 1;
  const lastLine = line + Math.min(newlines, limits.contextLines);
  const column = start - text.lastIndexOf("\n", start - 1) - 1;
  const contentLine = Math.max(0, line - CONTEXT);
  return {
    line,
    start: start === 0 ? 0 : column,
    end: (start === 0 ? 0 : column) + end - start,
    content: lines.slice(contentLine, lastLine + 1 + CONTEXT).join("\n"),
    contentLine,
  };
}

interface Made {
  readonly pattern: string;
  /** A string that the pattern matches, more or less: enough for matches to be frequent. */
  readonly sample: string;
}

/** Letters with several cases, characters of two units, line ends, and what is special in patterns. */
const CHARACTERS = [..."abcABCkKsSſßẞσςΣéÉİıiI😀𐐀𐐨 \t\n\r019_-.{}[]", "\u212a", "\u2028"];
const SPECIAL = /[\\^$.|?*+()[\]{}-]/;

function grown(random: Random, depth: number): Made {
  switch (random.below(depth <= 0 ? 4 : 10)) {
    case 0:
    case 1:
    case 2:
      return literal(random);
    case 3:
      return oneOfSeveral(random);
    case 4:
    case 5:
    case 6:
      return joined(Array.from({ length: 1 + random.below(4) }, () => grown(random, depth - 1)));
    case 7: {
      const choices = Array.from({ length: 2 + random.below(3) }, () => grown(random, depth - 1));
      const open = random.pick(["(", "(?:", "(?P<n>", "(?i:"]);
      return {
        pattern: `${open}${choices.map((c) => c.pattern).join("|")})`,
        sample: random.pick(choices).sample,
      };
    }
    case 8:
      return repeated(random, grown(random, depth - 1));
    default:
      return random.pick<Made>([
        { pattern: "^", sample: "" },
        { pattern: "$", sample: "" },
        { pattern: "\\b", sample: "" },
        { pattern: ".*", sample: "xyz" },
        { pattern: "(?s:.)", sample: "\n" },
        { pattern: "\\s+", sample: " \n " },
        { pattern: "[^a]", sample: "b" },
        { pattern: "\\w*", sample: "ab_1" },
      ]);
  }
}

function joined(parts: readonly Made[]): Made {
  return { pattern: parts.map((p) => p.pattern).join(""), sample: parts.map((p) => p.sample).join("") };
}

function literal(random: Random): Made {
  const characters = Array.from({ length: 1 + random.below(5) }, () => random.pick(CHARACTERS));
  const sample = characters.join("");
  const quoted = characters.map((c) => (SPECIAL.test(c) ? `\\${c}` : c)).join("");
  const coded = characters.map((c) => `\\x{${(c.codePointAt(0) as number).toString(16)}}`).join("");
  return { pattern: random.pick([quoted, quoted, coded, `\\Q${sample}\\E`]), sample };
}

function oneOfSeveral(random: Random): Made {
  const characters = Array.from({ length: 1 + random.below(4) }, () => random.pick(CHARACTERS));
  const body = characters.map((c) => (SPECIAL.test(c) ? `\\${c}` : c)).join("");
  const more = random.pick(["", "", "0-9", "a-f", "\\d", "[:alpha:]", "\\pL", "[:^space:]"]);
  return { pattern: `[${body}${more}]`, sample: random.pick(characters) };
}

function repeated(random: Random, part: Made): Made {
  const times = random.pick(["*", "+", "?", "{2}", "{1,3}", "{2,}", "{0,2}", "{4}"]);
  const often = times === "{4}" ? 4 : 2;
  return {
    pattern: `(?:${part.pattern})${times}${random.pick(["", "?"])}`,
    sample: random.below(4) === 0 && /[*?0]/.test(times) ? "" : part.sample.repeat(often),
  };
}

const PIECES = [
  ..."abkK😀ab\n ",
  ..."|()*+?^$.-]",
  ...[
    "(?i)",
    "(?s)",
    "(?-m)",
    "(?i:",
    "(?:",
    "\\Q",
    "\\E",
    "\\Qab\\E",
    "{2}",
    "{2,}",
    "{,2}",
    "{02}",
    "{0}",
    "[a",
    "[^",
  ],
  ...[
    "[]a]",
    "[^\\n]",
    "[^\\s]",
    "[^\\pL]",
    "[^\\P{Greek}]",
    "[[:alpha:]]",
    "[a-]",
    "[\\]a]",
    "\\A",
    "\\z",
    "\\B",
  ],
  ...[
    "\\x61",
    "\\141",
    "\\pL",
    "\\p{Greek}",
    "\\PL",
    "\\W",
    "\\S",
    "\\.",
    "abc",
    "kab",
    "[ab]",
    "x{1,2}",
    "ab|ba",
  ],
];

function shaken(random: Random): Made {
  const pattern = Array.from({ length: 2 + random.below(7) }, () => random.pick(PIECES)).join("");
  return { pattern, sample: random.pick(["abc", "kab", "ab", "😀ab", "a\nb", "σab", "{02}", ""]) };
}

/** Text with the sample in it now and then; sometimes longer than what is given to the engine at once. */
function textAround(random: Random, sample: string): string {
  const parts: string[] = [];
  const pieces = random.below(10) === 0 ? 3_000 : random.below(40);
  for (let i = 0; i < pieces; i++) {
    const chance = random.below(pieces > 1_000 ? 400 : 12);
    if (chance === 0) parts.push(random.below(3) === 0 ? sample.toUpperCase() : sample);
    else if (chance === 1) parts.push("\n");
    else
      parts.push(
        random.pick(["ab", "ba ", "k", "xy", "σ", " ", "7", ...CHARACTERS]),
        pieces > 1_000 ? "filler\n" : "",
      );
  }
  return parts.join("").toWellFormed();
}

class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = Math.imul(seed, 0x9e3779b1) ^ 0x5bd1e995;
  }

  below(limit: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let bits = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits;
    return Math.floor((((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32) * limit);
  }

  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T;
  }
}
