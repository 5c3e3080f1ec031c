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

/** The code of an error, if it is informative: agents also have codes for unknown errors. */
export function knownCode(code: string | undefined): string | undefined {
  return code === undefined || /^(?:unknown|other|error)?$/i.test(code.trim()) ? undefined : code;
}
