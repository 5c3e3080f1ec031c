/**
 * Rules that the owner has allowed here and that the agent keeps in its own settings of the folder: that change is the owner's, and
 * is not asked about again. What such a file holds besides those rules has to be what it was before them.
 */

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { Json, JsonObject } from "@blockyard/kernel";
import { isObject } from "@blockyard/providers";
import { OWN_RULES_BYTES } from "./limits.ts";

/** A file of settings and the rules that the agent adds to it. */
export interface KeptRules {
  /** From the agent's folder. */
  readonly file: string;
  readonly rules: readonly string[];
}

export interface OwnRules {
  readonly rules: readonly string[];
  /** Of everything else that the file held when the first of them was allowed. */
  readonly rest: string;
}

/** A digest of a settings file without these rules; undefined if it is no such file. */
export function restOf(path: string, rules: readonly string[]): string | undefined {
  const settings = settingsIn(path);
  if (settings === undefined) return undefined;
  const { permissions, ...others } = settings;
  const allowed = isObject(permissions) ? permissions["allow"] : undefined;
  const rest: Record<string, Json> = { ...others };
  if (isObject(permissions) && (allowed === undefined || Array.isArray(allowed))) {
    const { allow: _allow, ...more } = permissions;
    const left = (allowed ?? []).filter((rule: Json) => !(typeof rule === "string" && rules.includes(rule)));
    const kept = { ...more, ...(left.length > 0 ? { allow: left } : {}) };
    if (Object.keys(kept).length > 0) rest["permissions"] = kept;
  } else if (permissions !== undefined) rest["permissions"] = permissions;
  return createHash("sha256")
    .update(JSON.stringify(sorted(rest)))
    .digest("hex");
}

/** A missing one is empty. */
function settingsIn(path: string): JsonObject | undefined {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    return (error as { code?: string }).code === "ENOENT" ? {} : undefined;
  }
  try {
    const value: Json = text.length > OWN_RULES_BYTES ? null : (JSON.parse(text) as Json);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, each]) => [key, sorted(each)]),
  );
}
