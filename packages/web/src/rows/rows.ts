/**
 * Rows: what the list shows, in order. A pure function of the tree: the path to the chosen head, expanded attachments,
 * speakers, and a footer after each turn.
 *
 * A tool call and its results are one row. A sub-agent's work is separate rows, deeper, so that the list can skip those
 * off the screen; its report is then a row after them. Consecutive quiet rows are one row, followed by their own rows
 * while it is expanded; a row that the reader has expanded by itself, or is writing in, is not grouped.
 */
import { askOf, type Block, type BlockId, gather, isResult, livingTodos } from "@blockyard/kernel";
import { isQuietRow, todoStep } from "./entry.ts";
import type { Outline, Tree } from "./tree.ts";

interface BlockRow {
  readonly type: "block";
  readonly key: string;
  readonly id: BlockId;
  readonly depth: number;
  /** It is part of an open group. */
  readonly isPart?: true;
  /** The current to-do list of its turn, shown instead of its own. */
  readonly todo?: BlockId;
}

export type Row =
  | BlockRow
  /** Quiet blocks that follow each other. */
  | {
      readonly type: "gathered";
      readonly key: string;
      readonly ids: readonly BlockId[];
      readonly depth: number;
    }
  /** The speaker from here on: the author of this block. */
  | { readonly type: "speaker"; readonly key: string; readonly id: BlockId }
  /** The results of a call, after its sub-agent's work. */
  | { readonly type: "results"; readonly key: string; readonly id: BlockId; readonly depth: number }
  /** A call's ask about the plan before this row: the answer goes below the plan. */
  | { readonly type: "ask"; readonly key: string; readonly id: BlockId }
  | { readonly type: "turn"; readonly key: string; readonly turn: string }
  /** The conversation has several branches after `at`; `chosen` is the visible one, if any. */
  | {
      readonly type: "branch";
      readonly key: string;
      readonly at: BlockId | null;
      readonly ways: readonly BlockId[];
      readonly chosen: BlockId | undefined;
    }
  /** Pruned blocks, collapsed together. */
  | { readonly type: "pruned"; readonly key: string; readonly ids: readonly BlockId[] };

interface Shown {
  readonly thinking: boolean;
  readonly tools: boolean;
  readonly system: boolean;
}

export interface RowOptions {
  readonly head: BlockId | null;
  readonly shown: Shown;
  readonly isOpen: (name: string, byDefault: boolean) => boolean;
  /** Calls that wait for the user's answer, with their parents: shown, whatever is closed or hidden. */
  readonly asking?: ReadonlySet<BlockId>;
  /** The name of the speaker; undefined if there is none. */
  readonly speaker?: (block: Block) => string | undefined;
  /** The block that is being edited. */
  readonly edited?: BlockId | undefined;
}

export function makeRows(outline: Outline, tree: Tree, options: RowOptions): readonly Row[] {
  const rows: Row[] = [];
  const way = pathTo(outline, options.head);
  const path = withLoose(outline, way);
  const todos = livingTodos(path.map((block) => todoStep(outline, tree, block)));
  // An interleaved turn has one footer.
  const lastOf = new Map(path.map((block) => [turnOf(block), block]));
  let collapsedUntil = -1;
  let speaker: string | undefined;
  const starts = tree.nexts(null);
  if (way[0]?.parent === null && starts.length > 1)
    rows.push({ type: "branch", key: "branch:", at: null, ways: starts, chosen: way[0].id });
  path.forEach((block, i) => {
    if (block.pruned && !path[i - 1]?.pruned) {
      const ids = prunedRun(path, i);
      rows.push({ type: "pruned", key: prunedName(block.id), ids });
      if (!options.isOpen(prunedName(block.id), false)) collapsedUntil = i + ids.length - 1;
    }
    const before = rows.length;
    if (i > collapsedUntil) addBlock(rows, outline, tree, { block, depth: 0, todos }, options);
    const asks = outline.blocks.get(block.parent ?? "");
    const isCollapsed = i <= collapsedUntil && !(asks && options.asking?.has(asks.id));
    if (asks && !isCollapsed && planBehind(outline, asks) === block.id)
      rows.push({ type: "ask", key: `ask:${asks.id}`, id: asks.id });
    const speaks = rows.length > before ? options.speaker?.(block) : undefined;
    if (speaks !== undefined && speaks !== speaker)
      rows.splice(before, 0, { type: "speaker", key: `speaker:${block.id}`, id: block.id });
    speaker = speaks ?? speaker;
    const ways = tree.nexts(block.id);
    const next = path[i + 1];
    if (ways.length > (next ? 1 : 0))
      rows.push({ type: "branch", key: `branch:${block.id}`, at: block.id, ways, chosen: next?.id });
    const turn = turnOf(block);
    if (turn !== undefined && lastOf.get(turn) === block)
      rows.push({ type: "turn", key: `turn:${turn}:${block.id}`, turn });
  });
  return gathered(rows, outline, tree, options);
}

