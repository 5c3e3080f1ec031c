/**
 * The outside world, as far as the kernel needs it: time, timers, randomness. All of it is passed in, so that one
 * seed can drive a whole simulated system. Nothing in this package reads a clock or a random source by itself.
 */

import { assert } from "../model/assert.ts";
import { sha256 } from "../model/sha256.ts";

const utf8 = new TextEncoder();

export interface Env {
  /** Wall clock, milliseconds. For people only: order never depends on it, and it may jump either way. */
  now(): number;
  /** Monotonic milliseconds, for durations and deadlines. */
  monotonic(): number;
  /** Calls `run` once after `delayMs`; the returned function cancels it. */
  after(delayMs: number, run: () => void): () => void;
  /** Calls `run` soon, after what is already queued: this is where group commits form. */
  soon(run: () => void): void;
  /** An unsigned 32-bit random number. */
  random(): number;
}

export const ID_ALPHABET = "abcdefghijkmnpqrstuvwxyz23456789"; // 32 symbols, none of them mistaken for another

/** A short random name, 5 bits a character. */
export function randomName(env: Env, length: number): string {
  let name = "";
  while (name.length < length) {
    let bits = env.random();
    for (let i = 0; i < 6 && name.length < length; i++) {
      name += ID_ALPHABET[bits & 31];
      bits >>>= 5;
    }
  }
  return name;
}

/** A name derived from a text: equal texts, equal names; nobody can find another text with the same name. Not secret. */
export function derivedName(text: string, length: number): string {
  const digest = sha256(utf8.encode(text));
  assert(length * 5 <= digest.length * 8, "a derived name has at most 51 characters");
  let name = "";
  for (let at = 0; name.length < length; at += 5) {
    const pair = ((digest[at >> 3] ?? 0) << 8) | (digest[(at >> 3) + 1] ?? 0);
    name += ID_ALPHABET[(pair >> (11 - (at & 7))) & 31];
  }
  return name;
}
