/**
 * Announces which conversations and blocks have changed, not how: clients read them. Changes are gathered, so that a block that is
 * written ten times a second is announced four times a second.
 */

import type { Kernel } from "@blockyard/kernel";
import { ANNOUNCE_MS } from "./limits.ts";

export interface Announcement {
  readonly conversations: readonly string[];
  readonly blocks: readonly string[];
  /** Some conversation is new. */
  readonly isNew: boolean;
}

export class Announcer {
  readonly #listeners = new Set<(announcement: Announcement) => void>();
  readonly #conversations = new Set<string>();
  readonly #blocks = new Set<string>();
  readonly #stop: () => void;
  #isNew = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(kernel: Kernel) {
    this.#stop = kernel.listen(({ conversation, blocks, ops }) => {
      if (this.#listeners.size === 0) return;
      this.#conversations.add(conversation);
      for (const { id } of blocks) this.#blocks.add(id);
      this.#isNew ||= ops[0]?.seqFrom === 1;
      this.#timer ??= setTimeout(() => this.#announce(), ANNOUNCE_MS).unref();
    });
  }

  listen(listener: (announcement: Announcement) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  close(): void {
    this.#stop();
    clearTimeout(this.#timer);
    this.#listeners.clear();
  }

  #announce(): void {
    this.#timer = undefined;
    const announcement = {
      conversations: [...this.#conversations],
      blocks: [...this.#blocks],
      isNew: this.#isNew,
    };
    this.#conversations.clear();
    this.#blocks.clear();
    this.#isNew = false;
    for (const listener of this.#listeners) listener(announcement);
  }
}
