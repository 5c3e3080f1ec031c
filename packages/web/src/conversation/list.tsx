/**
 * The list of rows: only those near the screen are in the document, and what is on the screen does not move because of
 * what happens above or below it. It follows the end while the reader is there, and stops when the reader scrolls up.
 */

import { askOf, type BlockId, limits, type View } from "@blockyard/kernel";
import {
  memo,
  type ReactNode,
  useCallback,
  useEffect,
  useLayoutEffect,
  useReducer,
  useRef,
  useState,
} from "react";
import { rowOrder } from "../actions/shortcuts.ts";
import { isLateAsk } from "../rows/late-asks.ts";
import { idsOf, type Row } from "../rows/rows.ts";
import { reveal, seek, sought } from "../rows/sought.ts";
import { useCell } from "../state/cell.ts";
import { isElsewhere, navigated } from "../state/elsewhere.ts";
import { focused, isEndShown, isFollowing } from "../state/page-state.ts";
import { useSession, useViewState } from "../state/session.tsx";
import { Icon } from "../ui/icons.tsx";
import { RowView } from "./block-row.tsx";
import { guessedPx } from "./guess.ts";
import { AHEAD_SCREENS, PAGE_BLOCKS } from "./limits.ts";
import { NeedsYou } from "./needs-you.tsx";
import { usePlace } from "./place.ts";
import { PrintedRows, usePrinted } from "./printed.tsx";
import { useHolds, useReaderScrolls } from "./reader-hand.ts";
import { Stage } from "./stage.ts";
import type { Strip } from "./strip.ts";

/** Closer to the end than this counts as being there. */
const END_PX = 24;
/** The area above the first row; always there, so that nothing moves when it is empty. */
const HEAD_PX = 36;
/** A row that was navigated to is shown this far below the top. */
const TARGET_PX = 80;

interface ListProps {
  readonly view: View;
  readonly rows: readonly Row[];
  /** The row in the page's address. */
  readonly target: BlockId | undefined;
}

/** Memoized: what streams changes the conversation's record with every frame, and none of the rows. */
export const BlockList = memo(function BlockList({ view, rows, target }: ListProps): ReactNode {
  const { more } = useViewState(view);
  const page = usePaging(view);
  const scroller = useRef<HTMLDivElement>(null);
  const sizer = useRef<HTMLDivElement>(null);
  const head = useRef<HTMLDivElement>(null);
  const frame = useRef<HTMLDivElement>(null);
  const following = useCell(isFollowing);
  const stage = useStage(view, scroller, page);
  const { from, to } = stage.take(rows);
  const printed = usePrinted(rows, { from, to });
  const isAllPrinted = printed?.from === 0 && printed.to === rows.length && !more;
  const isGoing = usePlace(view, stage, rows, page, target);

  useLayoutEffect(() => {
    const [box, outer, first, inner] = [scroller.current, sizer.current, head.current, frame.current];
    if (!box || !outer || !first || !inner) return;
    return stage.attach({ scroller: box, sizer: outer, head: first, frame: inner });
  }, [stage]);
  useLayoutEffect(() => stage.drew());
  useLayoutEffect(() => {
    rowOrder.ids = rows.flatMap((row) => focusName(row) ?? []);
  }, [rows]);
  useReaderScrolls(scroller);
  useHolds(stage, scroller);
  const isFetching = useSought(view, stage, rows, target, page);
  useFocusedRow(stage, rows, target);
  // biome-ignore lint/correctness/useExhaustiveDependencies: rows that have come may still be too few
  useEffect(() => pageIfNear(stage.strip, page), [stage, page, rows]);

  return (
    <div className="list-frame">
      <div
        className="list"
        ref={scroller}
        role="log"
        aria-live="off"
        aria-label="Blocks"
        data-going={isGoing || undefined}
        data-all-printed={isAllPrinted || undefined}
      >
        <div className="list-sizer" ref={sizer}>
          <div className="list-start" ref={head}>
            {more && "Loading older blocks…"}
          </div>
          {printed && <PrintedRows rows={rows.slice(printed.from, from)} />}
          <div className="list-rows" ref={frame}>
            {rows.slice(from, to).map((row) => (
              <Slot key={row.key} row={row} stage={stage} />
            ))}
          </div>
          {printed && <PrintedRows rows={rows.slice(to, printed.to)} />}
        </div>
      </div>
      {isFetching && (
        <p className="list-fetching" role="status">
          <span className="spinner" /> Loading older blocks…
        </p>
      )}
      {!following && <ToEnd stage={stage} rows={rows} />}
      <NeedsYou view={view} />
    </div>
  );
});

