/**
 * Asking in which folder something shall work, where the server has said that it must be asked. Apart from the dialog, which is
 * loaded when it is first wanted.
 */
import type { Problem } from "@blockyard/kernel";
import { type FolderQuestion, overlay } from "../state/page-state.ts";

/** The question in an answer of the server, if it is one. */
export function folderQuestion({ message, details }: Problem): FolderQuestion | undefined {
  const { ask, cwd, root, missing } = details ?? {};
  if (ask !== "cwd" || typeof cwd !== "string" || typeof root !== "string") return undefined;
  const why = message.replace(/: pass the folder.*$/, "");
  const folders = missing === true ? [root] : [cwd, root];
  return { why: `${why.slice(0, 1).toUpperCase()}${why.slice(1)}.`, folders: [...new Set(folders)] };
}

/** Undefined where the dialog is closed without a choice. */
export function askFolder(question: FolderQuestion): Promise<string | undefined> {
  return new Promise((resolve) => {
    const asked = { type: "folder", question, answer: resolve } as const;
    overlay.set(asked);
    const unlisten = overlay.listen(() => {
      if (overlay.get() === asked) return;
      unlisten();
      resolve(undefined);
    });
  });
}
