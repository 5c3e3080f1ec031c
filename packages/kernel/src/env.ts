/**
 * The outside world, as far as the kernel needs it: time, timers, randomness. All of it is passed in, so that one
 * seed can drive a whole simulated system. Nothing in this package reads a clock or a random source by itself.
 */

export interface Env {
  /** Wall clock, milliseconds. For people only: order never depends on it, and it may jump either way. */
  now(): number;
  /** Monotonic milliseconds, for durations and deadlines. */
  monotonic(): number;
  /** Calls `run` once after `delayMs`; the returned function cancels it. */
  after(delayMs: number, run: () => void): () => void;
  /** Calls `run` soon, after what is already queued: the point where group commits are gathered. */
  soon(run: () => void): void;
  /** An unsigned 32-bit random number. */
  random(): number;
}

const ID_ALPHABET = "abcdefghijkmnpqrstuvwxyz23456789"; // 32 symbols, none of them mistaken for another

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

/** A name that follows from a text: the same text, the same name. Spread evenly, not secret. */
export function derivedName(text: string, length: number): string {
  let name = "";
  for (let lane = 1; name.length < length; lane++) {
    let bits = (0x811c9dc5 ^ Math.imul(lane, 0x9e3779b1)) >>> 0;
    for (let i = 0; i < text.length; i++) bits = Math.imul(bits ^ text.charCodeAt(i), 0x01000193);
    bits = Math.imul(bits ^ (bits >>> 15), 0x2c1b3c6d);
    bits = Math.imul(bits ^ (bits >>> 12), 0x297a2d39);
    bits = (bits ^ (bits >>> 15)) >>> 0;
    for (let i = 0; i < 6 && name.length < length; i++) {
      name += ID_ALPHABET[bits & 31];
      bits >>>= 5;
    }
  }
  return name;
}
