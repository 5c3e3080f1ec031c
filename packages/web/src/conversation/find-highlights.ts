/**
 * The matches of a search, marked where they are drawn: ranges of the document, without an element of their own, so that nothing
 * moves and no renderer knows of it. What is drawn later is marked when it comes. Where the browser has no such highlights, nothing
 * is marked and everything else works.
 */

import type { BlockId } from "@blockyard/kernel";
import { HIGHLIGHTED_RANGES } from "./limits.ts";

/** The match that the reader is at: the n-th of its block, counted in the block's text. */
export interface Current {
  readonly block: BlockId;
  readonly nth: number;
}

const ALL = "find";
const CURRENT = "find-current";

/** Marks until the answer is called. */
export function markMatches(list: Element, words: string, current: Current | undefined): () => void {
  if (!("highlights" in CSS) || words === "") return () => undefined;
  let frame = 0;
  let isShown = false;
  const paint = () => {
    frame = 0;
    const ranges: Range[] = [];
    const own: Range[] = [];
    const below: Range[] = [];
    for (const block of list.querySelectorAll<HTMLElement>("[data-block]")) {
      const found = rangesIn(block, words, HIGHLIGHTED_RANGES - ranges.length);
      ranges.push(...found);
      if (current && block.dataset["block"] === current.block) own.push(...found);
      else if (current && block.parentElement?.closest(`[data-block="${CSS.escape(current.block)}"]`))
        below.push(...found);
    }
    // A call's command is drawn with its result. The drawn text may have fewer than the source: a link's target is not shown.
    const drawn = own.length > 0 ? own : below;
    const at = drawn[Math.min(current?.nth ?? 0, drawn.length - 1)];
    CSS.highlights.set(ALL, new Highlight(...ranges));
    CSS.highlights.set(CURRENT, new Highlight(...(at ? [at] : [])));
    if (at && !isShown) isShown = show(list, at);
  };
  const later = () => {
    frame ||= requestAnimationFrame(paint);
  };
  const watcher = new MutationObserver(later);
  watcher.observe(list, { childList: true, subtree: true, characterData: true });
  later();
  return () => {
    watcher.disconnect();
    cancelAnimationFrame(frame);
    for (const name of [ALL, CURRENT]) CSS.highlights.delete(name);
  };
}

/** In the text of one block, across elements; text of blocks inside it belongs to those. */
function rangesIn(block: Element, words: string, most: number): Range[] {
  const nodes: Text[] = [];
  const starts: number[] = [];
  let text = "";
  const walker = document.createTreeWalker(block, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode() as Text | null; node; node = walker.nextNode() as Text | null) {
    if (node.parentElement?.closest("[data-block]") !== block) continue;
    nodes.push(node);
    starts.push(text.length);
    text += node.data;
  }
  const lower = text.toLowerCase();
  // Some letters get longer in lower case: then offsets would not be those of the text.
  const where = lower.length === text.length ? lower : text;
  const wanted = words.toLowerCase();
  const ranges: Range[] = [];
  let i = 0;
  for (
    let at = where.indexOf(wanted);
    at !== -1 && ranges.length < most;
    at = where.indexOf(wanted, at + wanted.length)
  ) {
    while (i + 1 < starts.length && (starts[i + 1] as number) <= at) i++;
    let last = i;
    const end = at + wanted.length;
    while (last + 1 < starts.length && (starts[last + 1] as number) < end) last++;
    const range = document.createRange();
    range.setStart(nodes[i] as Text, at - (starts[i] as number));
    range.setEnd(nodes[last] as Text, end - (starts[last] as number));
    ranges.push(range);
  }
  return ranges;
}

/** Brings a match that is off the list's window into its middle. */
function show(list: Element, range: Range): boolean {
  const match = range.getBoundingClientRect();
  if (match.height === 0) return false;
  const window = list.getBoundingClientRect();
  if (match.top < window.top || match.bottom > window.bottom)
    list.scrollBy({ top: match.top - (window.top + window.height / 2) });
  return true;
}
