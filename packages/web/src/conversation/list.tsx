/**
 * The list of rows: only those near the screen are in the document, and what is on the screen does not move because of
 * what happens above or below it. It follows the end while the reader is there, and stops when the reader scrolls up.
 */
import type { BlockId, View } from "@blockyard/kernel";
import { type ReactNode, useCallback, useEffect, useLayoutEffect, useRef } from "react";
import { Virtualizer, type VirtualizerHandle } from "virtua";
import { useCell } from "../cell.ts";
import { Icon } from "../icons.tsx";
import { focused, isFollowing } from "../page-state.ts";
import { useSession, useViewState } from "../session.tsx";
import { rowOrder } from "../shortcuts.ts";
import { RowView } from "./block-row.tsx";
import type { Row } from "./rows.ts";

/** Closer to the end than this counts as being there. */
const END_PX = 24;
/** Older blocks are fetched when the reader is this near to the beginning. */
const NEAR_START_PX = 1_200;
const PAGE_BLOCKS = 60;
/** What stands above the first row; always there, so that nothing moves when it has nothing more to say. */
const START_PX = 36;

interface ListProps {
  readonly view: View;
  readonly rows: readonly Row[];
  /** The row that was asked for by the page's address. */
  readonly target: BlockId | undefined;
}

export function BlockList({ view, rows, target }: ListProps): ReactNode {
  const session = useSession();
  const { more } = useViewState(view);
  const scroller = useRef<HTMLDivElement>(null);
  const list = useRef<VirtualizerHandle>(null);
  const isPaging = useRef(false);
  const last = useRef({ top: 0, height: 0 });
  const following = useCell(isFollowing);
  const isPrepend = usePrepend(rows);

  const toEnd = useCallback(() => {
    const box = scroller.current;
    if (box) box.scrollTop = box.scrollHeight;
  }, []);

  const page = useCallback(async () => {
    if (isPaging.current || !view.more) return;
    isPaging.current = true;
    await session.replica.page(view, PAGE_BLOCKS);
    isPaging.current = false;
  }, [session, view]);

  const onScroll = useCallback(
    (offset: number) => {
      const box = scroller.current;
      if (!box) return;
      const before = last.current;
      last.current = { top: box.scrollTop, height: box.scrollHeight };
      if (isNearEnd(box)) isFollowing.set(true);
      else if (box.scrollTop < before.top - 2 && box.scrollHeight >= before.height) isFollowing.set(false);
      if (offset < NEAR_START_PX) void page();
    },
    [page],
  );

  useLayoutEffect(() => {
    rowOrder.ids = rows.flatMap((row) => (row.type === "block" ? [row.id] : []));
  }, [rows]);
  useFollow(scroller, toEnd);
  useReaderScrolls(scroller);
  useTarget(view, list, rows, target, page);
  useFocusedRow(list, rows);

  // biome-ignore lint/correctness/useExhaustiveDependencies: a conversation that does not fill the screen pages at once
  useEffect(() => {
    const box = scroller.current;
    if (more && box && box.scrollHeight <= box.clientHeight + NEAR_START_PX) void page();
  }, [more, rows.length, page]);

  return (
    <div className="list-frame">
      <div className="list" ref={scroller} role="log" aria-live="off" aria-label="Blocks">
        <div className="list-start">{more && "Loading older blocks…"}</div>
        <Virtualizer
          ref={list}
          scrollRef={scroller}
          data={rows}
          shift={isPrepend}
          startMargin={START_PX}
          bufferSize={600}
          onScroll={onScroll}
          item={RowBox}
        >
          {(row) => <RowView key={row.key} row={row} />}
        </Virtualizer>
      </div>
      {!following && (
        <button
          type="button"
          className="to-end"
          onClick={() => {
            isFollowing.set(true);
            toEnd();
          }}
        >
          <Icon name="down" /> <NewBelow rows={rows} />
        </button>
      )}
    </div>
  );
}

const RowBox = "div";

/** How much has come since the reader left the end. */
function NewBelow({ rows }: { rows: readonly Row[] }): ReactNode {
  const last = useRef(rows.at(-1)?.key);
  const at = rows.findLastIndex((row) => row.key === last.current);
  const count = at === -1 ? 0 : rows.length - 1 - at;
  return <span aria-live="polite">{count > 0 ? `${count} new below` : "To the end"}</span>;
}

/** Whether rows were put in front since the last render: then the list keeps its distance from the end instead. */
function usePrepend(rows: readonly Row[]): boolean {
  const before = useRef<{ first: string | undefined; length: number }>({ first: undefined, length: 0 });
  const first = rows[0]?.key;
  const isPrepend =
    before.current.first !== undefined &&
    first !== before.current.first &&
    rows.length > before.current.length &&
    rows.some((row) => row.key === before.current.first);
  useLayoutEffect(() => {
    before.current = { first, length: rows.length };
  });
  return isPrepend;
}

