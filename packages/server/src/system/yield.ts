/** The priority of a thread that searches or exports: writers come first if there are not enough cores. */

import { constants, getPriority, setPriority } from "node:os";

/** How much lower it is: on a busy core the thread has about a quarter of the time. */
const YIELDS = 5;

/** Lowers the priority of the calling thread. Linux has priorities of threads; elsewhere it would be the whole program's. */
export function yieldToWriters(): void {
  if (process.platform !== "linux") return;
  setPriority(0, Math.min(getPriority(0) + YIELDS, constants.priority.PRIORITY_LOW));
}
