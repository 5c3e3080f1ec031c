/**
 * An answered permission request in words, for whoever reads a conversation: the page, exports, the command. One place, so
 * that all of them say the same. What the agent is told is apart from it (a model reads that).
 */

import type { Metadata } from "./block.ts";

type Approval = NonNullable<Metadata<"tool_call">["approval"]>;

/** `self` is the reader, who is spoken to; `reason` is why its call ended. Empty while nobody has answered. */
export function approvalWords(
  { state, answeredBy, message }: Approval,
  self?: string,
  reason?: unknown,
): string {
  if (state === "asked") return "";
  if (state === "expired") {
    if (reason === "cancelled") return "Not answered: the turn was stopped";
    return reason === "interrupted" ? "Not answered: the turn was cut off" : "Nobody answered in time";
  }
  const who = answeredBy === self ? "You" : answeredBy;
  const what = who === undefined ? (state === "denied" ? "Denied" : "Allowed") : `${who} ${state} this`;
  return message ? `${what}: ${message}` : what;
}

/** The result of a call that was denied, or stopped while it asked, says only that: the request says so already, and who did it. */
export function repeatsDenial(
  call: { readonly approval?: unknown; readonly reason?: unknown },
  result: { readonly isError?: unknown },
): boolean {
  const state = (call.approval as Approval | undefined)?.state;
  const hasRun = state !== "denied" && !(state === "expired" && call.reason === "cancelled");
  return !hasRun && result.isError === true;
}
