/**
 * My edits, over all blocks that were edited in this window: undo reverts the last of them, wherever it was, shows the
 * place and says what changed; redo reapplies it. Within a block, the kernel decides what is undone, and whose it is.
 */

import { type BlockId, isProblem, type View } from "@blockyard/kernel";
import { seek } from "../rows/sought.ts";
import { focused, leaveUndo, notify } from "../state/page-state.ts";
import type { Session } from "../state/session.tsx";
import { EDIT_ARRIVES_MS, EDIT_SHOWN_CHARS, MY_EDITS } from "./limits.ts";

/** Blocks in the order in which they were edited, the last at the end. */
const edited: BlockId[] = [];
const undone: BlockId[] = [];

/** Somebody types in a block here. */
export function noteEdit(block: BlockId): void {
  undone.length = 0;
  leaveUndo();
  if (edited.at(-1) === block) return;
  edited.push(block);
  edited.splice(0, edited.length - MY_EDITS);
}

export async function undoLast(session: Session, direction: "undo" | "redo"): Promise<void> {
  const [from, to] = direction === "undo" ? [edited, undone] : [undone, edited];
  for (let block = from.at(-1) ?? focused.get(); block !== undefined; block = from.at(-1)) {
    const view = [...session.replica.views.values()].find((known) => known.blocks.has(block as BlockId));
    const before = view && (await session.text(view, block));
    const answer = await session.write(`block.${direction}`, { block_id: block });
    if (isProblem(answer) && answer.problem === "nothing" && from.length > 0) {
      from.pop();
      continue;
    }
    if (isProblem(answer)) return notify(refusal(direction, answer.problem, answer.message), true);
    if (to.at(-1) !== block) to.push(block);
    if (!view) return notify(`${WORDS[direction]} in another conversation`);
    await arrived(session, view, block, answer.version);
    seek(block);
    return notify(
      `${WORDS[direction]}: ${difference(before ?? "", view.texts.get(block)?.toString() ?? "")}`,
    );
  }
  notify(refusal(direction, "nothing", ""), true);
}

const WORDS = { undo: "Undone", redo: "Redone" } as const;

function refusal(direction: "undo" | "redo", problem: string, message: string): string {
  return problem === "nothing" ? `You have nothing to ${direction}` : `Couldn't ${direction}: ${message}`;
}

function arrived(session: Session, view: View, block: BlockId, version: number): Promise<void> {
  const isHere = () => (view.blocks.get(block)?.version ?? 0) >= version;
  if (isHere()) return Promise.resolve();
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      stop();
      resolve();
    };
    const timer = setTimeout(end, EDIT_ARRIVES_MS);
    const stop = session.listen(block, () => isHere() && end());
  });
}

/** What is not there any more, and what is there instead. */
export function difference(before: string, after: string): string {
  const most = Math.min(before.length, after.length);
  let start = 0;
  while (start < most && before[start] === after[start]) start++;
  let end = 0;
  while (end < most - start && before.at(-1 - end) === after.at(-1 - end)) end++;
  // Of several ways to see it, the one that begins with a word.
  const longer = before.length > after.length ? before : after;
  while (
    start > 0 &&
    start + end === most &&
    /\S/.test(longer[start - 1] ?? " ") &&
    longer[start - 1] === longer.at(-1 - end)
  ) {
    start--;
    end++;
  }
  const removed = short(before.slice(start, before.length - end));
  const added = short(after.slice(start, after.length - end));
  if (removed === "" && added === "") return "nothing changed";
  if (removed === "") return `put back “${added}”`;
  return added === "" ? `removed “${removed}”` : `“${removed}” is “${added}” again`;
}

function short(text: string): string {
  const line = text.replace(/\s+/g, " ");
  return line.length > EDIT_SHOWN_CHARS ? `${line.slice(0, EDIT_SHOWN_CHARS).toWellFormed()}…` : line;
}
