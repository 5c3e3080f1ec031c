/**
 * Compaction: replaces the old history of promoted blocks with their text at a version, so that logs do not grow without bound. It
 * tracks which blocks were written and how often; the caller decides when to `sweep`.
 *
 * The block itself does not change. Edits before the compaction can no longer be undone.
 */

import type { Block } from "../model/block.ts";
import type { Change } from "../model/change.ts";
import type { BlockId } from "../model/ids.ts";
import { isEnded } from "../model/kind.ts";
import { limits } from "../model/limits.ts";
import { isProblem, type Problem } from "../model/problem.ts";
import type { Env } from "../ports/env.ts";
import type { BlockLog, Compacted, LogPoint, Store } from "../ports/store.ts";
import { BlockText } from "../text/block-text.ts";
import type { TextCache } from "../text/text-cache.ts";

/** Where blocks and their logs are read: the kernel. */
interface Blocks {
  readonly env: Env;
  readonly store: Store;
  block(id: BlockId): Promise<Block | Problem>;
  log(id: BlockId, after: LogPoint): Promise<BlockLog | Problem>;
}

export class Compaction {
  readonly #blocks: Blocks;
  readonly #texts: TextCache;
  /** Calls the store; exceptions become problems. */
  readonly #ask: <T>(ask: () => Promise<T>) => Promise<T | Problem>;
  /** Promoted blocks: the time of their last write, and their ops since the last compaction. */
  readonly #promoted = new Map<BlockId, { readonly at: number; readonly ops: number }>();

  constructor(blocks: Blocks, texts: TextCache, ask: <T>(ask: () => Promise<T>) => Promise<T | Problem>) {
    this.#blocks = blocks;
    this.#texts = texts;
    this.#ask = ask;
  }

  onCommit({ blocks, ops: written }: Change): void {
    for (const { id, promoted } of blocks) {
      if (!promoted) continue;
      const ops = written.reduce(
        (sum, op) => (op.block === id ? sum + 1 : sum),
        this.#promoted.get(id)?.ops ?? 0,
      );
      this.#promoted.set(id, { at: this.#blocks.env.monotonic(), ops });
    }
  }

  /** Compacts a promoted block's history, except for its last `keepUnits` undo steps. */
  async compact(id: BlockId, keepUnits: number): Promise<Problem | undefined> {
    const block = await this.#blocks.block(id);
    if (isProblem(block)) return block;
    if (!block.promoted) return undefined;
    const log = await this.#blocks.log(id, { version: 0 });
    if (isProblem(log)) return log;
    const until = compactUntil(id, log, keepUnits);
    if (until === undefined) return undefined;
    const part = BlockText.load(id, { ...log, ops: log.ops.filter((op) => op.version <= until) });
    if (!part.merge) return undefined;
    part.buildUndo({ ...log, ops: log.ops.filter((op) => op.version <= until) });
    const compacted = {
      version: until,
      text: part.value.toString(),
      state: part.merge.state(),
      anchors: part.anchors,
      ...editorsOf(log, until),
    };
    const failed = await this.#ask(async () => {
      await this.#blocks.store.compact(id, compacted);
      return null;
    });
    if (isProblem(failed)) return failed;
    const loaded = this.#texts.peek(id);
    if (loaded && loaded.version === loaded.committed.version) this.#texts.dropId(id);
    return undefined;
  }

  /** Compacts blocks that are finished and quiet, or have much history. Returns how many. */
  async sweep(): Promise<number> {
    const now = this.#blocks.env.monotonic();
    let compacted = 0;
    for (const [id, { at, ops }] of this.#promoted) {
      const block = await this.#blocks.block(id);
      if (isProblem(block)) continue;
      const isQuiet = isEnded(block.status) && now - at > limits.compactAfterMs;
      if (!isQuiet && ops < limits.compactAfterOps) continue;
      this.#promoted.delete(id);
      if (!(await this.compact(id, isQuiet ? 0 : limits.undoUnits))) compacted++;
    }
    return compacted;
  }
}

/** Who has changed what is compacted, as far as an earlier compaction knows. */
function editorsOf({ compacted, ops }: BlockLog, until: number): Pick<Compacted, "editors"> {
  if (compacted !== undefined && compacted.editors === undefined) return {};
  const now = ops.filter(({ version, body }) => version <= until && body.type === "splice");
  return { editors: [...new Set([...(compacted?.editors ?? []), ...now.map(({ agent }) => agent)])] };
}

/** The last version to compact: the one before the oldest undo step that is kept. */
function compactUntil(id: BlockId, log: BlockLog, keepUnits: number): number | undefined {
  const last = log.ops.at(-1)?.version;
  if (last === undefined || keepUnits === 0) return last;
  const units = BlockText.load(id, log).buildUndo(log).units();
  const oldest = units.at(-keepUnits);
  return oldest === undefined || units.length < keepUnits ? undefined : oldest.unit - 1;
}
