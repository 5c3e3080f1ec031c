/**
 * Where the pages of a segment are, and the first key of each: enough to find the page of a key. In few large buffers: a store of
 * ten gigabytes has a million pages, and they are in memory as long as the search thread lives.
 */

/** A part's position: its offset and its length without the checksum. */
export type Part = readonly [at: number, length: number];

export class PageList {
  readonly #places: Float64Array;
  readonly #lengths: Uint32Array;
  readonly #keys: Buffer;
  /** The start of each key in #keys; it ends where the next one begins. */
  readonly #starts: Uint32Array;

  constructor(parts: readonly Part[], firstKeys: readonly string[]) {
    this.#places = Float64Array.from(parts, ([at]) => at);
    this.#lengths = Uint32Array.from(parts, ([, length]) => length);
    this.#keys = Buffer.from(firstKeys.join(""), "latin1");
    this.#starts = new Uint32Array(firstKeys.length + 1);
    firstKeys.forEach((key, i) => {
      this.#starts[i + 1] = (this.#starts[i] as number) + key.length;
    });
  }

  get length(): number {
    return this.#places.length;
  }

  part(page: number): Part | undefined {
    const at = this.#places[page];
    return at === undefined ? undefined : [at, this.#lengths[page] as number];
  }

  firstKey(page: number): string {
    return this.#keys.toString("latin1", this.#starts[page], this.#starts[page + 1]);
  }

  /** The last page whose first key is not after the key; -1 if there is none. */
  pageOf(key: string): number {
    const wanted = Buffer.from(key, "latin1");
    let low = 0;
    let high = this.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const isBehind =
        this.#keys.compare(wanted, 0, wanted.length, this.#starts[middle], this.#starts[middle + 1]) > 0;
      if (isBehind) high = middle;
      else low = middle + 1;
    }
    return low - 1;
  }
}
