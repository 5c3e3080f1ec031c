/** What a conversation says of an agent's process that has ended, or whose session is gone. */

import type { Reason } from "@blockyard/kernel";
import type { StreamIngest } from "../ingest/ingest-stream.ts";
import type { ChildEnd } from "../processes/child.ts";
import { bounds } from "./drivers/limits.ts";
import type { RunEnd } from "./run.ts";

export const STOPPED = "Stopped.";
export const LOST =
  "The agent no longer has this conversation's session: it deletes old ones, and may find one only in the " +
  "folder where it started. The next message starts a new session with the conversation so far.";

export const TOO_MANY_ASKS = `The agent was ended: more than ${bounds.openAsks} of its requests waited for an answer.`;

export function explain(end: ChildEnd, stopping: Reason | undefined): string {
  if (end.failed !== undefined) return `The agent could not be started: ${end.failed}`;
  if (stopping === "cancelled") return STOPPED;
  const said = end.stderr.trim();
  return `The agent ended ${howEnded(end)} before its turn was over.${said === "" ? "" : `\n\n${said}`}`;
}

export function howEnded({ code, signal }: Pick<ChildEnd, "code" | "signal">): string {
  return signal === null ? `with exit code ${code}` : `by signal ${signal}`;
}

/** For a run whose output could not be stored: it does not continue unseen. Its process is gone by then. */
export async function endUnstored(stream: StreamIngest, error: unknown): Promise<RunEnd> {
  const why = unstored(String(error));
  stream.explain({ reason: "failed", error: why });
  await stream.end().catch(() => undefined);
  return { error: why, isExpected: false };
}

export function unstored(why: string): string {
  return `The agent's output could not be stored: ${why}`;
}
