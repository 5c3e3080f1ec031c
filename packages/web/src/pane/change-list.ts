/**
 * Agents' changes to files, grouped by file, from the blocks that show them. Pure; it fetches nothing that is not
 * loaded.
 */
import { type Block, type BlockId, changeTexts, inFolder, type Metadata } from "@blockyard/kernel";
import { countChanges, type DiffRow, diffRows } from "../diff/diff-rows.ts";
import { netRows } from "../diff/net-diff.ts";

type Change = Metadata<"file_change">["changes"][number];

interface FileEdit {
  readonly block: BlockId;
  readonly kind: Change["kind"];
  readonly diff: string;
  readonly rows: readonly DiffRow[];
  /** It is known to have changed nothing, such as a file that was written again as it was. */
  readonly isNothing: boolean;
}

export interface ChangedFile {
  /** The path in the conversation's folder; the same however the agents wrote it. */
  readonly name: string;
  /** As the last edit has it. */
  readonly path: string;
  /** Where it was before it was moved here. */
  readonly from: string | undefined;
  /** What became of it, over all edits. */
  readonly kind: Change["kind"];
  readonly added: number;
  readonly deleted: number;
  /** What several edits come to, where that can be told from their diffs. */
  readonly net: readonly DiffRow[] | undefined;
  /** In the order in which they were made. */
  readonly edits: readonly FileEdit[];
}

/** A block that says what it changed, with its text where its changes have none of their own. */
export interface ChangeBlock {
  readonly id: BlockId;
  readonly born: number;
  readonly turn: string | undefined;
  readonly changes: readonly Change[];
  readonly text: string;
  /** Found by comparing the folder: a diff that is empty was not told. */
  readonly observed?: true | undefined;
}

type Facts = Pick<Block, "id" | "born" | "kind" | "status" | "metadata">;

export function changeBlockOf(block: Facts, text: string): ChangeBlock | undefined {
  const { id, born, kind, status } = block;
  const { changes, isError, turn, observed } = block.metadata;
  if (kind !== "file_change" || changes === undefined) return undefined;
  // What was refused or failed changed nothing.
  if (status === "error" || isError === true) return undefined;
  return { id, born, turn, changes, text, observed: observed ? true : undefined };
}

/** One that agents named by its whole path, and another time from `folder` on, is one file. */
export function changedFiles(
  blocks: readonly ChangeBlock[],
  folder: string | undefined,
): readonly ChangedFile[] {
  const nameOf = (path: string) => inFolder(path, folder).replace(/^(?:\.\/+)+/, "");
  const files = new Map<
    string,
    { readonly path: string; readonly from: string; readonly edits: readonly FileEdit[] }
  >();
  for (const { id, changes, text, observed } of [...blocks].sort((a, b) => a.born - b.born)) {
    const texts = changeTexts(changes, text);
    for (const [i, { path, kind, movedTo, diff: own }] of changes.entries()) {
      const diff = texts[i]?.diff ?? "";
      const { edits = [], from = path } = files.get(nameOf(path)) ?? {};
      files.delete(nameOf(path));
      const now = movedTo ?? path;
      const isNothing = own === "" && !observed && kind === "modify" && movedTo === undefined;
      const edit = { block: id, kind, diff, rows: diffRows(diff), isNothing };
      files.set(nameOf(now), { path: now, from, edits: [...edits, edit] });
    }
  }
  return [...files].map(([name, { path, from: first, edits: made }]) => {
    const edits = made.every(({ isNothing }) => isNothing)
      ? made.slice(-1)
      : made.filter((e) => !e.isNothing);
    const net = edits.length > 1 ? netRows(edits.map(({ diff }) => diff)) : undefined;
    const counts = net ? countChanges(net) : countAll(edits);
    const from = nameOf(first) === name ? undefined : first;
    return { name, path, from, edits, net, kind: kindOf(edits), ...counts };
  });
}

/** The block of its last edit: how far a reader has seen it. */
export function lastEdit({ edits }: ChangedFile): BlockId {
  return edits.at(-1)?.block ?? "";
}

/** New if it began so and is still there, deleted if it ended so. */
function kindOf(edits: readonly FileEdit[]): Change["kind"] {
  if (edits.at(-1)?.kind === "delete") return "delete";
  return edits[0]?.kind === "add" ? "add" : "modify";
}

function countAll(edits: readonly FileEdit[]): { added: number; deleted: number } {
  const counts = edits.map(({ rows }) => countChanges(rows));
  return {
    added: counts.reduce((sum, { added }) => sum + added, 0),
    deleted: counts.reduce((sum, { deleted }) => sum + deleted, 0),
  };
}

/** The path as it is read in its folder: the part before the name, and the name. */
export function pathParts(
  path: string,
  folder: string | undefined,
): { readonly before: string; readonly name: string } {
  const inside = inFolder(path, folder);
  const at = inside.lastIndexOf("/") + 1;
  return { before: inside.slice(0, at), name: inside.slice(at) };
}
