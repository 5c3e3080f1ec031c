/**
 * Paths of the workspace, as callers write them: what they mean, and which are refused before anything is touched. Pure:
 * where a path really leads is found out in root.ts.
 *
 * A clean path has one or more parts, none of them empty, `.` or `..`, none of them `.git` however it is spelt.
 */

import { type Problem, problem } from "@blockyard/kernel";
import { bounds } from "./limits.ts";

export interface CleanPath {
  readonly parts: readonly string[];
  /** The parts joined by slashes; `.` for the root itself. */
  readonly name: string;
}

/** Names that other systems treat as devices, in any folder. */
const DEVICE = /^(con|prn|aux|nul|com[0-9]|lpt[0-9]|conin\$|conout\$)$/i;
const CONTROL = /[\p{Cc}\u2028\u2029]/u;

/** `isRoot`: the root itself is a good answer. */
export function cleanPath(path: string, isRoot = false): CleanPath | Problem {
  const wrong = refusalOf(path);
  if (wrong) return wrong;
  const parts = path.split("/").filter((part) => part !== "" && part !== ".");
  if (parts.length === 0 && !isRoot) return problem("invalid", "the path does not name a file", { path });
  if (parts.length > bounds.pathParts) {
    const message = `the path has ${parts.length} parts; the limit is ${bounds.pathParts}`;
    return problem("invalid", message, { parts: parts.length, max_parts: bounds.pathParts });
  }
  for (const part of parts) {
    const refused = refusalOfPart(part, path);
    if (refused) return refused;
  }
  return { parts, name: parts.join("/") || "." };
}

/** Whether a part names git's own folder to some file system, whatever invisible or trailing characters it has. */
export function isGit(part: string): boolean {
  const name = bareName(part);
  return name === ".git" || /^git~\d+$/.test(name);
}

/** The name as some file system reads a part: without case, invisible characters, streams, and dots at the end. */
export function bareName(part: string): string {
  return shownName(part)
    .replace(/[:$].*$/, "")
    .replace(/[. ]+$/, "");
}

/** The same to one without streams, where a colon or dollar is an ordinary character. */
export function shownName(part: string): string {
  return part
    .normalize("NFKC")
    .replace(/[\p{Default_Ignorable_Code_Point}\p{Cf}]/gu, "")
    .toUpperCase() // twice: some letters have their like in one case only
    .toLowerCase()
    .replace(/[. ]+$/, "");
}

function refusalOf(path: string): Problem | undefined {
  const shown = path.slice(0, 200);
  if (CONTROL.test(path))
    return problem("invalid", "a path cannot contain control characters", { path: shown });
  if (!path.isWellFormed())
    return problem("invalid", "a path cannot contain lone surrogates", { path: shown });
  if (path.includes("\\"))
    return problem("invalid", "use slashes in paths, not backslashes", { path: shown });
  if (path.startsWith("/") || /^[A-Za-z]:/.test(path))
    return problem("forbidden", `${shown} is absolute: use a path relative to the workspace root`, {
      path: shown,
    });
  return undefined;
}

function refusalOfPart(part: string, path: string): Problem | undefined {
  const shown = path.slice(0, 200);
  if (part === "..")
    return problem(
      "forbidden",
      `${shown} leaves the workspace: use a path relative to its root, without ..`,
      {
        path: shown,
      },
    );
  if (isGit(part))
    return problem("forbidden", `${shown} is in .git, which is never touched`, { path: shown });
  if (DEVICE.test(part))
    return problem("forbidden", `${part} is a device name on some systems`, { path: shown });
  const bytes = Buffer.byteLength(part);
  if (bytes > bounds.partBytes)
    return problem("invalid", `a part of the path has ${bytes} bytes; the limit is ${bounds.partBytes}`, {
      bytes,
      max_bytes: bounds.partBytes,
    });
  return undefined;
}