/** The way back to the end, with the number of new rows since the user last saw it. */
function ToEnd({ stage, rows }: { stage: Stage<Row>; rows: readonly Row[] }): ReactNode {
  const isShown = useCell(isEndShown);
  const last = useRef(rows.at(-1)?.key);
  const at = rows.findLastIndex((row) => row.key === last.current);
  const count = at === -1 ? 0 : rows.length - 1 - at;
  // Behind the stage, which says whether the end is still on the screen: who sees it has seen what came.
  // biome-ignore lint/correctness/useExhaustiveDependencies: rows that have come may have moved the end
  useEffect(() => {
    if (isEndShown.get()) last.current = rows.at(-1)?.key;
  }, [isShown, rows]);
  if (isShown) return null;
  const go = () => {
    isFollowing.set(true);
    stage.toEnd();
  };
  return (
    <button type="button" className={count > 0 ? "to-end has-new" : "to-end"} onClick={go}>
      <Icon name="down" />{" "}
      <span className="to-end-words" aria-live="polite">
        {count > 0 ? `${count} new below` : "Jump to latest"}
      </span>
    </button>
  );
}

/** A row's box, whose height is the row's. */
function Slot({ row, stage }: { row: Row; stage: Stage<Row> }): ReactNode {
  const box = useRef<HTMLDivElement>(null);
  const { key } = row;
  useLayoutEffect(() => {
    stage.slot(key, box.current);
    return () => stage.slot(key, null);
  }, [stage, key]);
  return (
    <div className="list-row" ref={box} data-key={key}>
      <RowView row={row} />
    </div>
  );
}

function useStage(view: View, scroller: { current: HTMLDivElement | null }, page: Paging): Stage<Row> {
  const [, draw] = useReducer((count: number) => count + 1, 0);
  const onLook = (strip: Strip<Row>, scrolledPx: number): void => {
    const box = scroller.current;
    if (!box) return;
    // At the very end a lower scroll position is not the user's doing: the content has become shorter.
    if (scrolledPx < 0 && !isNearEnd(box, 1)) isFollowing.set(false);
    else if (scrolledPx > 0 && isNearEnd(box, END_PX)) isFollowing.set(true);
    pageIfNear(strip, page);
  };
  const [stage] = useState(() => {
    const options = {
      headPx: HEAD_PX,
      estimate: (row: Row) => guessedPx(row, view.blocks),
      isFollowing: isFollowing.get,
      reservePx: (strip: Strip<Row>) => reservePx(view, strip),
      onLook,
      onEnd: (isShown: boolean) => isEndShown.set(isShown),
    };
    return new Stage(options, draw);
  });
  return stage;
}

/** The estimated room for unloaded blocks, based on the loaded ones. */
function reservePx(view: View, strip: Strip<Row>): number {
  const here = view.order.length;
  if (!view.more || here === 0) return 0;
  const missing = Math.max(0, (view.record?.blocks ?? here) - here);
  return (missing * (strip.end - strip.start)) / here;
}

function pageIfNear(strip: Strip<Row>, page: Paging): void {
  const { top, height } = strip.window;
  if (height > 0 && top - strip.start < AHEAD_SCREENS * height) void page(PAGE_BLOCKS);
}

type Paging = (blocks: number) => Promise<void>;

/** Fetches older blocks, one page at a time. */
function usePaging(view: View): Paging {
  const session = useSession();
  const isPaging = useRef(false);
  return useCallback(
    async (blocks) => {
      if (isPaging.current || !view.more) return;
      isPaging.current = true;
      await session.replica.page(view, blocks);
      isPaging.current = false;
    },
    [session, view],
  );
}

