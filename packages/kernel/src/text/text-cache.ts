/**
 * Loaded texts of all conversations, bounded in number and size; the least recently used leave first. A text that a
 * stream extends while nobody reads or edits it leaves too: the stream does not need it.
 *
 * A text is never evicted while a draft is planned on it: eviction happens between batches, and an evicted text is
 * simply loaded again.
 */

import type { BlockId } from "../model/ids.ts";
import { limits } from "../model/limits.ts";
import type { Store } from "../ports/store.ts";
import { BlockText } from "./block-text.ts";

export class TextCache {
  readonly #store: Store;
  readonly #texts = new Map<BlockId, BlockText>();
  readonly #loading = new Map<BlockId, Promise<BlockText>>();
  #chars = 0;
  readonly #sizes = new Map<BlockId, number>();
  /** By how much texts have grown since they were wanted. */
  readonly #unread = new Map<BlockId, number>();

  constructor(store: Store) {
    this.#store = store;
  }

  peek(id: BlockId): BlockText | undefined {
    return this.#texts.get(id);
  }

  load(id: BlockId): Promise<BlockText> {
    const known = this.#texts.get(id);
    if (known) return Promise.resolve(known);
    const under = this.#loading.get(id);
    if (under) return under;
    const loading: Promise<BlockText> = this.#read(id, () => this.#loading.get(id) === loading);
    this.#loading.set(id, loading);
    return loading;
  }

  /** Builds the undo model, unless the text is under a draft or the log has gone on: then who wants it asks again. */
  async loadUndo(id: BlockId): Promise<void> {
    const text = await this.load(id);
    if (text.undo) return;
    const log = await this.#store.log(id, { version: 0 });
    if (this.#texts.get(id) !== text || text.undo) return;
    const version = log.ops.at(-1)?.version ?? log.compacted?.version ?? 0;
    if (version === text.version) text.buildUndo(log);
    else if (version > text.version) this.drop(text);
  }

  /** It was read or edited: it counts as new, with the size that it has now. */
  used(text: BlockText): void {
    if (this.#texts.get(text.id) !== text) return;
    this.#unread.delete(text.id);
    this.#texts.delete(text.id);
    this.#texts.set(text.id, text);
    this.#resize(text.id, text.value.length);
    this.#evict(text);
  }

  /** A stream has made it longer. */
  grew(text: BlockText): void {
    const { id } = text;
    if (this.#texts.get(id) !== text) return;
    const grown = text.value.length - (this.#sizes.get(id) ?? 0);
    const unread = (this.#unread.get(id) ?? 0) + grown;
    if (unread > limits.unreadChars) return this.dropId(id);
    this.#unread.set(id, unread);
    this.#resize(id, text.value.length);
    this.#evict(text);
  }

  drop(text: BlockText): void {
    if (this.#texts.get(text.id) === text) this.dropId(text.id);
  }

  dropId(id: BlockId): void {
    this.#texts.delete(id);
    this.#loading.delete(id); // what is being loaded is old too: it is not kept
    this.#unread.delete(id);
    this.#resize(id, 0);
  }

  /** The block is at `version` now: a text that does not know it, or a load that may have missed it, is not kept. */
  outdate(id: BlockId, version: number): void {
    const text = this.#texts.get(id);
    if (text && text.committed.version !== version) this.dropId(id);
    else if (!text && this.#loading.size > 0) this.#loading.delete(id);
  }

  get size(): number {
    return this.#texts.size;
  }

  async #read(id: BlockId, isCurrent: () => boolean): Promise<BlockText> {
    try {
      const text = BlockText.load(id, await this.#store.log(id, { version: 0 }));
      if (!isCurrent()) return this.load(id);
      this.#texts.set(id, text);
      this.#resize(id, text.value.length);
      this.#evict(text);
      return text;
    } finally {
      if (isCurrent()) this.#loading.delete(id);
    }
  }

  #resize(id: BlockId, chars: number): void {
    this.#chars += chars - (this.#sizes.get(id) ?? 0);
    if (chars === 0) this.#sizes.delete(id);
    else this.#sizes.set(id, chars);
  }

  #evict(keep: BlockText): void {
    for (const [id, text] of this.#texts) {
      if (this.#chars <= limits.loadedChars && this.#texts.size <= limits.loadedBlocks) return;
      if (text !== keep && text.version === text.committed.version) this.dropId(id);
    }
  }
}
