/**
 * Recently read texts, up to a limit: searches come in series (somebody types, or a model retries), and each reads much
 * of what the previous one has read. A text is cached with its version.
 */

interface Recent {
  readonly version: number;
  readonly text: string;
}

export class RecentTexts {
  readonly #maxChars: number;
  /** The one used longest ago first. */
  readonly #texts = new Map<number, Recent>();
  #chars = 0;

  constructor(maxChars: number) {
    this.#maxChars = maxChars;
  }

  get chars(): number {
    return this.#chars;
  }

  get(row: number, version: number): string | undefined {
    const recent = this.#texts.get(row);
    if (recent === undefined || recent.version !== version) return undefined;
    this.#texts.delete(row);
    this.#texts.set(row, recent);
    return recent.text;
  }

  put(row: number, version: number, text: string): void {
    this.#drop(row);
    // One text that fills it all is worth less than all those that it would push out.
    if (text.length > this.#maxChars / 8) return;
    this.#texts.set(row, { version, text });
    this.#chars += text.length;
    for (const oldest of this.#texts.keys()) {
      if (this.#chars <= this.#maxChars) return;
      this.#drop(oldest);
    }
  }

  #drop(row: number): void {
    const recent = this.#texts.get(row);
    if (recent === undefined) return;
    this.#texts.delete(row);
    this.#chars -= recent.text.length;
  }
}
