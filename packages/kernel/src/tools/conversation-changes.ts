/**
 * conversation.changes: which files the agents of a conversation have changed, by turn and in total, with line counts,
 * and the blocks that show it. Reads records of file_change blocks, newest first, a bounded number at a time; texts
 * only if a record has no diff.
 */

import { z } from "zod";
import type { Block } from "../model/block.ts";
import { linesIn, looksLikeDiff } from "../model/diff-lines.ts";
import type { BlockId } from "../model/ids.ts";
import { limits } from "../model/limits.ts";
import { metadataOf } from "../model/metadata.ts";
import { isProblem, type Problem } from "../model/problem.ts";
import type { Kernel } from "../write/kernel.ts";
import { conversationField, rowsField, tool, versionField } from "./tool.ts";

const input = z.strictObject({
  conversation: conversationField,
  turn: z.string().min(1).max(200).optional().describe("Only changes of this turn"),
  before: versionField.optional().describe("Only older changes: pass next of the previous result"),
  limit: rowsField(limits.changeBlocks, 200).describe("How many blocks to read"),
});

const file = z.object({
  path: z.string(),
  kind: z
    .enum(["add", "modify", "delete"])
    .describe("The net result: a file that was added, then edited, counts as added"),
  added: z.number().int().describe("Lines"),
  removed: z.number().int().describe("Lines"),
  exact: z.boolean().describe("false: some changes have no diff, and their lines are not counted"),
  block_ids: z.array(z.string()).describe("Oldest first"),
});

type FileChange = z.infer<typeof file>;

export const conversationChanges = tool({
  name: "conversation.changes",
  description:
    "List the files that agents changed in a conversation: in total, and by turn, newest first. Denied and failed changes do " +
    "not count. more means there are older ones: pass next as before to continue.",
  input,
  output: z.object({
    files: z.array(file).describe("Over all turns in this result, by path"),
    turns: z.array(
      z.object({ turn: z.string().optional().describe("Absent: not part of a turn"), files: z.array(file) }),
    ),
    next: z.number().int().optional(),
    more: z.boolean(),
  }),
  access: "read",
  async run({ kernel }, { conversation, turn, before, limit }) {
    const record = await kernel.conversation(conversation);
    if (isProblem(record)) return record;
    const query = { conversation, kinds: ["file_change"], order: "last", limit: limit + 1 } as const;
    const found = await kernel.blocks({ ...query, ...(before === undefined ? {} : { before }) });
    if (isProblem(found)) return found;
    const looked = found.slice(0, limit);
    const changed = looked.filter(
      (block) => isChange(block) && (turn === undefined || turnOf(block) === turn),
    );
    const counts = await countsOf(kernel, changed);
    if (isProblem(counts)) return counts;
    const oldestFirst = counts.toReversed();
    const byTurn = Map.groupBy(oldestFirst, ({ block }) => turnOf(block));
    const more = found.length > limit;
    return {
      files: filesOf(oldestFirst),
      turns: [...byTurn]
        .map(([id, of]) => ({ ...(id === undefined ? {} : { turn: id }), files: filesOf(of) }))
        .toReversed(),
      ...(more ? { next: looked.at(-1)?.born ?? 0 } : {}),
      more,
    };
  },
});

/** A change that was made: not one that was refused, or that failed. */
function isChange({ status, metadata }: Block): boolean {
  return status === "done" && metadata.isError !== true && Array.isArray(metadata.changes);
}

function turnOf({ metadata }: Block): string | undefined {
  const { turn } = metadata;
  return typeof turn === "string" ? turn : undefined;
}

interface Counted {
  readonly block: Block;
  readonly changes: readonly Omit<FileChange, "block_ids">[];
}

async function countsOf(kernel: Kernel, blocks: readonly Block[]): Promise<readonly Counted[] | Problem> {
  const counted: Counted[] = [];
  for (const block of blocks) {
    const { changes } = metadataOf(block, "file_change");
    const text = changes.every(({ diff }) => diff !== undefined) ? "" : await shortText(kernel, block);
    if (isProblem(text)) return text;
    const own = changes.length === 1 && looksLikeDiff(text) ? text : "";
    counted.push({
      block,
      changes: changes.map(({ path, kind, diff = own }) => {
        return { path, kind, ...linesIn(diff), exact: diff !== "" || kind === "delete" };
      }),
    });
  }
  return counted;
}

/** A diff that is longer is not counted here: whoever wants it reads the block. */
async function shortText(kernel: Kernel, { id, chars }: Block): Promise<string | Problem> {
  if (chars === 0 || chars > limits.toldTextChars) return "";
  const whole = await kernel.whole(id);
  return isProblem(whole) ? whole : whole.text;
}

/** One for each path, in the order of paths. */
function filesOf(counted: readonly Counted[]): FileChange[] {
  const files = new Map<string, FileChange>();
  for (const { block, changes } of counted)
    for (const change of changes) files.set(change.path, joined(files.get(change.path), change, block.id));
  return [...files.values()].sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
}

function joined(
  before: FileChange | undefined,
  change: Omit<FileChange, "block_ids">,
  id: BlockId,
): FileChange {
  if (before === undefined) return { ...change, block_ids: [id] };
  const isNew = before.kind === "add" && change.kind !== "delete";
  return {
    path: change.path,
    kind: isNew ? "add" : change.kind === "add" ? "modify" : change.kind,
    added: before.added + change.added,
    removed: before.removed + change.removed,
    exact: before.exact && change.exact,
    block_ids: before.block_ids.includes(id) ? before.block_ids : [...before.block_ids, id],
  };
}
