/**
 * Effects: what a tool call would do to the world, as kind of effect and class of path. Permission is about effects, never
 * about tools: the same write asks the same question whether it comes as `write`, `edit` or `block_edit`.
 *
 * Pure. Which effects a call has is said by the table of the loop's tools (turns/loop/tools/effects.ts).
 */

import type { Allowance } from "./allowance.ts";

/** In this order they are named to people. */
const EFFECT_KINDS = ["read", "write", "run", "fetch"] as const;
export type EffectKind = (typeof EFFECT_KINDS)[number];

const PATH_CLASSES = ["ordinary", "guarded"] as const;
type PathClass = (typeof PATH_CLASSES)[number];

export interface Effect {
  readonly kind: EffectKind;
  /** The file that it is about, from the workspace's root. */
  readonly path?: string;
  /** Why the file is guarded; absent where it is not, or is granted to who asks. */
  readonly guard?: string;
  /** What cannot be known of the call, so that it always asks. */
  readonly unknown?: string;
}

/** What lets an effect happen: nothing is needed, an allowance of the turn, or the owner's answer every time. */
type Leave = "free" | Allowance | "ask";

const LEAVE: Readonly<Record<EffectKind, Readonly<Record<PathClass, Leave>>>> = {
  read: { ordinary: "free", guarded: "ask" },
  write: { ordinary: "write", guarded: "ask" },
  run: { ordinary: "bash", guarded: "ask" },
  fetch: { ordinary: "ask", guarded: "ask" },
};

/** The effects for which the owner has to be asked, of a call in a turn with these allowances. */
export function toAsk(effects: readonly Effect[], allow: readonly Allowance[]): readonly Effect[] {
  return effects.filter((effect) => {
    if (effect.unknown !== undefined) return true;
    const leave = LEAVE[effect.kind][effect.guard === undefined ? "ordinary" : "guarded"];
    return leave === "ask" || (leave !== "free" && !allow.includes(leave));
  });
}

/** Whether a call only looks, so that others may run beside it. */
export function onlyReads(effects: readonly Effect[]): boolean {
  return effects.every(({ kind }) => kind === "read");
}

/** Why the owner is asked, where the call itself does not show it. */
export function reasonToAsk(asked: readonly Effect[]): string | undefined {
  const reasons = asked.flatMap(({ path, guard, unknown }) => {
    if (unknown !== undefined) return [unknown];
    return guard === undefined ? [] : [`${path} is guarded: ${guard}`];
  });
  return reasons.length === 0 ? undefined : [...new Set(reasons)].join("; ");
}
