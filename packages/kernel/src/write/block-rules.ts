/**
 * Which splices, stages and statuses a block allows, and the problems for the others. Pure: a draft asks, then writes.
 */

import { expiredAsk } from "../model/ask.ts";
import type { Block } from "../model/block.ts";
import type { BlockId } from "../model/ids.ts";
import type { Json, JsonObject } from "../model/json.ts";
import { isEnded, type Stage, type Status, stageCanFollow } from "../model/kind.ts";
import { limits } from "../model/limits.ts";
import type { Splice } from "../model/op.ts";
import { type Problem, problem } from "../model/problem.ts";
import { cleanText } from "../text/sanitize.ts";
import type { Text } from "../text/text.ts";

/** Why splices cannot be applied to a text, one after the other. */
export function checkSplices(before: Text, splices: readonly Splice[]): Problem | undefined {
  let text = before;
  for (const { at, del, ins } of splices) {
    if (at < 0 || at + del.length > text.length) {
      return problem("out_of_range", `splice ${at}..${at + del.length} in a text of length ${text.length}`);
    }
    if (ins !== cleanText(ins)) return problem("invalid", "the text contains a lone surrogate or U+0000");
    if (!text.isCharacterBoundary(at) || !text.isCharacterBoundary(at + del.length)) {
      return problem("boundary", `a splice at ${at} would cut a character in two`, { at });
    }
    text = text.replace(at, at + del.length, ins);
  }
  if (text.length > limits.blockTextChars) return tooLongProblem(text.length, limits.blockTextChars);
  return undefined;
}

/** The metadata for a new status: a call that ends gets `success`, and its ask expires. */
export function statusPatch(block: Block, status: Status, patch: JsonObject): JsonObject {
  const full: Record<string, Json> = { ...patch };
  delete full["stage"];
  if (block.kind === "tool_call" && isEnded(status) && full["success"] === undefined) {
    full["success"] = status === "done";
  }
  if (isEnded(status) && block.metadata.waiting !== undefined && !full["lapsed"]) full["waiting"] = null;
  if (isEnded(status) && full["ask"] === undefined && full["approval"] === undefined)
    Object.assign(full, expiredAsk(block.metadata));
  return full;
}

/** Nothing can be appended to a block that has ended. */
export function closedProblem(block: Block): Problem {
  return problem(
    "closed",
    `block ${block.id} is ${block.status}: nothing can be appended to it; edit it instead`,
    {
      block_id: block.id,
      status: block.status,
      version: block.version,
    },
  );
}

export function tooLongProblem(chars: number, max: number): Problem {
  return problem("too_large", `${chars} characters exceed the limit of ${max}`, { chars, max_chars: max });
}

export function transitionProblem(block: Block, to: Status): Problem {
  const code = isEnded(block.status) ? "closed" : "transition";
  return problem(code, `block ${block.id} is ${block.status}: it cannot become ${to}`, {
    block_id: block.id,
    from: block.status,
    to,
  });
}

/** Whether a tool call may go on to a stage. */
export function checkStage(block: Block, stage: Stage): Problem | undefined {
  if (block.kind !== "tool_call") return problem("invalid", `a ${block.kind} block has no stage`);
  const from = (block.metadata.stage ?? "start") as Stage;
  if (stage === "end") return problem("transition", "a tool call ends with its status, not with its stage");
  if (stageCanFollow(from, stage)) return undefined;
  return problem("transition", `stage ${stage} cannot follow ${from}`, { from, to: stage });
}

/** The patch with its values as they were cleaned; deletions stay. */
export function cleanPatch(patch: JsonObject, checked: JsonObject): JsonObject {
  const clean: Record<string, Json> = {};
  for (const key of Object.keys(patch)) {
    const value = checked[key];
    if (value !== undefined) clean[key] = value;
    else if (patch[key] === null) clean[key] = null;
  }
  return clean;
}

export function absentProblem(id: BlockId): Problem {
  return problem("not_found", `block ${id} does not exist`, { block_id: id });
}

export function notAnIdProblem(id: string): Problem {
  return problem(
    "not_found",
    `${JSON.stringify(id.slice(0, 80))} is not a block id (conversation/agent/number)`,
    {
      block_id: id.slice(0, 80),
    },
  );
}
