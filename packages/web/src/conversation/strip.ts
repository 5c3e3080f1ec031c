/**
 * The strip: the position of every row of the list, in pixels from the top of the scrollable area. Drawn rows have
 * their measured height; the others an estimate. Pure arithmetic: it knows no document.
 *
 * The invariant: whatever is prepended, removed or measured again, the row that the reader looks at stays where it is.
 * Changes above it move the beginning of the strip (`start`), never the reader's place. So a reader who is scrolling is
 * not disturbed; the beginning is corrected (`move`) when nobody scrolls.
 */

export interface Keyed {
  readonly key: string;
}

export interface Range {
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
}

export class Strip<Row extends Keyed> {
  rows: readonly Row[] = [];
  /** Where the first row begins. */
  start: number;
  readonly #estimate: (row: Row) => number;
  readonly #measured = new Map<string, number>();
  #sizes = new Float64Array(64);
  /** Offsets from `start`; right for indexes up to `#summed`. */
  #offsets = new Float64Array(65);
  #summed = 0;
  /** What the reader sees of the strip. */
  #window = { top: 0, height: 0 };
  /** A row that was gone to: it holds its place until the reader scrolls. */
  #pinned: string | undefined;

  constructor(start: number, estimate: (row: Row) => number) {
    this.start = start;
    this.#estimate = estimate;
  }

  /** The reader's place. */
  look(top: number, height: number): void {
    this.#window = { top, height };
  }

  get window(): { readonly top: number; readonly height: number } {
    return this.#window;
  }

  pin(index: number | undefined): void {
    this.#pinned = index === undefined ? undefined : this.rows[index]?.key;
  }

  /** Takes other rows in place of those that it had. */
  take(rows: readonly Row[]): void {
    if (rows === this.rows) return;
    const before = this.rows;
    const isFirst = before.length === 0;
    const anchors = isFirst ? [] : this.#anchors().map((at) => ({ at, top: this.topOf(at) }));
    this.rows = rows;
    this.#fill(before);
    for (const { at, top } of anchors) {
      const now = indexNear(rows, before[at]?.key as string, at, rows.length - before.length);
      if (now === -1) continue;
      this.start += top - this.topOf(now);
      return;
    }
  }