/** Groups quiet rows. */
function gathered(rows: readonly Row[], outline: Outline, tree: Tree, options: RowOptions): readonly Row[] {
  const found = gather([...rows.keys()], (i) => isQuiet(rows[i] as Row, rows[i + 1], outline, tree));
  return found.flatMap((each) => {
    if (typeof each === "number") return [rows[each] as Row];
    // A change of depth ends the group, also if both are quiet.
    const runs = splitWhere(
      each.map((i) => rows[i] as BlockRow),
      (row, before) => row.depth !== before.depth,
    );
    return runs.flatMap((run) => gatheredRun(run, options));
  });
}

function isQuiet(row: Row, next: Row | undefined, outline: Outline, tree: Tree): boolean {
  if (row.type !== "block") return false;
  const hasBelow = next?.type === "block" && next.depth > row.depth;
  const block = outline.blocks.get(row.id);
  return !hasBelow && block !== undefined && isQuietRow(outline, tree, block, row.todo !== undefined);
}

function gatheredRun(run: readonly BlockRow[], { isOpen, edited }: RowOptions): readonly Row[] {
  // Older ones may come before those that somebody has opened: they keep their name.
  const isChosen = ({ id }: BlockRow) => isOpen(gatheredName(id), false) === isOpen(gatheredName(id), true);
  const named = run.find(isChosen);
  if (run.length > 1 && named && isOpen(gatheredName(named.id), false))
    return [gatheredHead(run, named), ...run.map((row) => ({ ...row, isPart: true as const }))];
  // Opened and edited rows stay as they are.
  const isAlone = ({ id }: BlockRow) => id === edited || isOpen(id, false);
  return splitWhere(run, (row, before) => isAlone(row) || isAlone(before)).flatMap((some): readonly Row[] =>
    some.length > 1 ? [gatheredHead(some, some.find(isChosen))] : some,
  );
}

function gatheredHead(run: readonly BlockRow[], named: BlockRow | undefined): Row {
  const [first] = run as [BlockRow];
  const key = gatheredName((named ?? first).id);
  return { type: "gathered", key, ids: run.map(({ id }) => id), depth: first.depth };
}

function splitWhere<T>(
  items: readonly T[],
  isNew: (item: T, before: T) => boolean,
): readonly (readonly T[])[] {
  const parts: T[][] = [];
  items.forEach((item, i) => {
    const last = parts.at(-1);
    if (last && !isNew(item, items[i - 1] as T)) last.push(item);
    else parts.push([item]);
  });
  return parts;
}

/** The blocks that a row represents. */
export function idsOf(row: Row): readonly BlockId[] {
  return row.type === "block" ? [row.id] : row.type === "gathered" ? row.ids : [];
}

function gatheredName(first: BlockId): string {
  return `quiet:${first}`;
}

function prunedRun(path: readonly Block[], from: number): readonly BlockId[] {
  const end = path.findIndex((block, i) => i > from && !block.pruned);
  return path.slice(from, end === -1 ? path.length : end).map((block) => block.id);
}

export function prunedName(first: BlockId): string {
  return `pruned:${first}`;
}

/** A tool call's name for what its sub-agent did. */
export function nestedName(call: BlockId): string {
  return `nested:${call}`;
}

/** Whether a call has a child from before its first result: a sub-agent's work before its report. */
export function hasWorkBefore(sides: readonly (Block | undefined)[]): boolean {
  const known = sides.filter((side) => side !== undefined && !isQueued(side)) as readonly Block[];
  const first = known.findIndex((side) => isResult(side));
  return first > 0;
}

/** The plan that a call asks about, if it is the block after the call. */
export function planBehind({ blocks }: Pick<Outline, "blocks">, call: Block): BlockId | undefined {
  const id = askOf(call.metadata)?.plan;
  const plan = id === undefined ? undefined : blocks.get(id);
  return plan && !plan.side && plan.parent === call.id ? plan.id : undefined;
}

/** A command that was run again: shown below its first run, in the same row. */
export function isRerun({ kind, metadata }: Pick<Block, "kind" | "metadata">): boolean {
  return kind === "command" && metadata.notice === "rerun";
}

/**
 * A queued message: its parent is the last block of that time, which may be a running call, but it is not part of its
 * work.
 */
export function isQueued({ metadata }: Pick<Block, "metadata">): boolean {
  return metadata.notice === "queued";
}

