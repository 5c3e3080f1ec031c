/**
 * Small things that many may ask for at the same moment, one in each round of the process: what the owner has sent meanwhile
 * is read in between, however many of them wait. In the order in which they came.
 */
export class Rounds {
  readonly #later: (round: () => void) => void;
  #waiting: (() => void)[] = [];
  #at = 0;

  constructor(later: (round: () => void) => void = setImmediate) {
    this.#later = later;
  }

  enter(work: () => void): void {
    this.#waiting.push(work);
    if (this.#waiting.length - this.#at === 1) this.#later(this.#round);
  }

  readonly #round = (): void => {
    const work = this.#waiting[this.#at++];
    if (this.#at < this.#waiting.length) this.#later(this.#round);
    else {
      this.#waiting = [];
      this.#at = 0;
    }
    work?.();
  };
}
