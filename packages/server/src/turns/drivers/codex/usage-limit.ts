/**
 * The usage limit of Codex's account, as its app-server tells of it: whether a turn has reached it, and when it is reset. It
 * ends nothing itself.
 */

import type { JsonObject } from "@blockyard/kernel";
import { isObject } from "@blockyard/providers";

export class UsageLimit {
  #isReached = false;
  #resetsAt: number | undefined;

  /** Undefined if it was not reached. */
  get reached(): { readonly resetsAt?: number } | undefined {
    if (!this.#isReached) return undefined;
    return this.#resetsAt === undefined ? {} : { resetsAt: this.#resetsAt };
  }

  notified(method: string, params: JsonObject): void {
    if (method === "account/rateLimits/updated") this.#resetsAt = resetIn(params) ?? this.#resetsAt;
    const { error, willRetry } = params;
    if (method === "error" && willRetry !== true && isObject(error))
      this.#isReached ||= error["codexErrorInfo"] === "usageLimitExceeded";
  }
}

/** When the used-up limits reset: the last of them. */
function resetIn({ rateLimits }: JsonObject): number | undefined {
  const { primary, secondary } = isObject(rateLimits) ? rateLimits : {};
  const times = [primary, secondary].flatMap((each) => {
    if (!isObject(each) || typeof each["resetsAt"] !== "number") return [];
    return typeof each["usedPercent"] === "number" && each["usedPercent"] >= 99
      ? [each["resetsAt"] * 1_000]
      : [];
  });
  return times.length === 0 ? undefined : Math.max(...times);
}