/** Blocks without a parent are shown where they were written; they are on no path. */
function withLoose({ order, blocks }: Outline, path: readonly Block[]): readonly Block[] {
  const loose = order.flatMap((id) => {
    const block = blocks.get(id);
    return block?.side && block.parent === null ? [block] : [];
  });
  return loose.length === 0 ? path : [...path, ...loose].sort((a, b) => a.born - b.born);
}

/** The calls that ask, and their parents. */
export function askingIn({ blocks }: Outline, asking: readonly BlockId[]): ReadonlySet<BlockId> {
  const ids = new Set<BlockId>();
  for (const call of asking) {
    for (let block = blocks.get(call); block && !ids.has(block.id); ) {
      ids.add(block.id);
      block = block.side && block.parent !== null ? blocks.get(block.parent) : undefined;
    }
  }
  return ids;
}

/** The blocks on the path to a head, oldest first, as far as they are loaded. Without a head: all that continue anything. */
export function pathTo(outline: Outline, head: BlockId | null): Block[] {
  const path: Block[] = [];
  let id = head !== null && outline.blocks.has(head) ? head : lastMain(outline);
  while (id !== null) {
    const block = outline.blocks.get(id);
    if (!block) break;
    path.push(block);
    id = block.parent;
  }
  return path.reverse();
}

function lastMain({ order, blocks }: Outline): BlockId | null {
  for (let i = order.length - 1; i >= 0; i--) {
    const id = order[i] as BlockId;
    if (blocks.get(id)?.side === false) return id;
  }
  return null;
}

/** A block that is still to be drawn, with what hangs off it. */
interface Visit {
  readonly block: Block;
  readonly depth: number;
  readonly todos: ReadonlyMap<BlockId, BlockId>;
}

/** A loop: others may nest blocks deeper than the call stack. */
function addBlock(rows: Row[], outline: Outline, tree: Tree, first: Visit, options: RowOptions): void {
  const waiting: (Row | Visit)[] = [first];
  for (let at = waiting.pop(); at; at = waiting.pop()) {
    if ("type" in at) rows.push(at);
    else for (const each of rowsOf(outline, tree, at, options).reverse()) waiting.push(each);
  }
}

/** A block's own rows, and what hangs off it, in order. */
function rowsOf(
  outline: Outline,
  tree: Tree,
  { block, depth, todos }: Visit,
  options: RowOptions,
): (Row | Visit)[] {
  const rows: (Row | Visit)[] = [];
  const isShown = isVisible(block, options.shown);
  const todo = todos.get(block.id);
  if (isShown)
    rows.push({ type: "block", key: block.id, id: block.id, depth, ...(todo === undefined ? {} : { todo }) });
  else if (block.kind === "tool_call" && !options.asking?.has(block.id)) return rows;
  const sides = tree.sides(block.id);
  if (sides.length === 0) return rows;
  const known = sides.flatMap((id) => outline.blocks.get(id) ?? []);
  const inner = livingTodos(known.map((side) => todoStep(outline, tree, side)));
  const isClosed = block.kind === "tool_call" && !(isShown && options.isOpen(nestedName(block.id), false));
  let report =
    !isClosed && block.kind === "tool_call" && hasWorkBefore(sides.map((id) => outline.blocks.get(id)));
  for (const id of sides) {
    const side = outline.blocks.get(id);
    if (report && side && isResult(side)) {
      rows.push({ type: "results", key: `results:${block.id}`, id: block.id, depth });
      report = false;
    }
    if (isClosed && !(side && isQueued(side)) && !options.asking?.has(id)) continue;
    if (!side || (block.kind === "tool_call" && isResult(side))) continue;
    if (block.kind === "command" && isRerun(side)) continue;
    rows.push({ block: side, depth: depth + 1, todos: inner });
  }
  return rows;
}

function isVisible(block: Block, shown: Shown): boolean {
  if (isQueued(block)) return isLeftOver(block);
  if (block.kind === "thinking") return shown.thinking;
  if (askOf(block.metadata) !== undefined) return true;
  if (block.kind === "tool_call") return shown.tools;
  if (block.role === "system" && block.kind !== "error") return shown.system;
  return true;
}

/** A queued message is shown at the composer, and once it has run, at its place; not so one that never ran. */
export function isLeftOver(block: Block | undefined): boolean {
  if (!block || !isQueued(block)) return false;
  return block.status === "error" && block.metadata.reason !== "cancelled";
}

function turnOf(block: Block | undefined): string | undefined {
  const turn = block?.metadata.turn;
  return typeof turn === "string" ? turn : undefined;
}
