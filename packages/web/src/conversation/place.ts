/**
 * The reader's place: a reader who comes back to a conversation finds it as they left it, within the life of the page.
 * A place is the blocks that were on the screen and their distance from its top; a reader who was at the end has none,
 * and comes back to the end.
 *
 * Nothing is shown before the place is restored: older blocks are fetched for it, and nobody sees the list scroll
 * there.
 */

import { type BlockId, type ConversationId, limits, parseBlockId, type View } from "@blockyard/kernel";
import { useLayoutEffect, useRef, useState } from "react";
import { flushSync } from "react-dom";
import { idsOf, type Row } from "../rows/rows.ts";
import { isFollowing } from "../state/page-state.ts";
import { KEPT_PLACES, PATIENCE_MS } from "./limits.ts";
import type { Stage } from "./stage.ts";
import type { Strip } from "./strip.ts";

interface Seen {
  readonly id: BlockId;
  readonly fromTopPx: number;
}

const places = new Map<ConversationId, readonly Seen[]>();

/** Goes where the reader was, and remembers where the reader is. Whether the list is still on its way. */
export function usePlace(
  view: View,
  stage: Stage<Row>,
  rows: readonly Row[],
  page: (blocks: number) => Promise<void>,
  target: BlockId | undefined,
): boolean {
  // What the address points at is wanted more than what was there before.
  const [place] = useState(() => (target === undefined ? places.get(view.conversation) : undefined));
  const [isGoing, setGoing] = useState(place !== undefined);
  const isThere = useRef(place === undefined);
  useLayoutEffect(() => {
    isFollowing.set(place === undefined);
    return () => {
      if (isThere.current) keep(view.conversation, stage.strip);
    };
  }, [view, stage, place]);
  useLayoutEffect(() => {
    if (!isGoing || place === undefined) return;
    const arrive = (go: () => void) => {
      isThere.current = true;
      go();
      flushSync(() => setGoing(false));
    };
    const toEnd = () => {
      isFollowing.set(true);
      stage.toEnd();
    };
    const { row, fromTopPx } = find(place, rows);
    // Behind this effect: what is drawn for it is drawn at once.
    if (row !== -1) return queueMicrotask(() => arrive(() => stage.show(row, fromTopPx)));
    if (!view.more || !isOlder(view, place)) return queueMicrotask(() => arrive(toEnd));
    void page(limits.pageBlocks);
    const timer = setTimeout(() => arrive(toEnd), PATIENCE_MS);
    return () => clearTimeout(timer);
  }, [view, stage, rows, page, place, isGoing]);
  return isGoing;
}

function keep(conversation: ConversationId, strip: Strip<Row>): void {
  places.delete(conversation);
  if (isFollowing.get()) return;
  const { from, to } = strip.range(0);
  const seen: Seen[] = [];
  strip.rows.slice(from, to).forEach((row, i) => {
    const [id] = idsOf(row);
    if (id !== undefined) seen.push({ id, fromTopPx: strip.topOf(from + i) - strip.window.top });
  });
  places.set(conversation, seen);
  const [oldest] = places.keys();
  if (places.size > KEPT_PLACES && oldest !== undefined) places.delete(oldest);
}

/** The first of them that is still a row: others may have been pruned or hidden meanwhile. */
function find(place: readonly Seen[], rows: readonly Row[]): { row: number; fromTopPx: number } {
  const indexes = new Map<BlockId, number>();
  rows.forEach((row, i) => {
    for (const id of idsOf(row)) indexes.set(id, i);
  });
  const seen = place.find(({ id }) => indexes.has(id));
  return { row: indexes.get(seen?.id ?? "-") ?? -1, fromTopPx: seen?.fromTopPx ?? 0 };
}

/** Whether the place is among the blocks that are not here yet. */
function isOlder(view: View, place: readonly Seen[]): boolean {
  const first = view.blocks.get(view.order[0] ?? "")?.born ?? 0;
  return place.some(({ id }) => (parseBlockId(id)?.seq ?? first) < first);
}
