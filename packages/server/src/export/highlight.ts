/**
 * Colours for code, made without a grammar: comments, strings, numbers and the words that most languages share. One pass,
 * linear in the text. A language that is not known here is shown plain; a wrong guess colours a word, and changes none.
 */

import { languageOf } from "@blockyard/providers/language";
import { type Html, html, join } from "../system/escape.ts";
import { HIGHLIGHTED_CHARS, STRING_CHARS } from "./limits.ts";

interface Family {
  readonly line: readonly string[];
  readonly block?: readonly [string, string];
  readonly quotes: string;
  readonly words: ReadonlySet<string>;
}

const words = (text: string): ReadonlySet<string> => new Set(text.split(" "));

const C_WORDS = words(
  "abstract as async await auto bool boolean break byte case catch char class const continue default defer delete do " +
    "double else enum export extends extern false final finally float fn for foreach func function go goto if impl " +
    "implements import in instanceof int interface internal let long loop match mod module mut namespace new nil null " +
    "object of operator override package private protected pub public readonly ref return self sealed short signed " +
    "sizeof static string struct super switch template this throw throws trait true try type typedef typeof undefined " +
    "union unsafe unsigned use using val var virtual void volatile when where while with yield",
);
const HASH_WORDS = words(
  "and as assert async await begin break case class continue def del do done elif else elsif end ensure esac except " +
    "exec export False fi finally for from function global if import in is lambda local module next nil None nonlocal " +
    "not or pass raise redo rescue retry return self set then True try unless until unset while with yield",
);
const SQL_WORDS = words(
  "add all alter and as asc between by case create delete desc distinct drop else end exists foreign from group having " +
    "in index inner insert into is join key left like limit not null on or order outer primary references right select " +
    "set table then union unique update values view when where",
);
const DATA_WORDS = words("true false null yes no on off");

const C: Family = { line: ["//"], block: ["/*", "*/"], quotes: "\"'`", words: C_WORDS };
const HASH: Family = { line: ["#"], quotes: "\"'`", words: HASH_WORDS };
const DATA: Family = { line: ["#", "//"], quotes: "\"'", words: DATA_WORDS };
const SQL: Family = { line: ["--"], block: ["/*", "*/"], quotes: "'\"", words: SQL_WORDS };
const MARKUP: Family = { line: [], block: ["<!--", "-->"], quotes: "\"'", words: new Set() };

const FAMILIES: ReadonlyMap<string, Family> = new Map<string, Family>([
  ...each(
    "c cpp c++ cs csharp css dart go golang graphql java javascript js jsx kotlin kt less php proto rust rs",
    C,
  ),
  ...each("scala scss swift ts tsx typescript zig mjs cjs mts cts h hpp objc", C),
  ...each(
    "bash dockerfile docker elixir ex makefile make perl pl powershell ps1 py python r rb ruby sh shell",
    HASH,
  ),
  ...each("shellscript zsh fish nix", HASH),
  ...each("json jsonc jsonl json5 toml yaml yml ini terraform tf hcl", DATA),
  ...each("sql lua haskell hs", SQL),
  ...each("html htm xml svg vue svelte", MARKUP),
]);

/** The code, coloured by its language, or else by the name of its file. */
export function highlight(text: string, language: string | undefined, filename?: string): Html {
  const named = language ?? (filename === undefined ? undefined : languageOf(filename));
  const family = named === undefined ? undefined : FAMILIES.get(named.toLowerCase());
  if (!family || text.length > HIGHLIGHTED_CHARS) return html`${text}`;
  return join([...tokens(text, family)].map(({ kind, text: part }) => span(kind, part)));
}

type Kind = "plain" | "comment" | "string" | "number" | "keyword";

interface Piece {
  readonly kind: Kind;
  readonly text: string;
}

function span(kind: Kind, text: string): Html {
  return kind === "plain" ? html`${text}` : html`<span class="t-${kind}">${text}</span>`;
}

function* tokens(text: string, family: Family): Generator<Piece> {
  let plain = 0;
  let at = 0;
  while (at < text.length) {
    const found = tokenAt(text, at, family);
    if (found && found.kind !== "plain") {
      if (at > plain) yield { kind: "plain", text: text.slice(plain, at) };
      yield { kind: found.kind, text: text.slice(at, found.end) };
      plain = found.end;
    }
    at = found?.end ?? at + 1;
  }
  if (plain < text.length) yield { kind: "plain", text: text.slice(plain) };
}

const WORD = /[A-Za-z_$][\w$]*/y;
const NUMBER = /\d[\w.]*/y;

function tokenAt(text: string, at: number, family: Family): { kind: Kind; end: number } | undefined {
  const character = text[at] as string;
  const { block, line, quotes } = family;
  if (block && text.startsWith(block[0], at)) return { kind: "comment", end: endOf(text, block[1], at) };
  if (
    line.some((mark) => text.startsWith(mark, at)) &&
    !(character === "#" && /\S/.test(text[at - 1] ?? " "))
  )
    return { kind: "comment", end: lineEnd(text, at) };
  if (quotes.includes(character)) return { kind: "string", end: stringEnd(text, at, character) };
  const word = matchAt(WORD, text, at);
  if (word !== undefined)
    return { kind: family.words.has(word) ? "keyword" : "plain", end: at + word.length };
  const number = matchAt(NUMBER, text, at);
  return number === undefined ? undefined : { kind: "number", end: at + number.length };
}

function matchAt(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0];
}

/** To the closing quote; a quote without one nearby does not count. */
function stringEnd(text: string, at: number, quote: string): number {
  const last = Math.min(text.length, at + STRING_CHARS);
  for (let i = at + 1; i < last; i++) {
    if (text[i] === "\\") i++;
    else if (text[i] === quote) return i + 1;
    else if (text[i] === "\n" && quote !== "`") return at + 1;
  }
  return at + 1;
}

function endOf(text: string, mark: string, from: number): number {
  const end = text.indexOf(mark, from + 2);
  return end === -1 ? text.length : end + mark.length;
}

function lineEnd(text: string, from: number): number {
  const end = text.indexOf("\n", from);
  return end === -1 ? text.length : end;
}

function each(names: string, family: Family): [string, Family][] {
  return names.split(" ").map((name) => [name, family]);
}
