/**
 * The workspace as the page knows it: listed folders, and the live view of opened files. A folder is requested when it
 * is first expanded; files are updated live.
 */

import type { ToolAnswer } from "@blockyard/client";
import { type Block, type ConversationId, isProblem, type View } from "@blockyard/kernel";
import { Cell } from "../state/cell.ts";
import type { Session } from "../state/session.tsx";
import { LISTED_FILES, PAGE_BLOCKS } from "./limits.ts";

type Listed = ToolAnswer<"file.list">;

export interface Entry {
  readonly path: string;
  readonly name: string;
  readonly type: Listed["entries"][number]["type"];
}

export type Folder =
  | { readonly state: "loading" }
  | { readonly state: "here"; readonly entries: readonly Entry[]; readonly more: boolean }
  | { readonly state: "failed"; readonly message: string };

/** By path; the workspace itself is ".". */
export const folders = new Cell<ReadonlyMap<string, Folder>>(new Map());

/** The view of the conversation that holds the files; stays open once a file was. */
export const workspaceView = new Cell<View | undefined>(undefined);

export async function listFolder(session: Session, path: string): Promise<void> {
  if (!folders.get().has(path)) put(path, { state: "loading" });
  const answer = await session.ask("file.list", { path, limit: LISTED_FILES });
  put(
    path,
    isProblem(answer)
      ? { state: "failed", message: answer.message }
      : { state: "here", ...readEntries(answer) },
  );
}

export interface Files {
  readonly paths: readonly string[];
  /** There are others, further down. */
  readonly more: boolean;
}

/** The files below the workspace's folder, for choosing one by a few letters. */
export async function listFiles(session: Session): Promise<Files | string> {
  const answer = await session.ask("file.list", { depth: 16, limit: 2_000 });
  if (isProblem(answer)) return answer.message;
  const { entries, more } = readEntries(answer);
  return { paths: entries.flatMap(({ path, type }) => (type === "file" ? [path] : [])), more };
}

/** Follows the files; resolves when the given one is known. */
export async function followFile(session: Session, conversation: ConversationId, id: string): Promise<View> {
  const { replica } = session;
  const known = workspaceView.get();
  const isKept = known?.conversation === conversation && replica.views.get(known.sub) === known;
  const view = isKept && known ? known : replica.subscribe(conversation);
  workspaceView.set(view);
  await opened(session, view);
  while (!view.blocks.has(id) && view.more) await replica.page(view, PAGE_BLOCKS);
  return view;
}

function opened(session: Session, view: View): Promise<void> {
  if (view.isOpen) return Promise.resolve();
  return new Promise((resolve) => {
    const stop = session.replica.listen(({ conversation }) => {
      if (conversation !== view.conversation || !view.isOpen) return;
      stop();
      resolve();
    });
  });
}

export function isDirty({ version, metadata }: Block): boolean {
  const saved = metadata.persistedVersion;
  return version > (typeof saved === "number" ? saved : 0);
}

/** What the tree marks, by path: files that are not saved, or in conflict with the disk. In one word, to compare. */
export function marksIn(view: View): string {
  const marks: string[] = [];
  for (const block of view.blocks.values()) {
    const { path, conflict } = block.metadata;
    if (block.kind !== "file" || typeof path !== "string") continue;
    if (conflict !== undefined) marks.push(`!${path}`);
    else if (isDirty(block)) marks.push(`*${path}`);
  }
  return marks.join("\n");
}

function put(path: string, folder: Folder): void {
  folders.change((known) => new Map(known).set(path, folder));
}

function foldersFirst(a: Entry, b: Entry): number {
  return Number(b.type === "folder") - Number(a.type === "folder") || a.path.localeCompare(b.path);
}

function readEntries({ entries, more }: Listed): { entries: readonly Entry[]; more: boolean } {
  const named = entries.map(({ path, type }) => ({
    path,
    type,
    name: path.slice(path.lastIndexOf("/") + 1),
  }));
  return { entries: named.sort(foldersFirst), more };
}
