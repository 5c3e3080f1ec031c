/**
 * Citations as they are shown: sources with numbers, each once however often it is cited, and the numbers behind the
 * passages that lean on them. One rule for the page and for exports.
 */

import type { Metadata } from "../model/metadata.ts";

type Citation = NonNullable<Metadata<"text">["citations"]>[number];

export interface Source {
  /** From 1. */
  readonly number: number;
  readonly url: string;
  readonly title: string | undefined;
  /** The cited passages, each once. */
  readonly snippets: readonly string[];
}

/** In the order in which they are first cited. */
export function sourcesOf(citations: readonly Citation[]): readonly Source[] {
  const sources = new Map<string, { title: string | undefined; snippets: Set<string> }>();
  for (const { url, title, snippet } of citations) {
    const source = sources.get(url) ?? { title: undefined, snippets: new Set() };
    source.title ??= title || undefined;
    if (snippet !== undefined && snippet.trim() !== "") source.snippets.add(snippet);
    sources.set(url, source);
  }
  return [...sources].map(([url, { title, snippets }], i) => ({
    number: i + 1,
    url,
    title,
    snippets: [...snippets],
  }));
}

/**
 * Markdown with source numbers after each cited passage. Only for text that nobody has edited: positions are counted in
 * characters.
 */
export function citedMarkdown(text: string, citations: readonly Citation[]): string {
  const numbers = new Map(sourcesOf(citations).map(({ url, number }) => [url, number]));
  const places = new Map<number, Set<number>>();
  for (const { url, start, end } of citations) {
    const number = numbers.get(url);
    if (number === undefined || end === undefined || end > text.length) continue;
    const at = start === undefined ? end : behindLastWord(text, start, end);
    places.set(at, (places.get(at) ?? new Set()).add(number));
  }
  let marked = "";
  let from = 0;
  for (const [at, cited] of [...places].sort(([a], [b]) => a - b)) {
    marked += `${text.slice(from, at)}${[...cited]
      .sort((a, b) => a - b)
      .map((number) => `\\[${number}]`)
      .join("")}`;
    from = at;
  }
  return marked + text.slice(from);
}

/** A passage may end with the line break after it. */
function behindLastWord(text: string, start: number, end: number): number {
  const passage = text.slice(start, end).trimEnd();
  return passage === "" ? end : start + passage.length;
}
