/**
 * Markdown that grows: text in, tokens out, where what is settled is never lexed again. Only the unfinished tail is, and
 * that stays short: everything before the last block is settled, and so are the finished items of a long list and the
 * finished sentences of a long paragraph.
 *
 * A text that has ended is lexed whole, once, so that what is shown in the end does not depend on how it was streamed.
 *
 * Positions: marked turns CR LF into LF, which would move them; so a CR is read as a space, which markdown ignores there.
 */

import type { Links, Token, Tokens } from "marked";
import remend from "remend";
import { lexBounded } from "./bounded-lexer.ts";
import { GROUP_TOKENS, KEEP_CHARS, MEND_CHARS, SPLIT_CHARS, SPLIT_TRIES } from "./limits.ts";

/** What the parser reads; the kernel's Text is one. */
interface Source {
  readonly length: number;
  slice(from: number, to?: number): string;
}

export interface Parsed {
  /** Finished blocks, in groups whose identity stays, so that whoever draws them can skip them whole. */
  readonly settled: readonly (readonly Token[])[];
  readonly settledChars: number;
  /** The paragraph at the end, as far as its sentences are finished. */
  readonly sentences: readonly (readonly Token[])[];
  readonly sentenceChars: number;
  /** Lexed again with each change. */
  readonly tail: readonly Token[];
  readonly links: Links;
}

/** A paragraph whose beginning was settled before its end came. */
export interface LongParagraph extends Tokens.Generic {
  readonly type: "long-paragraph";
  readonly parts: readonly (readonly Token[])[];
}

const SPLIT_ITEMS = 12;

const NOTHING: Parsed = {
  settled: [],
  settledChars: 0,
  sentences: [],
  sentenceChars: 0,
  tail: [],
  links: {},
};

/** The whole text, which has ended. */
export function parseWhole(source: Source): Parsed {
  const text = readable(source.slice(0));
  const { tokens, links } = lexBounded(text, {});
  return { ...NOTHING, settled: grouped([], tokens), settledChars: text.length, links };
}

/** The text so far. `before` is an earlier result for a beginning of the same text. */
export function parseGrowing(before: Parsed | undefined, source: Source): Parsed {
  const known = before ?? NOTHING;
  const start = known.settledChars + known.sentenceChars;
  const tail = readable(source.slice(start));
  const { tokens, links, tooHard } = lexBounded(tail, known.links, true);
  if (tooHard) return settleHard(known, tokens, tail);
  const settled = { ...known, links };
  return settleTail(settled, tokens, tail);
}

/** What is too hard to lex is shown as it was written from here on: lexing it again with each piece would be harder still. */
function settleHard(known: Parsed, tokens: readonly Token[], tail: string): Parsed {
  const finished = asTail(known.sentences, tokens);
  return {
    ...NOTHING,
    settled: grouped(known.settled, finished),
    settledChars: known.settledChars + known.sentenceChars + tail.length,
    links: known.links,
  };
}

function settleTail(known: Parsed, tokens: readonly Token[], tail: string): Parsed {
  const last = lastBlock(tokens);
  if (tokens.reduce((sum, token) => sum + token.raw.length, 0) !== tail.length)
    return { ...known, tail: asTail(known.sentences, mended(tail, known.links)) };
  const before = tokens.slice(0, Math.max(0, last));
  const isFinished = before.length > 0;
  const finished = isFinished ? asTail(known.sentences, before) : [];
  const finishedChars = before.reduce((sum, token) => sum + token.raw.length, 0);
  const moved: Parsed = isFinished
    ? {
        settled: grouped(known.settled, finished),
        settledChars: known.settledChars + known.sentenceChars + finishedChars,
        sentences: [],
        sentenceChars: 0,
        tail: [],
        links: known.links,
      }
    : known;
  const rest = isFinished ? tail.slice(finishedChars) : tail;
  const token = tokens[last];
  if (token?.type === "list") return splitList(moved, token as Tokens.List, rest);
  if (token?.type === "paragraph") return splitParagraph(moved, rest);
  return { ...moved, tail: asTail(moved.sentences, mended(rest, moved.links)) };
}

/** Settles all items of a long list but the last two; the rest is a list that starts where they end. */
function splitList(known: Parsed, list: Tokens.List, rest: string): Parsed {
  const finished = list.items.slice(0, -2);
  const chars = finished.reduce((sum, item) => sum + item.raw.length, 0);
  const isSplit =
    list.items.length >= SPLIT_ITEMS && rest.startsWith(finished.map((item) => item.raw).join(""));
  if (!isSplit) return { ...known, tail: mended(rest, known.links) };
  const part = { ...list, items: finished, raw: rest.slice(0, chars) };
  const next: Parsed = {
    ...known,
    settled: grouped(known.settled, [part]),
    settledChars: known.settledChars + chars,
  };
  return { ...next, tail: mended(rest.slice(chars), known.links) };
}

