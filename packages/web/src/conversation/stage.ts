/**
 * The stage: puts the strip on the screen. It measures the rows that are drawn, before anybody sees them, writes where
 * they lie, and says which rows are to be drawn. Rows lie one below the other in one box (`frame`); only the place of that
 * box is set, so text that grows in the last row moves nothing by script.
 *
 * The reader's place (`scrollTop`) is set in four cases alone: the end is followed; a row is gone to; what the reader holds
 * (has just opened or closed) would move; or the beginning of the strip is put right, which happens when nobody scrolls, or
 * when the reader comes to where there is nothing.
 */

import { flushSync } from "react-dom";
import { REFLOW_MS, SCROLL_QUIET_MS } from "./limits.ts";
import { type Keyed, type Range, Strip } from "./strip.ts";

/** Rows are drawn this far beyond the screen, and drawn anew when fewer than `KEPT_PX` are left. */
const BEYOND_PX = 1_200;
const KEPT_PX = 500;
/** While the end is followed, so much of the window may stay empty below it where something became shorter. */
const ROOM_SHARE = 0.5;
/** A browser's boxes end at about 33 million pixels. */
const MAX_RESERVE_PX = 12_000_000;

interface StageOptions<Row extends Keyed> {
  /** What stands above the first row. */
  readonly headPx: number;
  readonly estimate: (row: Row) => number;
  readonly isFollowing: () => boolean;
  /** The room that older rows will need, which are not here yet; 0: there are none. */
  readonly reservePx: (strip: Strip<Row>) => number;
  /** What can be seen has changed: the reader has scrolled so far down, or up where it is less than 0; 0: by something else. */
  readonly onLook: (strip: Strip<Row>, scrolledPx: number) => void;
  /** Whether the end of the list is on the screen. */
  readonly onEnd: (isShown: boolean) => void;
}

interface StageElements {
  readonly scroller: HTMLElement;
  readonly sizer: HTMLElement;
  readonly head: HTMLElement;
  readonly frame: HTMLElement;
}

export class Stage<Row extends Keyed> {
  readonly strip: Strip<Row>;
  /** The rows that are drawn. */
  drawn: Range = { from: 0, to: 0 };
  readonly #options: StageOptions<Row>;
  readonly #draw: () => void;
  readonly #slots = new Map<string, HTMLElement>();
  readonly #fresh = new Set<string>();
  #elements: StageElements | undefined;
  #observer: ResizeObserver | undefined;
  #quiet: ReturnType<typeof setTimeout> | undefined;
  #isQuiet = true;
  #isPressed = false;
  /** What the reader has opened or closed, and how far below the top it was: it stays there until the reader scrolls. */
  #held: { readonly element: Element; readonly fromTopPx: number } | undefined;
  /** As it was written. */
  #heightPx = 0;
  /** What stands below the last row. */
  #padPx = 0;
  /** How wide the list is: with another width every row has other lines. */
  #widthPx = 0;
  #reflowUntil = 0;
  /** Where the end was when it was last seen, with the room that was left below it; 0 where it was not. */
  #endPx = 0;
  /** The window has just become so much shorter, and does not stand at the end again yet. */
  #shorterPx = 0;
  /** A place that is known already, since the stage has set it, or has looked before the browser told of it: its event is an echo. */
  #knownTop: number | undefined;

  constructor(options: StageOptions<Row>, draw: () => void) {
    this.#options = options;
    this.#draw = draw;
    this.strip = new Strip(options.headPx, options.estimate);
  }

