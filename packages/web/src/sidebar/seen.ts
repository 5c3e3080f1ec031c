/**
 * How far this reader has seen each conversation: its sequence number at the last visit. Stored in this browser.
 * Everything that existed before the page's first visit counts as seen, so that an import of a thousand sessions marks
 * none of them.
 */
import { SEEN_CONVERSATIONS, SEEN_SAVE_MS } from "./limits.ts";

const KEY = "blockyard-seen";

export class Seen {
  readonly #seen: Map<string, number>;
  /** In this page only. */
  readonly #assumed = new Map<string, number>();

  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    this.#seen = load();
    addEventListener("pagehide", () => this.#save());
  }

  /** It was there already: not news, unless it has been looked at before. */
  assume(id: string, seq: number): void {
    if (!this.#assumed.has(id)) this.#assumed.set(id, seq);
  }

  mark(id: string, seq: number): void {
    if ((this.#seen.get(id) ?? -1) >= seq) return;
    this.#seen.delete(id);
    this.#seen.set(id, seq);
    for (const oldest of this.#seen.keys()) {
      if (this.#seen.size <= SEEN_CONVERSATIONS) break;
      this.#seen.delete(oldest);
    }
    this.#timer ??= setTimeout(() => this.#save(), SEEN_SAVE_MS);
  }

  isBehind(id: string, seq: number): boolean {
    return seq > (this.#seen.get(id) ?? this.#assumed.get(id) ?? 0);
  }

  #save(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    try {
      localStorage.setItem(KEY, JSON.stringify([...this.#seen]));
    } catch {
      // A browser that stores nothing still works; it only forgets.
    }
  }
}

function load(): Map<string, number> {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    if (!Array.isArray(stored)) return new Map();
    return new Map(
      stored.filter(
        (pair): pair is [string, number] =>
          Array.isArray(pair) && typeof pair[0] === "string" && typeof pair[1] === "number",
      ),
    );
  } catch {
    return new Map();
  }
}
