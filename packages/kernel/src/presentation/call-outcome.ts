/**
 * The state of a tool call for readers, the same on the page, in exports and in a terminal. A call that only waits for
 * its result is neither running nor failed: an API requested it, and anybody may bring the result.
 */
import { isEnded, type Status } from "../model/kind.ts";
import type { AnyMetadata } from "../model/metadata.ts";

interface Stated {
  readonly status: Status;
  readonly metadata: Pick<AnyMetadata, "reason" | "success" | "waiting">;
}

interface CallOutcome {
  readonly state: "done" | "failed" | "denied" | "stopped" | "waiting" | "running";
  /** Nothing where it is done. */
  readonly word: string;
}

export function callOutcome({ status, metadata }: Stated): CallOutcome {
  const { reason, success, waiting } = metadata;
  if (!isEnded(status))
    return waiting === "result"
      ? { state: "waiting", word: "waiting for result" }
      : { state: "running", word: "running" };
  if (reason === "denied") return { state: "denied", word: "denied" };
  if (reason === "cancelled") return { state: "stopped", word: "stopped" };
  if (status === "done" && success !== false) return { state: "done", word: "" };
  return { state: "failed", word: reason ?? "failed" };
}

/** Whether somebody is at work on the block, or may be. */
export function isAtWork(block: Stated): boolean {
  return !isEnded(block.status) && callOutcome(block).state !== "waiting";
}
