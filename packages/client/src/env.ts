/**
 * The kernel's `env` in a program that has what browsers have: clock, timers and randomness. The only file that makes one.
 */
import type { Env } from "@blockyard/kernel";

export const ownEnv: Env = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(delayMs, run) {
    const timer = setTimeout(run, delayMs);
    return () => clearTimeout(timer);
  },
  soon: (run) => queueMicrotask(run),
  random: () => (crypto.getRandomValues(new Uint32Array(1))[0] as number) >>> 0,
};
