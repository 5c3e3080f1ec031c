/** block.history: who did what to a block and when, who wrote which part of it, and its text at an older version. */

import { z } from "zod";
import { limits } from "../model/limits.ts";
import { splicesOf } from "../model/op.ts";
import { isProblem, type Problem, problem } from "../model/problem.ts";
import type { BlockLog } from "../ports/store.ts";
import { Text } from "../text/text.ts";
import { UndoModel } from "../text/undo.ts";
import { gone } from "./since.ts";
import { blockIdField, rowsField, tool } from "./tool.ts";

const count = z.number().int();

const input = z.strictObject({
  block_id: blockIdField,
  agent: z.string().max(limits.agentChars).optional().describe("Only undo steps of this agent"),
  version: count.min(1).optional().describe("Also return the text at this version"),
  authors: z.boolean().default(false).describe("Also return who wrote which part of the current text"),
  limit: rowsField(limits.historyRows, 100),
});

const output = z.object({
  version: count,
  units: z
    .array(
      z.object({
        unit: count.describe("Its name: the version of its first op"),
        agent: z.string(),
        at: z.number().describe("Milliseconds since 1970"),
        version: count.describe("The version of its last op"),
        inserted: count,
        deleted: count,
        active: z.boolean().describe("false: undone"),
      }),
    )
    .describe("Newest first"),
  more: z.boolean(),
  next_undo: count.optional().describe("The undo step that your next undo reverts"),
  next_redo: count.optional(),
  content: z.string().optional().describe("The text at the requested version"),
  authors: z
    .array(z.object({ start: count, end: count, agent: z.string().nullable(), unit: count }))
    .optional()
    .describe("Parts of the current text in UTF-16 units; without agent: older than the kept history"),
});

type Output = z.infer<typeof output>;

export const blockHistory = tool({
  name: "block.history",
  description:
    "List a block's undo steps, newest first: agent, time, characters inserted and deleted, whether each is active or " +
    "undone. With version: the text at that version. With authors: who wrote which part.",
  input,
  output,
  access: "read",
  async run(call, { block_id, agent, version, authors, limit }): Promise<Output | Problem> {
    const block = await call.kernel.block(block_id);
    if (isProblem(block)) return block;
    const log = await call.kernel.log(block_id, { version: 0 });
    if (isProblem(log)) return log;
    const present = log.ops.at(-1)?.version ?? log.compacted?.version ?? 0;
    const content = version === undefined ? undefined : textAt(log, block_id, version, present);
    if (isProblem(content)) return content;
    const model = new UndoModel(log.compacted?.text ?? "");
    for (const op of log.ops) model.apply(op);
    const units = model.units(agent).reverse();
    const undo = model.nextUndo(call.caller.agent)?.unit;
    const redo = model.nextRedo(call.caller.agent)?.unit;
    return {
      version: present,
      units: units.slice(0, limit).map((unit) => ({ ...unit })),
      more: units.length > limit,
      ...(undo === undefined ? {} : { next_undo: undo }),
      ...(redo === undefined ? {} : { next_redo: redo }),
      ...(content === undefined ? {} : { content }),
      ...(authors ? { authors: authorsOf(model) } : {}),
    };
  },
});

function textAt(log: BlockLog, id: string, version: number, present: number): string | Problem {
  if (version > present) {
    return problem("out_of_range", `version ${version} does not exist: ${id} is at version ${present}`, {
      version,
      present_version: present,
    });
  }
  const { compacted } = log;
  if (compacted && version < compacted.version) return gone(id, version, compacted.version);
  let text = Text.of(compacted?.text ?? "");
  let at = compacted?.version ?? 0;
  for (const op of log.ops) {
    if (at === version) break;
    if (op.version > version) {
      return problem(
        "gone",
        `versions ${op.versionFrom}..${op.version} were merged; request the first or the last of them`,
        {
          version,
          nearest: [op.versionFrom - 1, op.version],
        },
      );
    }
    text = text.apply(splicesOf(op));
    at = op.version;
  }
  return text.toString();
}

function authorsOf(model: UndoModel): NonNullable<Output["authors"]> {
  const parts: NonNullable<Output["authors"]> = [];
  let start = 0;
  for (const { chars, unit, agent } of model.authorship()) {
    if (parts.length < limits.historyRows) parts.push({ start, end: start + chars, agent, unit });
    start += chars;
  }
  return parts;
}
