/** How a turn that did not finish is marked: one that somebody stopped is not one that was interrupted. */
import type { Reason } from "@blockyard/kernel";

export function endedState(reason: Reason | undefined): "stopped" | "interrupted" | "failed" {
  if (reason === "cancelled") return "stopped";
  return reason === "interrupted" ? "interrupted" : "failed";
}
