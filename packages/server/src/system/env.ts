/**
 * The real outside world as the kernel's `Env`: clocks, timers, randomness of this process. The only such file.
 */

import { randomBytes } from "node:crypto";
import type { Env } from "@blockyard/kernel";

export const nodeEnv: Env = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(delayMs, run) {
    const timer = setTimeout(run, delayMs);
    return () => clearTimeout(timer);
  },
  soon: (run) => void setImmediate(run),
  random: () => randomBytes(4).readUInt32LE(),
};
