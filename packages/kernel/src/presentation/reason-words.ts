/** Why a block ended before its time, in a word: the same on the page and in exports. */

import type { Reason } from "../model/kind.ts";

export const REASON_WORDS: Readonly<Record<Reason, string>> = {
  failed: "failed",
  cancelled: "stopped",
  interrupted: "interrupted",
  denied: "denied",
  retracted: "retracted",
  truncated: "cut short",
};

/** Why a text ended before its time, for its own place. `foot`: its turn, if it is the last of it, since the foot then says the same. */
export function reasonShown(
  reason: Reason | undefined,
  foot: { readonly reason?: Reason | undefined } | undefined,
): Reason | undefined {
  return reason !== "retracted" && reason === foot?.reason ? undefined : reason;
}

/** The code of an error, if it is informative: agents also have codes for unknown errors. */
export function knownCode(code: string | undefined): string | undefined {
  return code === undefined || /^(?:unknown|other|error)?$/i.test(code.trim()) ? undefined : code;
}
