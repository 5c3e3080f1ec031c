/**
 * Find in this conversation: over all of it, whatever is loaded. The server looks through the blocks that it keeps; what
 * is being written right now is looked through here besides. Enter goes to the next block that has it, wherever it is.
 */
import { type BlockId, isProblem, limits, type View } from "@blockyard/kernel";
import { type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import { isComposing } from "../composing.ts";
import { Icon } from "../icons.tsx";
import { isFinding, isFollowing } from "../page-state.ts";
import { useOrder, useSession } from "../session.tsx";
import { sought } from "./sought.ts";

const PAUSE_MS = 120;
const MIN_CHARS = 2;

interface Found {
  /** What was asked for; another question has no answer yet. */
  readonly words: string;
  /** Oldest first. */
  readonly blocks: readonly BlockId[];
  readonly more: boolean;
  readonly failure?: string;
}

const NOTHING: Found = { words: "", blocks: [], more: false };

export function Find({ view }: { view: View }): ReactNode {
  const [query, setQuery] = useState("");
  const [now, setNow] = useState<BlockId | undefined>(undefined);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  const words = query.trim();
  const found = useFound(view, words);
  const order = useOrder(view);
  // biome-ignore lint/correctness/useExhaustiveDependencies: order stands for the blocks that the view has
  const hits = useMemo(() => hitsIn(view, found, words), [view, order, found, words]);
  const at = now === undefined ? -1 : hits.indexOf(now);
  const close = () => isFinding.set(false);
  const step = (by: number) => {
    if (hits.length === 0) return;
    const first = by > 0 ? 0 : hits.length - 1;
    const next = hits[at === -1 ? first : (at + by + hits.length) % hits.length] as BlockId;
    setNow(next);
    isFollowing.set(false);
    sought.set(next);
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
        {tellHits(words, found, hits.length, at)}
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

function tellHits(words: string, found: Found, count: number, at: number): string {
  if (words.length < MIN_CHARS) return "";
  if (found.failure !== undefined) return found.failure;
  if (count === 0) return found.words === words ? "nothing" : "searching…";
  return `${at === -1 ? "–" : at + 1} of ${count}${found.more ? " or more" : ""}`;
}

/** What the server finds, asked when the reader stops typing, and again when blocks have come. */
function useFound(view: View, words: string): Found {
  const session = useSession();
  const [found, setFound] = useState(NOTHING);
  const last = useOrder(view).at(-1);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a block that has come may have it too
  useEffect(() => {
    if (words.length < MIN_CHARS) return setFound(NOTHING);
    let isOld = false;
    const timer = setTimeout(async () => {
      const answer = await session.ask("kernel.search", {
        query: words,
        literal: true,
        ignore_case: true,
        kinds: "all",
        conversation: view.conversation,
        context_lines: 0,
        max_matches_per_block: 1,
        max_blocks: limits.searchBlocks,
      });
      if (isOld) return;
      if (isProblem(answer)) return setFound({ ...NOTHING, words, failure: answer.message });
      const { blocks, more } = answer as unknown as { blocks: { block_id: BlockId }[]; more: boolean };
      setFound({ words, blocks: blocks.map(({ block_id }) => block_id).reverse(), more });
    }, PAUSE_MS);
    return () => {
      isOld = true;
      clearTimeout(timer);
    };
  }, [session, view, words, last]);
  return found;
}

/** All blocks that have the words, oldest first: those that are not here come before those that are. */
function hitsIn(view: View, found: Found, words: string): readonly BlockId[] {
  if (words.length < MIN_CHARS) return [];
  const wanted = words.toLowerCase();
  const asked = found.words === words ? found.blocks : [];
  const known = new Set(asked);
  const isRunning = (id: BlockId) => view.blocks.get(id)?.status === "running";
  const has = (id: BlockId) => view.texts.get(id)?.toString().toLowerCase().includes(wanted) ?? false;
  const older = asked.filter((id) => !view.blocks.has(id));
  return [...older, ...view.order.filter((id) => known.has(id) || (isRunning(id) && has(id)))];
}
