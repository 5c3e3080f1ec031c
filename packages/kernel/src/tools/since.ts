/**
 * Writes that refer to an older version of a block: the plan gets the changes since then, up to the state that it is
 * planned on. The log has the ops committed before the call, a listener those committed during it, the draft those that
 * other writes of the same batch have planned; together they have no gap, or the write starts again.
 */

import type { Block } from "../model/block.ts";
import type { BlockId } from "../model/ids.ts";
import { limits } from "../model/limits.ts";
import { type Op, type Splice, splicesOf } from "../model/op.ts";
import { isProblem, type Problem, problem } from "../model/problem.ts";
import type { Since } from "../text/line-edit.ts";
import type { Draft } from "../write/draft.ts";
import { mayEdit } from "./rights.ts";
import { type Call, writer } from "./tool.ts";

const AGAIN = problem("busy", "the block changes faster than it can be followed; try again");

type SincePlan<T> = (draft: Draft, block: Block, since: Since) => T | Problem;

/** A write to one block, planned with what has happened to it since `base` (nothing, where no base is given). */
export async function writeSince<T>(
  call: Call,
  id: BlockId,
  base: number | undefined,
  plan: SincePlan<T>,
): Promise<T | Problem> {
  if (base === undefined) {
    return call.kernel.writeBlock(id, {
      ...writer(call),
      plan: (draft) => {
        const block = draft.block(id);
        if (isProblem(block)) return block;
        return mayEdit(call.caller, block) ?? plan(draft, block, { splices: [] });
      },
    });
  }
  for (let tries = 0; tries < limits.replans; tries++) {
    const answer = await tryOnce(call, id, base, plan);
    if (answer !== AGAIN) return answer;
  }
  return AGAIN;
}

async function tryOnce<T>(call: Call, id: BlockId, base: number, plan: SincePlan<T>): Promise<T | Problem> {
  const { kernel } = call;
  const told: Op[] = [];
  const stop = kernel.listen(({ ops }) => {
    for (const op of ops) if (op.block === id) told.push(op);
  });
  try {
    const log = await kernel.log(id, { version: base });
    if (isProblem(log)) return log;
    const { compacted } = log;
    if (compacted) return gone(id, base, compacted.version);
    return await kernel.writeBlock(id, {
      ...writer(call),
      plan: (draft) => {
        const block = draft.block(id);
        if (isProblem(block)) return block;
        const refused = mayEdit(call.caller, block);
        if (refused) return refused;
        if (base > block.version) return inFuture(block, base);
        const drafted = draft.ops.filter((op) => op.block === id);
        const since = connect(base, [...log.ops, ...told, ...drafted], block.version);
        return since === undefined ? AGAIN : plan(draft, block, since);
      },
    });
  } finally {
    stop();
  }
}

export function gone(id: BlockId, version: number, oldest: number): Problem {
  return problem("gone", `version ${version} of ${id} is older than the kept history; read the block again`, {
    block_id: id,
    version,
    oldest_version: oldest,
  });
}

export function inFuture(block: Block, base: number): Problem {
  return problem(
    "out_of_range",
    `base_version ${base} does not exist: ${block.id} is at version ${block.version}`,
    {
      block_id: block.id,
      base_version: base,
      version: block.version,
    },
  );
}

/** The splices that lead from `base` to `version`; undefined where ops are missing in between. */
export function connect(base: number, ops: readonly Op[], version: number): Since | undefined {
  const splices: Splice[] = [];
  let blurredFrom: number | undefined;
  let at = base;
  for (const op of ops) {
    if (op.version <= at) continue;
    if (op.versionFrom === at + 1) splices.push(...splicesOf(op));
    else if (op.versionFrom <= at && at === base && op.body.type === "append") blurredFrom = op.body.at;
    else return undefined;
    at = op.version;
  }
  if (at !== version) return undefined;
  return blurredFrom === undefined ? { splices } : { splices, blurredFrom };
}