/** Settles the sentences of a long paragraph that are certainly finished. */
function splitParagraph(known: Parsed, rest: string): Parsed {
  const at = rest.length > SPLIT_CHARS ? splitAt(rest) : undefined;
  if (at === undefined) return { ...known, tail: asTail(known.sentences, mended(rest, known.links)) };
  const sentences = [...known.sentences, inlineOf(rest.slice(0, at), known.links)];
  const next = { ...known, sentences, sentenceChars: known.sentenceChars + at };
  return { ...next, tail: asTail(sentences, mended(rest.slice(at), known.links)) };
}

/** One without sentences is split anyway once it is too long to be lexed with each piece; its end puts it right. */
function splitAt(rest: string): number | undefined {
  if (rest.length <= MEND_CHARS) return sentenceEnd(rest);
  const at = rest.lastIndexOf(" ", rest.length - KEEP_CHARS) + 1;
  return at > SPLIT_CHARS ? at : splitBetween(rest, rest.length - KEEP_CHARS);
}

/** Not between the halves of a character. */
function splitBetween(text: string, at: number): number {
  return /[\uDC00-\uDFFF]/.test(text[at] as string) ? at + 1 : at;
}

/** Behind a sentence where nothing is open and a letter follows, so that what follows reads as a paragraph too. */
function sentenceEnd(text: string): number | undefined {
  let tries = SPLIT_TRIES;
  for (let at = text.length - KEEP_CHARS; at > SPLIT_CHARS / 2 && tries > 0; at--) {
    if (
      text[at - 1] !== " " ||
      !/[.!?:;,]/.test(text[at - 2] as string) ||
      !/[A-Za-z]/.test(text[at] as string)
    )
      continue;
    tries--;
    const head = text.slice(0, at);
    const isOpen = head.lastIndexOf("[") > head.lastIndexOf("]");
    if (!isOpen && remend(head.trimEnd(), REMEND) === head.trimEnd()) return at;
  }
  return undefined;
}

/** The tail's tokens, its first paragraph joined to the sentences that are settled. */
function asTail(sentences: readonly (readonly Token[])[], tokens: readonly Token[]): readonly Token[] {
  const [first, ...others] = tokens;
  if (sentences.length === 0) return tokens;
  const isParagraph = first?.type === "paragraph" || first?.type === "text";
  const own = isParagraph ? ((first as Tokens.Paragraph).tokens ?? []) : [];
  const long: LongParagraph = { type: "long-paragraph", raw: first?.raw ?? "", parts: [...sentences, own] };
  return [long, ...(isParagraph ? others : tokens)];
}

const REMEND = { linkMode: "text-only", comparisonOperators: false } as const;
/** A fence or a formula is as it was written, whatever is open in it. */
const OPEN_FENCE = /^ {0,3}(`{3,}|~{3,}|\$\$|\\\[)/;

/** The tail with what is open in it closed, so that half a link or an open emphasis looks as it will. */
function mended(text: string, links: Links): readonly Token[] {
  const isLeft = text.length > MEND_CHARS || OPEN_FENCE.test(text);
  return lexBounded(isLeft ? text : remend(text, REMEND), links, true).tokens;
}

function inlineOf(text: string, links: Links): readonly Token[] {
  const { tokens } = lexBounded(text, links);
  return (tokens[0] as Tokens.Paragraph | undefined)?.tokens ?? tokens;
}

function readable(text: string): string {
  return text.replaceAll("\r", " ");
}

/** Where the last block begins that may still change; what follows it is blank. */
function lastBlock(tokens: readonly Token[]): number {
  return tokens.findLastIndex((token) => token.type !== "space");
}

/** Adds tokens to the groups: full groups keep their identity. */
function grouped(
  groups: readonly (readonly Token[])[],
  tokens: readonly Token[],
): readonly (readonly Token[])[] {
  const open = groups.at(-1);
  const isOpen = open !== undefined && open.length < GROUP_TOKENS;
  const all = [
    ...(isOpen ? open : []),
    ...tokens.filter((token) => token.type !== "space" && token.type !== "def"),
  ];
  const next = isOpen ? groups.slice(0, -1) : [...groups];
  for (let i = 0; i < all.length; i += GROUP_TOKENS) next.push(all.slice(i, i + GROUP_TOKENS));
  return next;
}