/** Keeps the end in view while the list grows, before anything is painted. */
function useFollow(scroller: { current: HTMLDivElement | null }, toEnd: () => void): void {
  useLayoutEffect(() => {
    const box = scroller.current;
    if (!box) return;
    const observer = new ResizeObserver(() => {
      if (isFollowing.get()) toEnd();
    });
    for (const child of box.children) observer.observe(child);
    observer.observe(box);
    toEnd();
    return () => observer.disconnect();
  }, [scroller, toEnd]);
}

/** Only the reader's own hand stops the following; what the list does by itself does not. */
function useReaderScrolls(scroller: { current: HTMLDivElement | null }): void {
  useEffect(() => {
    const box = scroller.current;
    if (!box) return;
    let touchY = 0;
    const leave = () => {
      if (box.scrollHeight > box.clientHeight) isFollowing.set(false);
    };
    const onWheel = (event: WheelEvent) => {
      if (event.deltaY < 0 && box.scrollTop > 0) leave();
    };
    const onTouchStart = (event: TouchEvent) => {
      touchY = event.touches[0]?.clientY ?? 0;
    };
    const onTouchMove = (event: TouchEvent) => {
      if ((event.touches[0]?.clientY ?? 0) > touchY + 4) leave();
    };
    const onKey = (event: KeyboardEvent) => {
      if (["PageUp", "Home", "ArrowUp"].includes(event.key)) leave();
    };
    const onPointer = (event: PointerEvent) => {
      const isScrollbar = event.target === box && event.offsetX > box.clientWidth;
      if (isScrollbar) leave();
    };
    box.addEventListener("wheel", onWheel, { passive: true });
    box.addEventListener("touchstart", onTouchStart, { passive: true });
    box.addEventListener("touchmove", onTouchMove, { passive: true });
    box.addEventListener("keydown", onKey);
    box.addEventListener("pointerdown", onPointer);
    return () => {
      box.removeEventListener("wheel", onWheel);
      box.removeEventListener("touchstart", onTouchStart);
      box.removeEventListener("touchmove", onTouchMove);
      box.removeEventListener("keydown", onKey);
      box.removeEventListener("pointerdown", onPointer);
    };
  }, [scroller]);
}

/** Shows the block that the address names: its row, or the row that it hangs off; older blocks are fetched for it. */
function useTarget(
  view: View,
  list: { current: VirtualizerHandle | null },
  rows: readonly Row[],
  target: BlockId | undefined,
  page: () => Promise<void>,
): void {
  const shown = useRef<BlockId | undefined>(undefined);
  useEffect(() => {
    if (target === undefined || shown.current === target) return;
    isFollowing.set(false);
    const row = rowOf(view, rows, target);
    if (row === undefined) {
      if (!view.blocks.has(target) && view.more) void page();
      return;
    }
    shown.current = target;
    focused.set((rows[row] as Row & { type: "block" }).id);
    list.current?.scrollToIndex(row, { align: "start", offset: -80 });
  }, [view, list, rows, target, page]);
}

function rowOf(view: View, rows: readonly Row[], target: BlockId): number | undefined {
  const places = new Map(rows.map((row, i) => [row.type === "block" ? row.id : "", i]));
  for (let id: BlockId | null | undefined = target; id; id = view.blocks.get(id)?.parent) {
    const at = places.get(id);
    if (at !== undefined) return at;
  }
  return undefined;
}

/** The focused block is brought into view and gets the browser's focus. */
function useFocusedRow(list: { current: VirtualizerHandle | null }, rows: readonly Row[]): void {
  const now = useCell(focused);
  const known = useRef(rows);
  known.current = rows;
  useEffect(() => {
    if (now === undefined) return;
    const present = document.querySelector<HTMLElement>(`article[data-block="${CSS.escape(now)}"]`);
    if (present?.contains(document.activeElement)) return;
    const index = known.current.findIndex((row) => row.type === "block" && row.id === now);
    if (index === -1) return;
    list.current?.scrollToIndex(index, { align: "nearest" });
    requestAnimationFrame(() =>
      document
        .querySelector<HTMLElement>(`article[data-block="${CSS.escape(now)}"]`)
        ?.focus({ preventScroll: true }),
    );
  }, [list, now]);
}

function isNearEnd(box: HTMLElement): boolean {
  return box.scrollHeight - box.scrollTop - box.clientHeight < END_PX;
}
