/**
 * Why a block ended before its time, in a word.
 */
import { REASON_WORDS, type Reason as ReasonName } from "@blockyard/kernel";
import type { ReactNode } from "react";

export function Reason({ reason }: { reason: ReasonName | undefined }): ReactNode {
  return reason === undefined ? null : (
    <span className={`reason reason-${reason}`}>{REASON_WORDS[reason] ?? reason}</span>
  );
}
