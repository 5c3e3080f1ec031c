/**
 * Which rows of the journal are overdue: all but the newest that together have a given size. What is overdue is flushed
 * even if it would rather wait, so that the journal stays small, and with it what opening has to read.
 */

export class JournalWindow {
  readonly #maxBytes: number;
  /** Sizes of the newest rows, oldest first, from #from on. */
  #sizes: number[] = [];
  #from = 0;
  #bytes = 0;
  /** The first row that is not overdue. */
  first = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  add(id: number, bytes: number): void {
    if (this.#from === this.#sizes.length) this.first = id;
    this.#sizes.push(bytes);
    this.#bytes += bytes;
    while (this.#bytes > this.#maxBytes) {
      this.#bytes -= this.#sizes[this.#from++] as number;
      this.first++;
    }
    if (this.#from < 4_096) return;
    this.#sizes = this.#sizes.slice(this.#from);
    this.#from = 0;
  }
}
