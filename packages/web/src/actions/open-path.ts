/**
 * Opening a path: in the editor that the reader has chosen, by a link that the browser passes on; without an editor it
 * is copied.
 */

import { notify } from "../state/page-state.ts";
import { type Preferences, preferences } from "../state/preferences.ts";
import { copyText } from "../ui/copy.tsx";
import { absolutePath, CUSTOM, EDITORS, editorLink } from "./editors.ts";

/** Where the chosen editor opens it; undefined where none is chosen, or where the file is, is not known. */
export function linkOf(
  { editor, editorTemplate }: Pick<Preferences, "editor" | "editorTemplate">,
  path: string,
  line: number,
  root: string | undefined,
): string | undefined {
  const template = editor === CUSTOM ? editorTemplate : EDITORS.find(({ id }) => id === editor)?.template;
  const place = absolutePath(path, root);
  return template === undefined || place === undefined ? undefined : editorLink(template, place, line);
}

export function openPath(path: string, line: number, root: string | undefined): void {
  const link = linkOf(preferences.get(), path, line, root);
  if (link === undefined) return void copyPath(path, root);
  const anchor = document.createElement("a");
  anchor.href = link;
  anchor.rel = "noreferrer";
  anchor.click();
}

export async function copyPath(path: string, root: string | undefined): Promise<void> {
  const isDone = await copyText(absolutePath(path, root) ?? path);
  notify(isDone ? "Path copied" : "Couldn't copy: the browser refused", !isDone);
}
