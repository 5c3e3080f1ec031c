/**
 * Small things that many may ask for at the same moment, one in each round of the process: what the owner has sent meanwhile
 * is read in between, however many of them wait. In the order in which they came. While the owner waits for an answer, they
 * wait as well, for a moment.
 */
import { HELD_LOOK_MS, MAX_LOOKS } from "./limits.ts";

interface RoundsCare {
  /** Calls back in a later round; where it is to wait, a moment later. */
  readonly later?: (round: () => void, isHeld: boolean) => void;
  readonly isHeld?: () => boolean;
}

export class Rounds {
  readonly #later: (round: () => void, isHeld: boolean) => void;
  readonly #isHeld: () => boolean;
  #waiting: (() => void)[] = [];
  #at = 0;
  #looks = 0;

  constructor({ later = inLaterRound, isHeld = () => false }: RoundsCare = {}) {
    this.#later = later;
    this.#isHeld = isHeld;
  }

  enter(work: () => void): void {
    this.#waiting.push(work);
    if (this.#waiting.length - this.#at === 1) this.#later(this.#round, false);
  }

  readonly #round = (): void => {
    if (this.#looks < MAX_LOOKS && this.#isHeld()) {
      this.#looks++;
      return this.#later(this.#round, true);
    }
    this.#looks = 0;
    const work = this.#waiting[this.#at++];
    if (this.#at < this.#waiting.length) this.#later(this.#round, false);
    else {
      this.#waiting = [];
      this.#at = 0;
    }
    work?.();
  };
}

function inLaterRound(round: () => void, isHeld: boolean): void {
  if (isHeld) setTimeout(round, HELD_LOOK_MS);
  else setImmediate(round);
}
