/**
 * Seeded choices for fuzzes and simulations. The same seed gives the same choices; nothing else decides anything.
 */
import { VirtualEnv } from "@blockyard/kernel";

const WORDS = [
  "the ",
  "block ",
  "und ",
  "nächste ",
  "x",
  "ab",
  "fn() ",
  "日本",
  "😀",
  "👩‍🚀",
  "é",
  "1;",
  "\t",
];
const LINE_ENDS = ["\n", "\n", "\n", "\r\n", "\n\n"];

export class Random {
  readonly #next: () => number;

  constructor(seed: number) {
    const source = new VirtualEnv(Math.imul(seed, 0x2545f491) ^ 0x3c6ef372);
    this.#next = () => source.random();
  }

  /** A whole number from 0 up to, not including, `limit`. */
  below(limit: number): number {
    return Math.floor((this.#next() / 2 ** 32) * limit);
  }

  between(least: number, most: number): number {
    return least + this.below(most - least + 1);
  }

  /** True with this chance. */
  chance(share: number): boolean {
    return this.#next() / 2 ** 32 < share;
  }

  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T;
  }

  /** One of the names, each as likely as its weight says. */
  weighted<K extends string>(weights: Readonly<Record<K, number>>): K {
    const names = Object.keys(weights) as K[];
    let at = this.below(names.reduce((sum, name) => sum + weights[name], 0));
    for (const name of names) {
      at -= weights[name];
      if (at < 0) return name;
    }
    return names.at(-1) as K;
  }

  /** A few words, with a line end now and then. */
  text(words: number): string {
    let text = "";
    for (let i = 0; i < words; i++) text += this.chance(0.2) ? this.pick(LINE_ENDS) : this.pick(WORDS);
    return text;
  }

  /** An offset between two characters of the text. */
  offset(text: string): number {
    const at = this.below(text.length + 1);
    return isBoundary(text, at) ? at : at - 1;
  }

  /** A short stretch of the text, from one character boundary to another. */
  range(text: string, most: number): { readonly at: number; readonly end: number } {
    const at = this.offset(text);
    const end = Math.min(text.length, at + this.below(most + 1));
    return { at, end: isBoundary(text, end) ? end : end + 1 };
  }
}

function isBoundary(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  return !(at > 0 && unit >= 0xdc00 && unit <= 0xdfff);
}
