/**
 * The blocks that a client has open as CRDT documents. Each is reopened after a reconnect, from its listener's state, and with
 * growing pauses after temporary problems. The documents belong to the listeners.
 */

import type { BlockId } from "../../model/ids.ts";
import { isPassing, type Problem } from "../../model/problem.ts";
import type { Env } from "../../ports/env.ts";
import { Retry } from "../../ports/retry.ts";
import { type ClientFrame, fromBase64, type ServerFrame, toBase64 } from "../frame.ts";

export interface SyncListener {
  update(update: Uint8Array, version: number): void;
  refused(problem: Problem): void;
  /** The state vector, so that a resume gets only what is missing. */
  vector?(): Uint8Array;
}

interface Synced {
  readonly listener: SyncListener;
  readonly retry: Retry;
}

export class Syncs {
  readonly #env: Env;
  readonly #send: (frame: ClientFrame) => void;
  readonly #open = new Map<BlockId, Synced>();

  constructor(env: Env, send: (frame: ClientFrame) => void) {
    this.#env = env;
    this.#send = send;
  }

  open(block: BlockId, listener: SyncListener, vector?: Uint8Array): void {
    this.#open.get(block)?.retry.over();
    this.#open.set(block, { listener, retry: new Retry(this.#env) });
    this.#ask(block, vector);
  }

  close(block: BlockId): void {
    this.#open.get(block)?.retry.over();
    this.#open.delete(block);
    this.#send({ type: "unsync", block });
  }

  /** There is a connection again. */
  reopen(): void {
    for (const [block, { listener }] of this.#open) this.#ask(block, listener.vector?.());
  }

  disconnected(): void {
    for (const { retry } of this.#open.values()) retry.over();
  }

  received(frame: ServerFrame & { type: "state" | "update" }): void {
    const synced = this.#open.get(frame.block);
    if (!synced) return;
    const { listener, retry } = synced;
    if ("problem" in frame) {
      if (!isPassing(frame.problem)) return listener.refused(frame.problem);
      return retry.later(() => this.#ask(frame.block, listener.vector?.()));
    }
    if (frame.type === "state") retry.over();
    const update = fromBase64(frame.update);
    if (update) listener.update(update, frame.version);
  }

  #ask(block: BlockId, vector: Uint8Array | undefined): void {
    this.#send({ type: "sync", block, ...(vector ? { vector: toBase64(vector) } : {}) });
  }
}
