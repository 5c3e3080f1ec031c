/**
 * Which effects each tool of the loop has: one line for every tool. A tool without a line asks the owner every time, and
 * fails a test.
 */

import { isProblem } from "@blockyard/kernel";
import type { Effect, EffectKind } from "../../../access/effect.ts";
import type { Sandbox } from "../../../sandbox/sandbox.ts";
import type { Workspace } from "./workspace.ts";

/** What is known of the files that a call names. */
interface EffectWorld {
  readonly workspace: Pick<Workspace, "place" | "guardOf">;
  readonly sandbox?: Pick<Sandbox, "state"> | undefined;
  /** The paths of files of the workspace whose blocks an input names. */
  filesIn(input: unknown): Promise<readonly string[]>;
}

type EffectsOf = (input: unknown, world: EffectWorld) => Promise<readonly Effect[]>;

const LOOP_EFFECTS: ReadonlyMap<string, EffectsOf> = new Map<string, EffectsOf>([
  ["read", onPath("read")],
  ["write", onPath("write")],
  ["edit", onPath("write")],
  ["bash", running],
  // They look into no guarded file, whatever folder they are given: see Workspace.read.
  ["glob", nothing],
  ["grep", nothing],
  ["todo", nothing],
  ["block_append", onBlocks("write")],
  ["block_apply_patch", onBlocks("write")],
  ["block_create", creating],
  ["block_edit", onBlocks("write")],
  ["block_history", onBlocks("read")],
  ["block_list", onBlocks("read")],
  ["block_read", onBlocks("read")],
  ["block_redo", onBlocks("write")],
  ["block_search", onBlocks("read")],
  ["block_splice", onBlocks("write")],
  ["block_status", onBlocks("write")],
  ["block_sync", onBlocks("read")],
  ["block_undo", onBlocks("write")],
  // It finds nothing in guarded files that are not granted.
  ["kernel_search", nothing],
]);

/** The effects of a call, whichever tool it is. */
export async function effectsOf(
  tool: string,
  input: unknown,
  world: EffectWorld,
): Promise<readonly Effect[]> {
  const effects = LOOP_EFFECTS.get(tool);
  return effects ? effects(input, world) : [{ kind: "run", unknown: `the effect of ${tool} is unknown` }];
}

async function nothing(): Promise<readonly Effect[]> {
  return [];
}

/** What cannot be confined here asks every time. */
async function running(_: unknown, { sandbox }: EffectWorld): Promise<readonly Effect[]> {
  const state = await sandbox?.state();
  return [{ kind: "run", ...(state === undefined || state.isChosen ? {} : { unknown: state.words }) }];
}

/** Of a path that leads nowhere the tool says itself what is wrong. */
function onPath(kind: EffectKind): EffectsOf {
  return async (input, { workspace }) => {
    const place = await workspace.place(String((input as { path?: unknown }).path));
    return [isProblem(place) ? { kind } : effectOn(kind, place.name, workspace)];
  };
}

function onBlocks(kind: EffectKind): EffectsOf {
  return async (input, { filesIn, workspace }) =>
    (await filesIn(input)).map((path) => effectOn(kind, path, workspace));
}

/** A block that is a file is made on the disk. */
async function creating(input: unknown, world: EffectWorld): Promise<readonly Effect[]> {
  const { kind, metadata } = (input ?? {}) as { kind?: unknown; metadata?: { path?: unknown } };
  const above = await onBlocks("read")(input, world);
  if (kind !== "file") return above;
  return [...above, ...(await onPath("write")({ path: metadata?.path }, world))];
}

function effectOn(kind: EffectKind, path: string, workspace: EffectWorld["workspace"]): Effect {
  const guard = workspace.guardOf(path);
  return { kind, path, ...(guard === undefined ? {} : { guard }) };
}
