/**
 * Find in this conversation: over all of it, whatever is loaded. The server looks through the blocks that it keeps; what
 * is being written right now is looked through here besides, and so are the names of tools, which are no text of any block. All
 * matches are counted and marked; Enter goes to the next one, wherever it is.
 */

import {
  type Block,
  type BlockId,
  isProblem,
  limits,
  type Problem,
  toolTitle,
  type View,
} from "@blockyard/kernel";
import { type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import { seek } from "../rows/sought.ts";
import { focusPrompt } from "../state/invitation.ts";
import { isFinding, isFollowing } from "../state/page-state.ts";
import { type Session, useOrder, useSession, useViewPart } from "../state/session.tsx";
import { isComposing } from "../ui/composing.ts";
import { Icon } from "../ui/icons.tsx";
import { type Current, markMatches } from "./find-highlights.ts";
import {
  FIND_AGAIN_MS,
  FIND_COUNT_MS,
  FIND_MIN_CHARS,
  FIND_PAGES,
  FIND_PAUSE_MS,
  FIND_TRIES,
  MATCHES_PER_BLOCK,
} from "./limits.ts";

/** The title of commands, whose line shows their text alone. */
const COMMAND = toolTitle("bash", undefined);

/** A block that has the words, and how often. */
interface Hit {
  readonly id: BlockId;
  readonly count: number;
}

interface Found {
  /** The query; another one has no answer yet. */
  readonly words: string;
  /** The conversation's seq at that time; later changes are counted here. */
  readonly seq: number;
  /** Oldest first. */
  readonly blocks: readonly Hit[];
  readonly more: boolean;
  readonly failure?: string;
}

const NOTHING: Found = { words: "", seq: 0, blocks: [], more: false };

export function Find({ view }: { view: View }): ReactNode {
  const [query, setQuery] = useState("");
  const [now, setNow] = useState<Current | undefined>(undefined);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  const words = query.trim();
  const found = useFound(view, words);
  const order = useOrder(view);
  const seq = useSeq(view);
  // biome-ignore lint/correctness/useExhaustiveDependencies: order and seq stand for the blocks that the view has
  const { hits, more } = useMemo(() => hitsIn(view, found, words), [view, order, seq, found, words]);
  const count = hits.reduce((sum, hit) => sum + hit.count, 0);
  const at = placeOf(hits, now);
  useEffect(() => {
    const list = document.querySelector(".list");
    return list && words.length >= FIND_MIN_CHARS ? markMatches(list, words, now) : undefined;
  }, [words, now]);
  const close = () => {
    leaveFor(now?.block);
    isFinding.set(false);
  };
  const step = (by: number) => {
    if (count === 0) return;
    const first = by > 0 ? 0 : count - 1;
    const next = matchAt(hits, at === -1 ? first : (at + by + count) % count);
    setNow(next);
    isFollowing.set(false);
    if (next.block !== now?.block) seek(next.block, words);
  };
  return (
    <search className="find">
      <Icon name="search" />
      <input
        ref={field}
        aria-label="Find in this conversation"
        placeholder="Find in this conversation"
        value={query}
        onChange={(event) => {
          setQuery(event.target.value);
          setNow(undefined);
        }}
        onKeyDown={(event) => {
          if (isComposing(event.nativeEvent)) return;
          if (event.key === "Escape") close();
          if (event.key === "Enter") step(event.shiftKey ? -1 : 1);
        }}
      />
      <span className="dim" aria-live="polite">
        {tellHits(words, { ...found, more }, count, at)}
      </span>
      <button type="button" className="icon-button" aria-label="Previous" onClick={() => step(-1)}>
        <Icon name="chevron" className="up" />
      </button>
      <button type="button" className="icon-button" aria-label="Next" onClick={() => step(1)}>
        <Icon name="chevron" className="turned" />
      </button>
      <button type="button" className="icon-button" aria-label="Close" onClick={close}>
        <Icon name="cross" />
      </button>
    </search>
  );
}

/** After a match the focus is there; without one it stays in the field. */
function leaveFor(block: BlockId | undefined): void {
  const id = CSS.escape(block ?? "");
  const row = document.querySelector<HTMLElement>(`article[data-block="${id}"]`);
  if (row) row.focus({ preventScroll: true });
  else focusPrompt();
}

/** Its index among all matches, from 0; -1 if it is none of them. */
function placeOf(hits: readonly Hit[], now: Current | undefined): number {
  const block = hits.findIndex(({ id }) => id === now?.block);
  if (!now || block === -1) return -1;
  const before = hits.slice(0, block).reduce((sum, hit) => sum + hit.count, 0);
  return before + Math.min(now.nth, (hits[block] as Hit).count - 1);
}

function matchAt(hits: readonly Hit[], place: number): Current {
  let nth = place;
  for (const { id, count } of hits) {
    if (nth < count) return { block: id, nth };
    nth -= count;
  }
  throw new RangeError(`match ${place} is past the last one`);
}

function tellHits(words: string, found: Found, count: number, at: number): string {
  if (words.length < FIND_MIN_CHARS) return "";
  if (found.failure !== undefined) return found.failure;
  if (count === 0 && found.words === words) return found.more ? "No matches so far" : "No matches";
  if (count === 0) return "searching…";
  return `${at === -1 ? "–" : at + 1} of ${count}${found.more ? " or more" : ""}`;
}

/** The server's matches, requested when the user stops typing, and again when blocks have arrived. */
function useFound(view: View, words: string): Found {
  const session = useSession();
  const [found, setFound] = useState(NOTHING);
  const [isWhole, setWhole] = useState(false);
  const last = useOrder(view).at(-1);
  useEffect(() => {
    setWhole(false);
    if (words.length < FIND_MIN_CHARS) return setFound(NOTHING);
    return later(async (isOld) => {
      for await (const next of pages(session, view, words)) {
        if (isOld()) return;
        setFound(next);
      }
      if (!isOld()) setWhole(true);
    });
  }, [session, view, words]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a block that has come may have it too
  useEffect(() => {
    if (!isWhole) return;
    return later(async (isOld) => {
      const { value } = await pages(session, view, words).next();
      if (value && !isOld()) setFound((known) => withNewest(known, value));
    });
  }, [session, view, words, last, isWhole]);
  return found;
}

/** Runs when nothing has changed for a moment; the returned function cancels it. */
function later(run: (isOld: () => boolean) => Promise<void>): () => void {
  let isOld = false;
  const timer = setTimeout(() => void run(() => isOld), FIND_PAUSE_MS);
  return () => {
    isOld = true;
    clearTimeout(timer);
  };
}

/** The earlier matches, with the newest page of them updated. */
function withNewest(known: Found, newest: Found): Found {
  if (known.words !== newest.words || newest.failure !== undefined) return known;
  const now = new Set(newest.blocks.map(({ id }) => id));
  return {
    ...known,
    seq: newest.seq,
    blocks: [...known.blocks.filter(({ id }) => !now.has(id)), ...newest.blocks],
  };
}

/** The matches so far, page after page, the newest blocks first. */
async function* pages(session: Session, view: View, words: string): AsyncGenerator<Found> {
  const seq = seqOf(view);
  const older: Hit[][] = [];
  let isCut = false;
  let after: string | undefined;
  for (let page = 0; page < FIND_PAGES; page++) {
    const answer = await patiently(() => askPage(session, view, words, after));
    if (isProblem(answer)) return yield { ...NOTHING, words, seq, failure: answer.message };
    const { blocks, more, next } = answer;
    older.unshift(blocks.map(({ block_id, matches }) => ({ id: block_id, count: matches.length })).reverse());
    isCut ||= blocks.some((block) => block.more);
    yield { words, seq, blocks: older.flat(), more: more || isCut };
    // A page that ends where it began would be the same again.
    if (next === undefined || next === after) return;
    after = next;
  }
}

function askPage(session: Session, view: View, words: string, after: string | undefined) {
  return session.ask("kernel.search", {
    query: words,
    literal: true,
    ignore_case: true,
    kinds: "all",
    conversation: view.conversation,
    context_lines: 0,
    max_matches_per_block: MATCHES_PER_BLOCK,
    max_blocks: limits.searchBlocks,
    ...(after === undefined ? {} : { after }),
  });
}

/** A search that was not done in time is retried: a busy server says nothing about the words. */
async function patiently<T>(ask: () => Promise<T | Problem>): Promise<T | Problem> {
  for (let pause = FIND_AGAIN_MS, tries = 1; ; pause *= 2, tries++) {
    const answer = await ask();
    const isLate = isProblem(answer) && (answer.problem === "timeout" || answer.problem === "busy");
    if (!isLate || tries === FIND_TRIES) return answer;
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}

function seqOf(view: View): number {
  return view.since?.seq ?? 0;
}

/** The conversation's seq, reported now and then while it continues. */
function useSeq(view: View): number {
  const seq = useViewPart(view, seqOf);
  const latest = useRef(seq);
  latest.current = seq;
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const [told, setTold] = useState(seq);
  useEffect(() => {
    if (seq === told || timer.current !== undefined) return;
    timer.current = setTimeout(() => {
      timer.current = undefined;
      setTold(latest.current);
    }, FIND_COUNT_MS);
  }, [seq, told]);
  useEffect(
    () => () => {
      clearTimeout(timer.current);
      timer.current = undefined;
    },
    [],
  );
  return told;
}

/**
 * All blocks with the words, oldest first: unloaded ones come before loaded ones. `more`: there may be others, since
 * the names of unloaded calls are unknown.
 */
function hitsIn(
  view: View,
  found: Found,
  words: string,
): { readonly hits: readonly Hit[]; readonly more: boolean } {
  if (words.length < FIND_MIN_CHARS) return { hits: [], more: false };
  const wanted = words.toLowerCase();
  const asked = found.words === words ? found.blocks : [];
  const known = new Map(asked.map(({ id, count }) => [id, count]));
  const isNew = (id: BlockId) => {
    const block = view.blocks.get(id);
    return block !== undefined && (block.status === "running" || block.seq > found.seq);
  };
  const times = (id: BlockId) => {
    const text = view.texts.get(id)?.toString().toLowerCase();
    return text && Math.min(MATCHES_PER_BLOCK, text.split(wanted).length - 1);
  };
  const inText = (id: BlockId) => (isNew(id) && times(id)) || (known.get(id) ?? 0);
  const named = new Set(view.order.filter((id) => isNamed(view.blocks.get(id), wanted)));
  const older = asked.filter(({ id }) => !view.blocks.has(id));
  const here = view.order.map((id) => ({ id, count: inText(id) + (named.has(id) ? 1 : 0) }));
  return {
    hits: [...older, ...here.filter(({ count }) => count > 0)],
    more: found.more || (view.more && named.size > 0),
  };
}

/** A call is found by what its tool is called here, and by what its provider calls it. Commands are not called anything here. */
function isNamed(block: Block | undefined, wanted: string): boolean {
  if (block?.kind !== "tool_call") return false;
  const { toolName = "", displayName } = block.metadata;
  const title = toolTitle(toolName, displayName);
  return [toolName, title === COMMAND ? "" : title].some((name) => name.toLowerCase().includes(wanted));
}
