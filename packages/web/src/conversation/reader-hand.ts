/**
 * The reader's actions on the list, beyond looking at it. Scrolling up stops following the end; so does expanding and
 * collapsing, and the control that was used stays where it is on the screen. It decides nothing about positions: the
 * stage does.
 */
import type { BlockId } from "@blockyard/kernel";
import { useEffect } from "react";
import type { Row } from "../rows/rows.ts";
import { listenBeforeAll } from "../state/disclosure.ts";
import { editing, inspected, isFollowing } from "../state/page-state.ts";
import type { Stage } from "./stage.ts";

/** Only the reader's own hand stops the following; what the list does by itself does not. */
export function useReaderScrolls(scroller: { current: HTMLDivElement | null }): void {
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

/** What opens and closes something, here or beside the list. */
const DISCLOSES = "[aria-expanded], summary, [data-discloses]";

/** Opening and closing moves nothing: who does it stops following the end, and what they pressed stays where it is. */
export function useHolds(stage: Stage<Row>, scroller: { current: HTMLDivElement | null }): void {
  useEffect(() => {
    const box = scroller.current;
    if (!box) return;
    const hold = (element: Element | null | undefined) => {
      if (!element) return;
      isFollowing.set(false);
      stage.hold(element);
    };
    const onClick = ({ target, isTrusted }: Event) => {
      const pressed = (target as Element).closest(DISCLOSES);
      // A key that opens all that a row has presses several of them: the row stays.
      hold(isTrusted ? (pressed?.closest("[data-hold]") ?? pressed) : pressed?.closest("article"));
    };
    const rowOf = (id: BlockId | undefined) => box.querySelector(`[data-block="${CSS.escape(id ?? "")}"]`);
    // What is opened beside the list makes it narrower; what is edited has another height.
    const stops = [inspected, editing].map((cell) => {
      let before = cell.get();
      return cell.listen(() => {
        hold(rowOf(cell.get() ?? before));
        before = cell.get();
      });
    });
    stops.push(listenBeforeAll(() => hold(firstWhole(box))));
    box.addEventListener("click", onClick, { capture: true });
    return () => {
      box.removeEventListener("click", onClick, { capture: true });
      for (const stop of stops) stop();
    };
  }, [stage, scroller]);
}

/** The first row whose beginning is on the screen. */
function firstWhole(box: HTMLElement): HTMLElement | undefined {
  const { top, bottom } = box.getBoundingClientRect();
  return [...box.querySelectorAll<HTMLElement>(".list-row")].find((row) => {
    const at = row.getBoundingClientRect().top;
    return at >= top && at < bottom;
  });
}
