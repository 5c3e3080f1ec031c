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
