/**
 * The pending calls of a client. Those with a key are resent after a reconnect, and applied once. Those without are answered with
 * a problem when the connection is lost.
 *
 * It knows no socket: `send` takes frames, and returns whether there was a connection.
 */

import type { BlockId } from "../../model/ids.ts";
import type { Json } from "../../model/json.ts";
import { isPassing, type Problem, problem } from "../../model/problem.ts";
import type { Env } from "../../ports/env.ts";
import { Retry } from "../../ports/retry.ts";
import { type ClientFrame, type ServerFrame, toBase64 } from "../frame.ts";

interface PendingCall {
  readonly frame: ClientFrame & { type: "call" | "update" };
  readonly settle: (answer: Json | Problem) => void;
  /** It has a key, so it can be resent. */
  readonly again: boolean;
  readonly retry: Retry;
}

export class Calls {
  readonly #env: Env;
  /** The client's name: keys begin with it. */
  readonly #name: string;
  readonly #send: (frame: ClientFrame) => boolean;
  #next = 1;
  readonly #pending = new Map<number, PendingCall>();

  constructor(env: Env, name: string, send: (frame: ClientFrame) => boolean) {
    this.#env = env;
    this.#name = name;
    this.#send = send;
  }

  call(tool: string, input: unknown, isWrite: boolean): Promise<Json | Problem> {
    const id = this.#next++;
    const key = isWrite ? { key: `${this.#name}-${id}` } : {};
    return this.#ask({ type: "call", id, tool, input: input as Json, ...key }, isWrite);
  }

  update(block: BlockId, update: Uint8Array): Promise<Json | Problem> {
    const id = this.#next++;
    const key = `${this.#name}-${id}`;
    return this.#ask({ type: "update", id, block, update: toBase64(update), key }, true);
  }

  #ask(frame: ClientFrame & { type: "call" | "update" }, again: boolean): Promise<Json | Problem> {
    return new Promise((settle) => {
      this.#pending.set(frame.id, { frame, settle, again, retry: new Retry(this.#env) });
      if (this.#send(frame) || again) return;
      this.#pending.delete(frame.id);
      settle(problem("unavailable", "not connected"));
    });
  }

  /** There is a connection again. */
  resend(): void {
    for (const { frame } of this.#pending.values()) this.#send(frame);
  }

  disconnected(): void {
    for (const [id, call] of this.#pending) {
      call.retry.over();
      if (call.again) continue;
      this.#pending.delete(id);
      call.settle(problem("unavailable", "the connection was lost before the result arrived"));
    }
  }

  answered(frame: ServerFrame & { type: "answer" }): void {
    const call = this.#pending.get(frame.id);
    if (!call) return;
    if ("problem" in frame && isAskedAgain(call, frame.problem)) {
      call.retry.later(() => this.#send(call.frame));
      return;
    }
    this.#pending.delete(frame.id);
    call.settle("problem" in frame ? frame.problem : frame.answer);
  }
}

/**
 * Updates of a merging editor are resent until they are written: repeating one changes nothing. Other writes are resent only if
 * their outcome is unknown: their key makes that safe.
 */
function isAskedAgain({ frame, again }: PendingCall, refused: Problem): boolean {
  return frame.type === "update" ? isPassing(refused) : again && refused.problem === "uncertain";
}
