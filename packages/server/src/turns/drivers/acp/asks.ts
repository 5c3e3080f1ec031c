/**
 * What an ACP agent asks and waits for, by the ids of its requests. Each request is answered once: by the owner, or as cancelled
 * where it cannot be shown, its call has ended, or the turn is stopped.
 */

import { askOf, type BlockEvent, type BlockKey } from "@blockyard/kernel";
import type { Answer } from "../../run.ts";
import { bounds } from "../limits.ts";
import { acpResponse, cancelledResponse } from "./answer.ts";
import type { Respond } from "./peer.ts";

interface Waiting {
  readonly method: string;
  readonly respond: Respond;
}

export class AcpAsks {
  readonly #waiting = new Map<string, Waiting>();
  /** The blocks on which it asks. */
  readonly #asked = new Map<string, BlockKey>();

  /** Whether the agent waits for somebody. */
  get isOpen(): boolean {
    return this.#waiting.size > 0;
  }

  /** Nobody can answer more at a time. */
  get isFull(): boolean {
    return this.#waiting.size >= bounds.openAsks;
  }

  /** The block that shows what is asked. */
  blockOf(ask: string): BlockKey | undefined {
    return this.#waiting.has(ask) ? this.#asked.get(ask) : undefined;
  }

  add(id: string, method: string, respond: Respond): void {
    this.#waiting.set(id, { method, respond });
  }

  /** Whether anybody waited for it. */
  answer(answer: Answer): boolean {
    const waiting = this.#waiting.get(answer.ask);
    if (waiting === undefined) return false;
    this.#waiting.delete(answer.ask);
    this.#asked.delete(answer.ask);
    waiting.respond({ result: acpResponse(answer) });
    return true;
  }

  heard(event: BlockEvent): void {
    if (!("metadata" in event) || !("key" in event)) return;
    const ask = askOf(event.metadata);
    if (ask?.state === "asked") this.#asked.set(ask.id, event.key);
    else if (ask !== undefined) this.#over(ask.id);
    else if (event.type === "block-end")
      for (const [id, key] of this.#asked) if (key === event.key) this.#over(id);
  }

  /** Its call has ended without the answer. */
  #over(id: string): void {
    this.#asked.delete(id);
    this.#cancel(id);
  }

  /** All that was said before it is written: what is not shown by now never is. */
  cancelUnseen(id: string): void {
    if (!this.#asked.has(id)) this.#cancel(id);
  }

  cancelAll(): void {
    for (const id of [...this.#waiting.keys()]) this.#cancel(id);
  }

  #cancel(id: string): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    waiting?.respond({ result: cancelledResponse(waiting.method) });
  }
}
