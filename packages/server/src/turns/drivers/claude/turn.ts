/** What a turn of Claude Code is run with. Only shapes: it is run in run.ts. */

import type { BlockEvent, JsonObject, Kernel } from "@blockyard/kernel";
import type { StreamIngest } from "../../../ingest/ingest-stream.ts";
import type { Mode } from "../../mode.ts";
import type { ClaudePeer } from "./peer.ts";

export interface ClaudeTurn {
  readonly kernel: Kernel;
  readonly peer: ClaudePeer;
  /** Created here, so that it gets every event, and knows where the session can be cut at the end of a turn. */
  readonly stream: (onEvent: (event: BlockEvent) => void, cut: () => string | undefined) => StreamIngest;
  /** The prompt that it reads first; undefined: it has begun by itself. */
  readonly input: (JsonObject & { readonly uuid: string }) | undefined;
  /** The process may have begun something by itself, which is not this turn. */
  readonly mayBeEarly: boolean;
  readonly mode: Mode | undefined;
  readonly effort: string | undefined;
  readonly model: string | undefined;
  /** It resumes a session that may be gone, or is a process that may be gone: then it outputs nothing before that. */
  readonly mayBeLost: boolean;
  /** Its message if it does not have the session. */
  readonly lost: RegExp;
  /** Its process may wait for the next turn. */
  readonly keeps: boolean;
  /** It is about to write rules that the owner allows into its settings of the folder. */
  readonly keepsRules?: (kept: { file: string; rules: readonly string[] }) => void;
  /** What was spent while the turn continues, because agents work in the background. */
  readonly keepsCost?: (costUsd: number) => void;
  readonly silentMs: number | undefined;
  readonly lingerMs: number | undefined;
  readonly graceMs: number | undefined;
}
