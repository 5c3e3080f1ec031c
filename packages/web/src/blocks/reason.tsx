/**
 * Why a block ended before its time, in a word.
 */
import type { Reason as ReasonName } from "@blockyard/kernel";
import type { ReactNode } from "react";

const WORDS: Readonly<Record<ReasonName, string>> = {
  failed: "failed",
  cancelled: "stopped",
  interrupted: "interrupted",
  denied: "denied",
  retracted: "taken back",
  truncated: "cut short",
};

export function Reason({ reason }: { reason: ReasonName | undefined }): ReactNode {
  return reason === undefined ? null : (
    <span className={`reason reason-${reason}`}>{WORDS[reason] ?? reason}</span>
  );
}
