/**
 * Bounds the bytes of all request bodies held at once: each body has a bound of its own, but a caller could send one on every
 * connection. The owner has a share that no one else can use; every other caller has one, and all of them together.
 *
 * A request counts with its declared length; without one, with its route's maximum.
 */

import type { IncomingMessage } from "node:http";
import type { Caller } from "../access/auth.ts";
import { GUEST_BODY_BYTES, GUESTS_BODY_BYTES, OWNER_BODY_BYTES } from "./limits.ts";

export class BodyBudget {
  readonly #held = new Map<string, number>();
  #guests = 0;

  /** How to give back what was taken; undefined if there is not enough. */
  take({ agent, role }: Caller, { headers }: IncomingMessage, maxBytes: number): (() => void) | undefined {
    const said =
      headers["transfer-encoding"] === undefined ? Number(headers["content-length"] ?? 0) : maxBytes;
    const bytes = Math.min(said, maxBytes);
    const who = `${role} ${agent}`;
    const isGuest = role !== "owner";
    if ((this.#held.get(who) ?? 0) + bytes > (isGuest ? GUEST_BODY_BYTES : OWNER_BODY_BYTES))
      return undefined;
    if (isGuest && this.#guests + bytes > GUESTS_BODY_BYTES) return undefined;
    this.#add(who, isGuest, bytes);
    return () => this.#add(who, isGuest, -bytes);
  }

  #add(who: string, isGuest: boolean, bytes: number): void {
    const held = (this.#held.get(who) ?? 0) + bytes;
    if (held > 0) this.#held.set(who, held);
    else this.#held.delete(who);
    if (isGuest) this.#guests += bytes;
  }
}
