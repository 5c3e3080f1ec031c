/**
 * Which records of a log lie on a branch that was left: the records form a tree by `parentUuid`, and the conversation
 * is the path to the last one. Results of parallel calls are side twigs of that path and belong to it; a prompt that
 * hangs on the path without being part of it begins a branch that somebody went back from.
 */

import type { JsonObject } from "@blockyard/kernel";
import { textOf } from "../read.ts";

/** The uuids of all records below such a prompt. */
export function leftBranches(
  records: readonly JsonObject[],
  isPrompt: (record: JsonObject) => boolean,
): ReadonlySet<string> {
  const parents = new Map<string, string>();
  for (const record of records) {
    const uuid = textOf(record.uuid);
    const parent = textOf(record.parentUuid) ?? textOf(record.logicalParentUuid);
    if (uuid !== undefined && parent !== undefined && !parents.has(uuid)) parents.set(uuid, parent);
  }
  const path = pathTo(lastOf(records), parents);
  const left = new Set<string>();
  for (const record of records) {
    const uuid = textOf(record.uuid);
    if (uuid === undefined || path.has(uuid) || record.isSidechain === true) continue;
    const parent = parents.get(uuid);
    if (parent === undefined) continue;
    if (left.has(parent) || (path.has(parent) && isPrompt(record))) left.add(uuid);
  }
  return left;
}

function lastOf(records: readonly JsonObject[]): string | undefined {
  for (let i = records.length - 1; i >= 0; i--) {
    const record = records[i];
    if (record?.isSidechain === true || (record?.type !== "user" && record?.type !== "assistant")) continue;
    const uuid = textOf(record.uuid);
    if (uuid !== undefined) return uuid;
  }
  return undefined;
}

function pathTo(leaf: string | undefined, parents: ReadonlyMap<string, string>): ReadonlySet<string> {
  const path = new Set<string>();
  for (let at = leaf; at !== undefined && !path.has(at); at = parents.get(at)) path.add(at);
  return path;
}
