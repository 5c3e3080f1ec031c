/**
 * Turns a file block into a code block when a fork or an import copies it. A block is a file only while the workspace has it
 * open; a copied file block would look like one, be found as one, and never be saved.
 */

import type { Json, JsonObject } from "./json.ts";
import type { Kind } from "./kind.ts";

/** Metadata about the file on disk, which does not apply to a copy. */
const OF_THE_DISK = new Set([
  "path",
  "persistedVersion",
  "baseHash",
  "conflict",
  "missing",
  "eol",
  "encoding",
]);

export function copiedKind(
  kind: Kind,
  metadata: JsonObject,
): { readonly kind: Kind; readonly metadata: JsonObject } {
  if (kind !== "file") return { kind, metadata };
  const kept: Record<string, Json> = {};
  for (const [key, value] of Object.entries(metadata)) if (!OF_THE_DISK.has(key)) kept[key] = value;
  const { path } = metadata;
  return { kind: "code", metadata: { ...kept, ...(typeof path === "string" ? { filename: path } : {}) } };
}
