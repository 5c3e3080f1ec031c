/**
 * An exported conversation as a tree: the path to the head, what is attached to each block, and the other branches. The
 * order is the page's: a call, its sub-agent's work, its results, then what followed them. Every block is in it exactly
 * once, except queued messages: once such a message has run, it appears where it was said. Its depth is bounded, however deep
 * others have nested what they wrote, so that code that walks it may recurse.
 */

import type { BlockSnapshot, ExportLine, TurnView } from "@blockyard/kernel";
import { isResult } from "@blockyard/kernel/plain";
import { withShortPaths } from "@blockyard/kernel/presentation";
import { NESTED_LEVELS } from "./limits.ts";

export type ExportHead = Extract<ExportLine, { readonly type: "conversation" }>;

export interface ExportNode {
  readonly block: BlockSnapshot;
  /** A call's children before its results: a sub-agent's work comes before its report. */
  readonly work: readonly ExportNode[];
  /** Results of a tool call: shown in its own row. */
  readonly results: readonly ExportNode[];
  /** All other children: notices, background work. */
  readonly nested: readonly ExportNode[];
  /** Abandoned branches from here, oldest first. */
  readonly branches: readonly (readonly ExportNode[])[];
}

export interface ExportTree {
  readonly head: ExportHead;
  readonly turns: ReadonlyMap<string, TurnView>;
  readonly path: readonly ExportNode[];
  /** Branches that begin at the root and are not the path. */
  readonly others: readonly (readonly ExportNode[])[];
}

/** Reads an export to its end. Throws if it is incomplete: half a conversation must not look like a whole one. */
export async function readTree(lines: AsyncIterable<ExportLine>): Promise<ExportTree> {
  const blocks = new Map<string, BlockSnapshot>();
  const turns = new Map<string, TurnView>();
  let head: ExportHead | undefined;
  let isWhole = false;
  for await (const line of lines) {
    if (line.type === "conversation") head = line;
    else if (line.type === "turn") turns.set(line.turn, line);
    else if (line.type === "block")
      blocks.set(line.block_id, head ? withPaths(withAuthor(line, head), head) : line);
    else isWhole = line.blocks === blocks.size;
  }
  if (!head || !isWhole) throw new Error("the export ended early; try again");
  return { head, turns, ...new Planter(blocks, head.head).plant() };
}

/**
 * A block with its author. The content of a stream or a session log is written under the agent's name, including its
 * prompts; those belong to whoever imported it. A sub-agent's prompt belongs to the agent that asked.
 */
function withAuthor<B extends BlockSnapshot>(block: B, { provider, created_by }: ExportHead): B {
  const isTold = block.role === "user" && !block.side && block.agent === provider;
  return isTold ? { ...block, agent: created_by } : block;
}

/** A block whose paths are shown as on the page: without the conversation's folder. */
function withPaths<B extends BlockSnapshot>(block: B, { metadata }: ExportHead): B {
  return { ...block, metadata: withShortPaths(block.metadata, metadata.cwd) };
}

class Planter {
  readonly #sides = new Map<string | null, BlockSnapshot[]>();
  readonly #nexts = new Map<string | null, BlockSnapshot[]>();
  /** The blocks on the way to the head. */
  readonly #path = new Set<string>();

  constructor(blocks: ReadonlyMap<string, BlockSnapshot>, head: string | null) {
    for (const block of blocks.values()) {
      if (hasWaited(block)) continue;
      const parent = block.parent_id !== null && blocks.has(block.parent_id) ? block.parent_id : null;
      const children = block.side ? this.#sides : this.#nexts;
      const siblings = children.get(parent);
      if (siblings) siblings.push(block);
      else children.set(parent, [block]);
    }
    for (let id = head; id !== null; ) {
      const block = blocks.get(id);
      if (!block || this.#path.has(id)) break;
      this.#path.add(id);
      id = block.parent_id;
    }
  }

  plant(): { path: readonly ExportNode[]; others: readonly (readonly ExportNode[])[] } {
    const starts = this.#nexts.get(null) ?? [];
    const first = starts.find(({ block_id }) => this.#path.has(block_id)) ?? starts[0];
    const others = starts.filter((start) => start !== first).map((start) => this.#way(start, 0));
    // A block without a parent has no place to be shown.
    const loose = (this.#sides.get(null) ?? []).map((block) => [this.#node(block, [], 0)]);
    return { path: first ? this.#way(first, 0) : [], others: [...others, ...loose] };
  }

  /** A path from a block on: along the main path if it is on it, else along the newest continuation. */
  #way(start: BlockSnapshot, depth: number): readonly ExportNode[] {
    if (depth > NESTED_LEVELS) return this.#inOneList([start]);
    const way: ExportNode[] = [];
    for (let block: BlockSnapshot | undefined = start; block; ) {
      const nexts: readonly BlockSnapshot[] = this.#nexts.get(block.block_id) ?? [];
      const onPath = nexts.find(({ block_id }) => this.#path.has(block_id));
      const endsHere: boolean = this.#path.has(block.block_id) && !onPath;
      const next: BlockSnapshot | undefined = endsHere ? undefined : (onPath ?? nexts.at(-1));
      const left = nexts.filter((each) => each !== next).map((each) => this.#way(each, depth + 1));
      way.push(this.#node(block, left, depth));
      block = next;
    }
    return way;
  }

  #node(block: BlockSnapshot, branches: readonly (readonly ExportNode[])[], depth: number): ExportNode {
    const sides = this.#sides.get(block.block_id) ?? [];
    const isCall = block.kind === "tool_call";
    const results = isCall ? sides.filter(isResult) : [];
    const others = sides.filter((side) => !results.includes(side));
    if (depth === NESTED_LEVELS) {
      const below = [...others, ...results.flatMap((result) => this.#below(result))];
      return { block, work: [], results: results.map(alone), nested: this.#inOneList(below), branches };
    }
    const report = results[0]?.born ?? 0;
    const nodes = (some: readonly BlockSnapshot[]) =>
      some.map((side) => this.#node(side, this.#leftOf(side, depth + 1), depth + 1));
    return {
      block,
      work: nodes(others.filter(({ born }) => born < report)),
      results: nodes(results),
      nested: nodes(others.filter(({ born }) => born >= report)),
      branches,
    };
  }

  /** What continues a block that hangs off another: shown below it. */
  #leftOf({ block_id }: BlockSnapshot, depth: number): readonly (readonly ExportNode[])[] {
    return (this.#nexts.get(block_id) ?? []).map((next) => this.#way(next, depth + 1));
  }

  #below({ block_id }: BlockSnapshot): readonly BlockSnapshot[] {
    return [...(this.#sides.get(block_id) ?? []), ...(this.#nexts.get(block_id) ?? [])];
  }

  /** Blocks with all their descendants, one after the other: blocks deeper than anybody reads are not nested any more. */
  #inOneList(starts: readonly BlockSnapshot[]): readonly ExportNode[] {
    const list: ExportNode[] = [];
    const waiting = starts.toReversed();
    for (let block = waiting.pop(); block; block = waiting.pop()) {
      list.push(alone(block));
      for (const below of this.#below(block).toReversed()) waiting.push(below);
    }
    return list;
  }
}

function alone(block: BlockSnapshot): ExportNode {
  return { block, work: [], results: [], nested: [], branches: [] };
}

/** A queued message that later ran, or was taken back. One that still waits, or never ran, is shown. */
function hasWaited({ metadata, side, status }: BlockSnapshot): boolean {
  return side && metadata.notice === "queued" && (status === "done" || metadata.reason === "cancelled");
}
