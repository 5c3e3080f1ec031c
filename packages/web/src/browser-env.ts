/**
 * The kernel's `env` in a browser: clock, timers and randomness of the page. The only file that makes one.
 */
import type { Env } from "@blockyard/kernel";

export const browserEnv: Env = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(delayMs, run) {
    const timer = setTimeout(run, delayMs);
    return () => clearTimeout(timer);
  },
  soon: (run) => queueMicrotask(run),
  random: () => (crypto.getRandomValues(new Uint32Array(1))[0] as number) >>> 0,
};