  /**
   * Rows have been drawn with these heights; whether anything changed. Where all of them are new because the list has another
   * width, a row that begins above the window is no anchor: its lines are others, and what is below it would move by them.
   */
  measure(
    sizes: readonly (readonly [key: string, height: number])[],
    near: Range,
    isReflow = false,
  ): boolean {
    const known = isReflow ? this.#reflowAnchor() : this.#anchors()[0];
    const top = known === undefined ? 0 : this.topOf(known);
    const before = known === undefined ? 0 : this.sizeOf(known);
    let hasChanged = false;
    for (const [key, height] of sizes) {
      this.#measured.set(key, height);
      const at = indexNear(this.rows, key, near.from, 0);
      if (at === -1 || this.#sizes[at] === height) continue;
      this.#sizes[at] = height;
      this.#summed = Math.min(this.#summed, at);
      hasChanged = true;
    }
    if (!hasChanged || known === undefined) return hasChanged;
    this.start += top - this.topOf(known);
    if (!isReflow) this.#keepInWindow(known, top, before);
    // A row that is higher than the window, with other lines: about the same of it is above.
    const above = this.#window.top - top;
    if (isReflow && above > 0 && before > 0)
      this.start += Math.round(above - (above * this.sizeOf(known)) / before);
    return true;
  }

  /**
   * A row that began above the window and has become so short that it would end there, such as a long form that was answered: what
   * was below it in the window stays where it was; where nothing was, the row is shown from its beginning.
   */
  #keepInWindow(row: number, top: number, before: number): void {
    const { top: windowTop, height } = this.#window;
    const isGone = top < windowTop && top + before > windowTop && top + this.sizeOf(row) <= windowTop;
    if (!isGone || this.#pinned !== undefined) return;
    const shrunk = before - this.sizeOf(row);
    this.start += top + before < windowTop + height ? shrunk : windowTop - top;
  }

  /** Moves everything, the reader included. */
  move(by: number): void {
    this.start += by;
    this.#window = { ...this.#window, top: this.#window.top + by };
  }

  topOf(index: number): number {
    return this.start + this.#offsetOf(index);
  }

  sizeOf(index: number): number {
    return this.#sizes[index] ?? 0;
  }

  get end(): number {
    return this.topOf(this.rows.length);
  }

  isMeasured(index: number): boolean {
    return this.#measured.has(this.rows[index]?.key ?? "");
  }

  /** The rows in the window and this far above and below it. */
  range(beyondPx: number): Range {
    const { top, height } = this.#window;
    if (this.rows.length === 0) return { from: 0, to: 0 };
    return { from: this.#at(top - beyondPx), to: this.#at(top + height + beyondPx) + 1 };
  }

  /** The row at a place; the first or the last one beyond the ends. */
  #at(top: number): number {
    const wanted = top - this.start;
    let low = 0;
    let high = this.rows.length - 1;
    this.#offsetOf(this.rows.length);
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#offsets[middle] as number) <= wanted) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** Rows that should stay where they are, the best first: those that the reader sees, and sees as they are. */
  #anchors(): number[] {
    const { from, to } = this.range(0);
    const seen: number[] = [];
    const guessed: number[] = [];
    for (let at = from; at < to; at++) (this.isMeasured(at) ? seen : guessed).push(at);
    const pinned = this.#pinned === undefined ? -1 : indexNear(this.rows, this.#pinned, from, 0);
    return [...(pinned === -1 ? [] : [pinned]), ...seen, ...guessed];
  }

  /** The first row that begins in the window; where none does, the one that fills it. */
  #reflowAnchor(): number | undefined {
    const anchors = this.#anchors();
    if (this.#pinned !== undefined) return anchors[0];
    const { top, height } = this.#window;
    return anchors.find((at) => this.topOf(at) >= top && this.topOf(at) < top + height) ?? anchors[0];
  }

  #offsetOf(index: number): number {
    for (; this.#summed < index; this.#summed++)
      this.#offsets[this.#summed + 1] =
        (this.#offsets[this.#summed] as number) + (this.#sizes[this.#summed] as number);
    return this.#offsets[index] ?? 0;
  }

  /** Sizes of the rows as they are now; those at the beginning that are the same are left alone. */
  #fill(before: readonly Row[]): void {
    const { rows } = this;
    if (rows.length > this.#sizes.length) this.#enlarge(rows.length * 2);
    const kept = commonStart(before, rows);
    for (let i = kept; i < rows.length; i++) {
      const row = rows[i] as Row;
      this.#sizes[i] = this.#measured.get(row.key) ?? this.#estimate(row);
    }
    this.#summed = Math.min(this.#summed, kept);
  }

  #enlarge(length: number): void {
    const sizes = new Float64Array(length);
    sizes.set(this.#sizes);
    const offsets = new Float64Array(length + 1);
    offsets.set(this.#offsets);
    this.#sizes = sizes;
    this.#offsets = offsets;
  }
}

function commonStart(a: readonly Keyed[], b: readonly Keyed[]): number {
  let at = 0;
  while (at < a.length && a[at]?.key === b[at]?.key) at++;
  return at;
}

/** Where a key is: most likely where it was, or as far behind as rows were put in front; then nearby, then anywhere. */
function indexNear(rows: readonly Keyed[], key: string, at: number, moved: number): number {
  if (rows[at]?.key === key) return at;
  if (rows[at + moved]?.key === key) return at + moved;
  for (let i = at; i < Math.min(rows.length, at + 64); i++) if (rows[i]?.key === key) return i;
  return rows.findIndex((row) => row.key === key);
}

/** The range with as many more as `most` lets in: half of them before it, and what one side does not need for the other. */
export function around({ from, to }: Range, length: number, most: number): Range {
  const more = Math.max(0, most - (to - from));
  const behind = Math.min(length - to, Math.max(Math.ceil(more / 2), more - from));
  return { from: from - Math.min(from, more - behind), to: to + behind };
}
