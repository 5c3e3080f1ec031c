/**
 * Paths as somebody in the conversation's folder would write them: what lies in it is shown without it. The whole path stays in
 * the block, for hovers, links and copies.
 */

import type { AnyMetadata } from "../model/metadata.ts";

/** The characters before the folder if it is part of a longer path, and after it if its name continues. */
const BEFORE = /[\w./\\~@:%+-]/;
const AFTER = /[\w.~@%+-]/;
/** The start of a path in it. */
const INSIDE = /[^\s"'`,;:)/\\]/;

/** One path; the folder itself is ".". */
export function inFolder(path: string, folder: string | undefined): string {
  const root = rootOf(folder);
  if (root === undefined || !path.startsWith(root)) return path;
  const rest = path.slice(root.length);
  if (rest === "") return ".";
  if (!isSeparator(rest[0])) return path;
  return rest.replace(/^[/\\]+/, "") || ".";
}

/** Every path in a row of text. */
export function shortenPaths(text: string, folder: string | undefined): string {
  const root = rootOf(folder);
  if (root === undefined) return text;
  let shown = "";
  let from = 0;
  for (let at = text.indexOf(root); at !== -1; at = text.indexOf(root, from)) {
    const end = at + root.length;
    const isOwn = at === 0 || !BEFORE.test(text[at - 1] as string);
    const isInside = isSeparator(text[end]) && INSIDE.test(text[end + 1] ?? "");
    const isItself = !isInside && !AFTER.test(text[end] ?? "") && !isSeparator(text[end]);
    shown += text.slice(from, isOwn && (isInside || isItself) ? at : end);
    if (isOwn && isItself) shown += ".";
    from = isOwn && isInside ? end + 1 : end;
  }
  return shown + text.slice(from);
}

/** A block's metadata with its paths as they are shown; for documents without tooltips. */
export function withShortPaths<M extends AnyMetadata>(metadata: M, folder: string | undefined): M {
  if (rootOf(folder) === undefined) return metadata;
  const { compactParams, shortResult, error, filename, path, changes, cwd } = metadata;
  const row = (text: string) => shortenPaths(text, folder);
  return {
    ...metadata,
    ...(compactParams === undefined ? {} : { compactParams: row(compactParams) }),
    ...(shortResult === undefined ? {} : { shortResult: row(shortResult) }),
    ...(error === undefined ? {} : { error: row(error) }),
    ...(filename === undefined ? {} : { filename: inFolder(filename, folder) }),
    ...(path === undefined ? {} : { path: inFolder(path, folder) }),
    ...(cwd === undefined ? {} : { cwd: folderLabel(cwd, folder) }),
    ...(changes === undefined
      ? {}
      : {
          changes: changes.map((change) => ({
            ...change,
            path: inFolder(change.path, folder),
            ...(change.movedTo === undefined ? {} : { movedTo: inFolder(change.movedTo, folder) }),
          })),
        }),
  };
}

/** Where a command ran, if that is not where all of them do. */
export function folderLabel(cwd: string, folder: string | undefined): string | undefined {
  const label = inFolder(cwd, folder);
  return label === "." ? undefined : label;
}

/** Without a separator at its end; undefined if it is not a folder that can be left out. */
function rootOf(folder: string | undefined): string | undefined {
  const root = folder?.replace(/[/\\]+$/, "") ?? "";
  return /[/\\]./.test(root) ? root : undefined;
}

function isSeparator(char: string | undefined): boolean {
  return char === "/" || char === "\\";
}
