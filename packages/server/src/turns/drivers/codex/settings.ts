/**
 * A turn's settings in Codex's terms: how freely it works, where, with which model, and what it reads.
 *
 * Without a mode, approvals and sandbox are not set: then the user's own Codex configuration decides.
 */

import type { JsonObject } from "@blockyard/kernel";
import type { Mode, SandboxChoice } from "../../mode.ts";

/** Approvals and sandbox of each mode. In plan and ask nothing is written without approval; edits stay in the workspace. */
const MODES: Readonly<Record<Mode, JsonObject>> = {
  plan: { approvalPolicy: "on-request", sandbox: "read-only" },
  ask: { approvalPolicy: "on-request", sandbox: "read-only" },
  edits: { approvalPolicy: "on-request", sandbox: "workspace-write" },
  full: { approvalPolicy: "never", sandbox: "danger-full-access" },
};

export interface Wanted {
  readonly cwd: string;
  readonly model?: string | undefined;
  readonly effort?: string | undefined;
  readonly mode?: Mode | undefined;
  /** Replaces the mode's own. */
  readonly sandbox?: SandboxChoice | undefined;
  /** The thread to resume. */
  readonly session?: string | undefined;
}

/** A thread: new or resumed. Its history is not loaded: the conversation has it. */
export function threadRequest({ cwd, model, mode, sandbox, session }: Wanted): {
  readonly method: string;
  readonly params: JsonObject;
} {
  const params: JsonObject = {
    cwd,
    ...(model === undefined ? {} : { model }),
    ...(mode === undefined ? {} : MODES[mode]),
    ...(sandbox === undefined ? {} : { sandbox }),
  };
  if (session === undefined) return { method: "thread/start", params };
  return { method: "thread/resume", params: { ...params, threadId: session, excludeTurns: true } };
}

/** A turn's settings stay in force for later ones: so a known mode is always sent. */
export function modeParams({ mode, effort }: Wanted, opened: JsonObject): JsonObject {
  const { model, reasoningEffort } = opened;
  const thinks = effort === undefined ? {} : { effort };
  if (mode === undefined || typeof model !== "string") return thinks;
  const reasoning_effort = effort ?? reasoningEffort ?? null;
  const settings = { model, reasoning_effort, developer_instructions: null };
  return { ...thinks, collaborationMode: { mode: mode === "plan" ? "plan" : "default", settings } };
}

export interface Input {
  readonly texts: readonly string[];
  readonly picturePaths: readonly string[];
}

export function inputOf({ texts, picturePaths }: Input): JsonObject[] {
  return [
    ...picturePaths.map((path) => ({ type: "localImage", path })),
    ...texts.filter((text) => text !== "").map((text) => ({ type: "text", text, text_elements: [] })),
  ];
}

/** Of a user agent, `name/0.166.0 (…)`. */
export function versionOf(userAgent: unknown): readonly [number, number] | undefined {
  const match = /\/(\d+)\.(\d+)\.\d+/.exec(typeof userAgent === "string" ? userAgent : "");
  return match === null ? undefined : [Number(match[1]), Number(match[2])];
}

export function isOlder(version: readonly [number, number], than: readonly [number, number]): boolean {
  return version[0] < than[0] || (version[0] === than[0] && version[1] < than[1]);
}