/** Scrolls to the target block: its row, or its parent's. Returns whether older blocks are being fetched for it. */
function useSought(
  view: View,
  stage: Stage<Row>,
  rows: readonly Row[],
  target: BlockId | undefined,
  page: Paging,
): boolean {
  const wanted = useCell(sought);
  const id = wanted?.block;
  useEffect(() => (target === undefined ? sought.set(undefined) : seek(target)), [target]);
  useEffect(() => {
    if (id !== undefined && id !== target) navigated();
  }, [id, target]);
  useEffect(() => {
    if (wanted === undefined) return;
    const id = wanted.block;
    isFollowing.set(false);
    if (!view.blocks.has(id) && view.more) {
      void page(limits.pageBlocks);
      return;
    }
    if (reveal(view, wanted)) return; // the rows are rebuilt, with it among them
    sought.set(undefined);
    const row = rowOf(view, rows, id);
    if (row === undefined) return;
    if (!isElsewhere()) focused.set(focusName(rows[row] as Row));
    // After this effect: what is drawn for it is drawn at once.
    queueMicrotask(() => stage.show(row, TARGET_PX));
  }, [view, stage, rows, wanted, page]);
  return id !== undefined && view.more && !view.blocks.has(id);
}

function rowOf(view: View, rows: readonly Row[], target: BlockId): number | undefined {
  const places = new Map<BlockId, number>();
  rows.forEach((row, i) => {
    for (const id of idsOf(row)) places.set(id, i);
    // A user who goes to an ask wants to answer it.
    if (row.type === "ask" && isAsked(view, row.id)) places.set(row.id, i);
  });
  for (let id: BlockId | null | undefined = target; id; id = view.blocks.get(id)?.parent) {
    const at = places.get(id);
    if (at !== undefined) return at;
  }
  return undefined;
}

function isAsked(view: View, call: BlockId): boolean {
  const block = view.blocks.get(call);
  return block !== undefined && (askOf(block.metadata)?.state === "asked" || isLateAsk(view, block));
}

/** The target of keys: a block, or several in one row. */
function focusName(row: Row): string | undefined {
  if (row.type === "block") return row.id;
  return row.type === "gathered" || row.type === "pruned" ? row.key : undefined;
}

/** The row that has the focus of one that is gone: blocks that were gathered or excluded since, or are separate again. */
function heirOf(rows: readonly Row[], gone: string): Row | undefined {
  const first = gone.replace(/^(pruned|quiet):/, "");
  return rows.find((row) =>
    row.type === "gathered" || row.type === "pruned" ? row.ids.includes(first) : focusName(row) === first,
  );
}

/**
 * The focused block is scrolled into view and gets the browser's focus; not one that was focused before the list was
 * loaded, and that is not in the address.
 */
function useFocusedRow(stage: Stage<Row>, rows: readonly Row[], target: BlockId | undefined): void {
  const now = useCell(focused);
  const known = useRef(rows);
  known.current = rows;
  const before = useRef(target === undefined ? now : undefined);
  useEffect(() => {
    if (now === undefined || rows.some((row) => focusName(row) === now)) return;
    const heir = heirOf(rows, now);
    if (heir && document.activeElement === document.body) focused.set(focusName(heir));
  }, [rows, now]);
  useEffect(() => {
    if (now === before.current) return;
    before.current = undefined;
    if (now === undefined) return;
    const present = document.querySelector<HTMLElement>(`article[data-row="${CSS.escape(now)}"]`);
    if (present?.contains(document.activeElement)) return;
    const index = known.current.findIndex((row) => focusName(row) === now);
    if (index === -1) return;
    queueMicrotask(() => stage.show(index, "nearest"));
    // A user who is searching keeps typing.
    if (document.activeElement?.closest(".find")) return;
    const was = document.activeElement;
    const frame = requestAnimationFrame(() => {
      if (document.activeElement !== was && isElsewhere()) return;
      document
        .querySelector<HTMLElement>(`article[data-row="${CSS.escape(now)}"]`)
        ?.focus({ preventScroll: true });
    });
    // A user who moves on before the frame does not come back to this one.
    return () => cancelAnimationFrame(frame);
  }, [stage, now]);
}

function isNearEnd(box: HTMLElement, px: number): boolean {
  return box.scrollHeight - box.scrollTop - box.clientHeight < px;
}
