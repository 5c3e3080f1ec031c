/**
 * An ACP agent's open requests, by id. Each request is answered once: by the owner, or as cancelled if it cannot be
 * shown, its call has ended, or the turn is stopped.
 */

import type { BlockEvent, BlockKey } from "@blockyard/kernel";
import type { Answer } from "../../run.ts";
import { OpenAsks } from "../open-asks.ts";
import { acpResponse, cancelledResponse } from "./answer.ts";
import type { Respond } from "./peer.ts";

interface Waiting {
  readonly method: string;
  readonly respond: Respond;
}

export class AcpAsks {
  readonly #asks = new OpenAsks<Waiting>(({ method, respond }) =>
    respond({ result: cancelledResponse(method) }),
  );

  get isOpen(): boolean {
    return this.#asks.isOpen;
  }

  get isFull(): boolean {
    return this.#asks.isFull;
  }

  /** The block that shows what is asked. */
  blockOf(ask: string): BlockKey | undefined {
    return this.#asks.blockOf(ask);
  }

  add(id: string, method: string, respond: Respond): void {
    this.#asks.add(id, { method, respond });
  }

  /** Whether anybody waited for it. */
  answer(answer: Answer): boolean {
    const waiting = this.#asks.take(answer.ask);
    waiting?.respond({ result: acpResponse(answer) });
    return waiting !== undefined;
  }

  heard(event: BlockEvent): void {
    this.#asks.heard(event);
  }

  /** All that was said before it is written: what is not shown by now never is. */
  cancelUnseen(id: string): void {
    this.#asks.settle(id);
  }

  cancelAll(): void {
    this.#asks.refuseAll();
  }
}
