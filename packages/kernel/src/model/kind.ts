/** The closed lists of a block: kinds, roles, statuses, stages and reasons, and which transitions are allowed. */

export const KINDS = [
  "text",
  "thinking",
  "tool_call",
  "tool_result",
  "code",
  "command",
  "file_change",
  "todo",
  "image",
  "file",
  "error",
  "unknown",
] as const;
export type Kind = (typeof KINDS)[number];

export const ROLES = ["user", "model", "system", "tool"] as const;
export type Role = (typeof ROLES)[number];

export const STATUSES = ["pending", "running", "done", "error"] as const;
export type Status = (typeof STATUSES)[number];

export const STAGES = ["start", "streaming", "running", "end"] as const;
export type Stage = (typeof STAGES)[number];

/** Why a block or turn ended; its `status` says only that it did. */
export const REASONS = ["failed", "cancelled", "interrupted", "denied", "retracted", "truncated"] as const;
export type Reason = (typeof REASONS)[number];

/** Kinds that are the result of a tool call. Their parent is the call. */
export const RESULT_KINDS: readonly Kind[] = ["tool_result", "code", "command", "file_change", "todo"];

export function isEnded(status: Status): boolean {
  return status === "done" || status === "error";
}

/** pending → running → done | error; steps may be skipped, never reversed. */
export function canFollow(from: Status, to: Status): boolean {
  if (isEnded(from)) return false;
  return from === "pending" ? to !== "pending" : to !== "pending" && to !== "running";
}

/** start → streaming* → running* → end. Streaming may come back after running (output increments). */
export function stageCanFollow(from: Stage, to: Stage): boolean {
  if (from === "end" || to === "start") return false;
  return true;
}
