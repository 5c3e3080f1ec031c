/**
 * What an agent says when only the process that started it is gone: it answers the prompt with "cancelled", which nobody asked for,
 * and some say it twice. Such an answer is held until it is known whether the agent's process lives on. It is no answer then, only a
 * line of the traffic that is kept.
 */

import { isObject, parseJson } from "@blockyard/providers";

export class Farewell {
  readonly #held: string[] = [];

  /** Whether a line of the traffic waits: such an answer, and everything behind it. */
  holds(record: string, isStopping: boolean): boolean {
    if (this.#held.length === 0 && (isStopping || !isCancelled(record))) return false;
    this.#held.push(record);
    return true;
  }

  get isSaid(): boolean {
    return this.#held.length > 0;
  }

  /** The lines, in their order. */
  lines(): readonly string[] {
    return this.#held.splice(0);
  }

  /** The lines as a reader of the traffic passes them over. */
  passedOver(): readonly string[] {
    return this.lines().map((record) => JSON.stringify({ dir: "end", said: parseJson(record) ?? record }));
  }
}

function isCancelled(record: string): boolean {
  if (!record.includes("cancelled")) return false;
  const traffic = parseJson(record);
  const message = isObject(traffic) && typeof traffic.line === "string" ? parseJson(traffic.line) : undefined;
  if (!isObject(message) || !isObject(message.result)) return false;
  return isObject(traffic) && traffic.dir === "out" && message.result.stopReason === "cancelled";
}
