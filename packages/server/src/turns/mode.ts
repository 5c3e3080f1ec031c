/**
 * Permission modes: how freely an agent works. The names are the same for all agents; each driver maps those that it supports. A
 * conversation keeps the mode that was chosen last.
 */

import type { ConversationMetadata, Draft, Problem } from "@blockyard/kernel";
import { problem } from "@blockyard/kernel/plain";

/** Plan only, ask before it changes anything, edit without asking, do everything. */
export const MODES = ["plan", "ask", "edits", "full"] as const;
export type Mode = (typeof MODES)[number];

/** Whether one lets an agent do more than the other, without being asked. */
export function isFreer(mode: Mode, than: Mode): boolean {
  return MODES.indexOf(mode) > MODES.indexOf(than);
}

/** How an agent confines the commands that it runs, where that can be chosen apart from its mode. */
export const SANDBOXES = ["read-only", "workspace-write", "danger-full-access"] as const;
export type SandboxChoice = (typeof SANDBOXES)[number];
export const confinements = SANDBOXES.filter((each) => each !== "danger-full-access");

/** What a turn may do without asking. */
export interface Freedom {
  readonly allow?: unknown;
  readonly mode?: Mode | undefined;
  readonly sandbox?: SandboxChoice | undefined;
}

/** Whether it may do anything. */
export function isFree({ allow, mode, sandbox }: Freedom): boolean {
  const isUnasked = mode !== undefined && isFreer(mode, "ask");
  const isUnconfined = sandbox !== undefined && sandbox !== "read-only";
  return (Array.isArray(allow) && allow.length > 0) || isUnasked || isUnconfined;
}

/** The choices that a driver offers. */
interface Choosable {
  readonly abilities: { readonly modes: readonly Mode[]; readonly sandboxes: readonly SandboxChoice[] };
  /** How to give full access to an agent that could have it and does not; absent if nothing does. */
  readonly fullNeeds?: string;
}

const FULL_NEEDS = "start the server with --full-access first";

/** Full access is offered only where the owner has started the server with it. */
export function withoutFull<T extends Choosable>(driver: T): T {
  const { modes, sandboxes } = driver.abilities;
  const hasFull = modes.includes("full") || sandboxes.includes("danger-full-access");
  const abilities = {
    ...driver.abilities,
    modes: modes.filter((mode) => mode !== "full"),
    sandboxes: sandboxes.filter((sandbox) => sandbox !== "danger-full-access"),
  };
  return { ...driver, abilities, ...(hasFull ? { fullNeeds: FULL_NEEDS } : {}) };
}

export function checkMode(
  provider: string,
  { abilities: { modes }, fullNeeds }: Choosable,
  mode: Mode | undefined,
): Problem | undefined {
  if (mode === undefined || modes.includes(mode)) return undefined;
  const why =
    mode === "full" && fullNeeds !== undefined
      ? `${provider} does not support the mode full here: ${fullNeeds}`
      : modes.length === 0
        ? `${provider} does not let you choose a mode: leave it out`
        : `${provider} has no mode ${mode}. Use ${modes.join(" or ")}`;
  return problem("invalid", why, { modes: [...modes] });
}

export function checkSandbox(
  provider: string,
  { abilities: { sandboxes }, fullNeeds }: Choosable,
  sandbox: SandboxChoice | undefined,
): Problem | undefined {
  if (sandbox === undefined || sandboxes.includes(sandbox)) return undefined;
  const why =
    sandboxes.length === 0
      ? `${provider} does not let you choose a sandbox: leave it out`
      : `${provider} does not support the sandbox ${sandbox} here${fullNeeds === undefined ? "" : `: ${fullNeeds}`}`;
  return problem("invalid", why, { sandboxes: [...sandboxes] });
}

/** Which efforts there are is known to the agent: it refuses one itself. */
export function checkEffort(
  provider: string,
  hasEfforts: boolean,
  effort: string | undefined,
): Problem | undefined {
  if (effort === undefined || hasEfforts) return undefined;
  return problem("invalid", `${provider} does not let you choose an effort: leave it out`, {
    field: "effort",
  });
}

/** The mode of a conversation, where one was chosen. */
export function modeIn(metadata: ConversationMetadata): Mode | undefined {
  return MODES.find((mode) => mode === metadata.mode);
}

/** Keeps a mode for the turns that follow. */
export function keepMode(draft: Draft, mode: Mode | undefined): void {
  if (mode !== undefined && draft.record.metadata.mode !== mode) draft.conversation({ metadata: { mode } });
}