  /** Which of the rows are to be drawn; called while drawing. */
  take(rows: readonly Row[]): Range {
    if (rows === this.strip.rows && !this.#isShort()) return this.drawn;
    this.strip.take(rows);
    if (this.strip.window.height > 0) this.drawn = this.strip.range(BEYOND_PX);
    return this.drawn;
  }

  attach(elements: StageElements): () => void {
    this.#elements = elements;
    const { scroller } = elements;
    this.#padPx = Number.parseFloat(getComputedStyle(scroller).paddingBottom) || 0;
    this.#observer = new ResizeObserver((entries) => this.#resized(entries));
    this.#observer.observe(scroller);
    for (const slot of this.#slots.values()) this.#observer.observe(slot);
    const onScroll = () => this.#scrolled();
    const onDown = () => {
      this.#isPressed = true;
    };
    const onUp = () => {
      this.#isPressed = false;
      this.#waitForQuiet();
    };
    scroller.addEventListener("scroll", onScroll, { passive: true });
    scroller.addEventListener("pointerdown", onDown, { passive: true });
    addEventListener("pointerup", onUp, { passive: true });
    addEventListener("pointercancel", onUp, { passive: true });
    this.strip.look(scroller.scrollTop, scroller.clientHeight);
    this.#draw();
    return () => {
      this.#observer?.disconnect();
      clearTimeout(this.#quiet);
      scroller.removeEventListener("scroll", onScroll);
      scroller.removeEventListener("pointerdown", onDown);
      removeEventListener("pointerup", onUp);
      removeEventListener("pointercancel", onUp);
      this.#elements = undefined;
    };
  }

  /** A row's box has come into the document, or left it. */
  slot(key: string, element: HTMLElement | null): void {
    const before = this.#slots.get(key);
    if (before === element) return;
    if (before) this.#observer?.unobserve(before);
    this.#fresh.delete(key);
    if (!element) {
      this.#slots.delete(key);
      return;
    }
    this.#slots.set(key, element);
    this.#fresh.add(key);
    this.#observer?.observe(element);
  }

  /** What was drawn is in the document and not on the screen yet. */
  drew(): void {
    if (!this.#elements) return;
    this.#catchUp();
    const sizes = [...this.#fresh].map((key) => [key, heightOf(this.#slots.get(key))] as const);
    this.#fresh.clear();
    if (sizes.length > 0) this.strip.measure(sizes, this.drawn);
    this.#place();
    if (this.#isShort()) this.#draw();
  }

  /** Keeps an element of a row where it is on the screen, whatever opens or closes, until the reader scrolls. */
  hold(element: Element): void {
    if (!this.#elements) return;
    this.#catchUp();
    const key = element.closest<HTMLElement>("[data-key]")?.dataset["key"];
    const row = this.strip.rows.findIndex((each) => each.key === key);
    if (row === -1) return;
    this.strip.pin(row);
    this.#held = { element, fromTopPx: this.#fromTop(element) };
  }

  /** Goes to the end. */
  toEnd(): void {
    this.#held = undefined;
    this.#endPx = 0;
    this.#setHeight(this.strip.end);
    this.#scrollToEnd();
    if (this.#isShort()) flushSync(this.#draw);
  }

  /** Brings a row into view: at the given distance from the top, or as near as may be. */
  show(index: number, fromTopPx: number | "nearest"): void {
    const { strip } = this;
    if (!this.#elements || index < 0 || index >= strip.rows.length) return;
    this.#catchUp();
    this.#held = undefined;
    // Twice, since the row and those around it may be drawn for the first time, and be higher than was thought.
    for (let pass = 0; pass < 2; pass++) {
      const { top, height } = strip.window;
      const rowTop = strip.topOf(index);
      const rowEnd = rowTop + strip.sizeOf(index);
      if (fromTopPx !== "nearest") this.#scrollTo(rowTop - fromTopPx);
      else if (rowTop < top || strip.sizeOf(index) > height) this.#scrollTo(rowTop);
      else if (rowEnd > top + height) this.#scrollTo(rowEnd - height);
      strip.pin(index);
      if (this.#isShort()) flushSync(this.#draw);
    }
  }

  #scrolled(): void {
    if (!this.#elements) return;
    const isKnown =
      this.#knownTop !== undefined && Math.abs(this.#elements.scroller.scrollTop - this.#knownTop) < 1;
    this.#knownTop = undefined;
    this.#look(!isKnown);
    if (this.#isShort()) flushSync(this.#draw);
  }

  /**
   * A browser tells of a scroll with its next frame. Who presses something before that, or whose text grows, is already where they
   * scrolled to: whatever is placed is placed around there.
   */
  #catchUp(): void {
    if (!this.#elements) return;
    const { scrollTop, clientHeight } = this.#elements.scroller;
    if (clientHeight === 0 || Math.abs(scrollTop - this.strip.window.top) < 1) return;
    this.#look(true);
    this.#knownTop = this.#elements.scroller.scrollTop;
  }

  /** Takes in where the reader is. */
  #look(isReaders: boolean): void {
    if (!this.#elements) return;
    const { scroller } = this.#elements;
    const { strip } = this;
    // From where the stage has put the list, which the browser may not have told of either.
    const scrolledPx = readersPx(scroller, strip.window);
    strip.look(scroller.scrollTop, scroller.clientHeight);
    if (isReaders) {
      strip.pin(undefined);
      this.#held = undefined;
      this.#isQuiet = false;
      this.#waitForQuiet();
      this.#stopAtStart();
      this.#size();
    }
    this.#options.onLook(strip, isReaders ? scrolledPx : 0);
    this.#tellEnd();
  }

  /** There is nothing above the first row: the reader comes no further, until older rows are here. */
  #stopAtStart(): void {
    const { strip } = this;
    const first = strip.start - this.#options.headPx;
    if (strip.window.top < first) this.#scrollTo(first);
  }

  #waitForQuiet(): void {
    clearTimeout(this.#quiet);
    this.#quiet = setTimeout(() => {
      if (this.#isPressed) return;
      this.#isQuiet = true;
      this.#place();
    }, SCROLL_QUIET_MS);
  }

  #resized(entries: readonly ResizeObserverEntry[]): void {
    if (!this.#elements) return;
    this.#catchUp();
    const { scroller } = this.#elements;
    const sizes: [string, number][] = [];
    let isOther = false;
    const { clientWidth } = scroller;
    if (this.#widthPx > 0 && clientWidth !== this.#widthPx) this.#reflowUntil = performance.now() + REFLOW_MS;
    this.#widthPx = clientWidth;
    const isReflow = performance.now() < this.#reflowUntil;
    for (const { target, borderBoxSize } of entries) {
      const key = (target as HTMLElement).dataset["key"];
      if (key === undefined) isOther = true;
      else if (this.#slots.get(key) === target) sizes.push([key, borderBoxSize[0]?.blockSize ?? 0]);
    }
    this.#shorterPx = Math.max(0, this.strip.window.height - scroller.clientHeight);
    if (isOther) this.strip.look(scroller.scrollTop, scroller.clientHeight);
    const hasChanged = this.strip.measure(sizes, this.drawn, isReflow);
    if (!hasChanged && !isOther) return;
    this.#place();
    this.#shorterPx = 0;
    if (this.#isShort()) flushSync(this.#draw);
    this.#options.onLook(this.strip, 0);
  }

  /** Writes where things lie; nothing of it moves what the reader looks at. */
  #place(): void {
    if (!this.#elements) return;
    const { frame, head } = this.#elements;
    const { strip } = this;
    const by = this.#correction();
    strip.move(by);
    if (this.#endPx > 0) this.#endPx += by;
    this.#size();
    head.style.top = `${strip.start - this.#options.headPx}px`;
    frame.style.top = `${strip.topOf(this.drawn.from)}px`;
    if (this.#options.isFollowing()) this.#scrollToEnd();
    else if (by !== 0) this.#scrollTo(strip.window.top);
    this.#keepHeld();
    this.#tellEnd();
  }

  /**
   * Writes how much can be scrolled. Where rows became shorter, what is on the screen stays: the room below the last row goes
   * when the reader scrolls up, or fills with what comes. Who follows the end is not left before an empty screen.
   */
  #size(): void {
    if (!this.#elements) return;
    const { end, window } = this.strip;
    const isFollowing = this.#options.isFollowing();
    const before = isFollowing ? this.#endPx : this.#heightPx;
    const hidden = isFollowing ? this.#padPx - this.#shorterPx : 0;
    const seen = Math.min(before, window.top + window.height - hidden);
    const isTooMuch = isFollowing && seen - end > ROOM_SHARE * window.height;
    this.#setHeight(isTooMuch ? end : Math.max(end, seen));
    const isKnown = (this.#shorterPx > 0 && this.#endPx > 0) || this.#isEndKnown();
    this.#endPx = isKnown ? this.#heightPx : 0;
  }

  /** Whether everything on the screen has been measured: a guess that was too high leaves no room. */
  #isEndKnown(): boolean {
    const { from, to } = this.strip.range(0);
    if (to < this.strip.rows.length) return false;
    for (let i = from; i < to; i++) if (!this.strip.isMeasured(i)) return false;
    return to > from;
  }

  #setHeight(px: number): void {
    if (!this.#elements || px === this.#heightPx) return;
    this.#heightPx = px;
    this.#elements.sizer.style.height = `${px}px`;
  }

  /** Rows hold their places by themselves; inside a row, what is above the held element may have become higher. */
  #keepHeld(): void {
    if (!this.#held?.element.isConnected || this.#options.isFollowing()) return;
    const off = Math.round(this.#fromTop(this.#held.element) - this.#held.fromTopPx);
    if (off === 0) return;
    const { top, height } = this.strip.window;
    this.#setHeight(Math.max(this.#heightPx, top + off + height));
    this.#scrollTo(top + off);
  }

  #fromTop(element: Element): number {
    const list = this.#elements?.scroller.getBoundingClientRect().top ?? 0;
    return element.getBoundingClientRect().top - list;
  }

  #tellEnd(): void {
    const { end, window } = this.strip;
    this.#options.onEnd(end <= window.top + window.height + 1);
  }

  /** How far the whole strip should be moved: a whole number, so that nothing is drawn between pixels. */
  #correction(): number {
    const { strip } = this;
    const { headPx } = this.#options;
    const reserve = Math.min(MAX_RESERVE_PX, this.#options.reservePx(strip));
    const wanted = headPx + reserve;
    const off = Math.round(wanted - strip.start);
    const isPastStart = strip.start < headPx && strip.window.top < 2 * strip.window.height;
    const mayMove = this.#isQuiet || this.#options.isFollowing() || isPastStart;
    if (!mayMove || off === 0) return 0;
    // With older rows to come the room is an estimate; it is mended when it is badly off.
    return reserve === 0 || Math.abs(off) > wanted / 2 ? off : 0;
  }

  #scrollToEnd(): void {
    this.#scrollTo(this.strip.end + this.strip.window.height);
  }

  #scrollTo(top: number): void {
    if (!this.#elements) return;
    const { scroller } = this.#elements;
    const before = scroller.scrollTop;
    scroller.scrollTop = top;
    const now = scroller.scrollTop;
    if (now !== before) this.#knownTop = now;
    this.strip.look(now, scroller.clientHeight);
  }

  /** Rows near the screen are not drawn. */
  #isShort(): boolean {
    const { from, to } = this.strip.range(KEPT_PX);
    return from < this.drawn.from || to > Math.min(this.drawn.to, this.strip.rows.length);
  }
}

/**
 * How far the reader has scrolled from where the window was. A list that has become higher is put down by the browser where it
 * stood at its end, as much as it grew: that is not the reader's hand.
 */
function readersPx(scroller: HTMLElement, window: { readonly top: number; readonly height: number }): number {
  const movedPx = scroller.scrollTop - window.top;
  const grownPx = scroller.clientHeight - window.height;
  return movedPx < 0 && grownPx > 0 ? Math.min(0, movedPx + grownPx) : movedPx;
}

function heightOf(element: HTMLElement | undefined): number {
  return element?.getBoundingClientRect().height ?? 0;
}
