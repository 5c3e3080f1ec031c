/** block.status: sets a block's progress, and patches its metadata. Only legal steps. */

import { z } from "zod";
import type { BlockId } from "../model/ids.ts";
import type { JsonObject } from "../model/json.ts";
import { isProblem, type Problem, problem } from "../model/problem.ts";
import { mayClaim } from "./rights.ts";
import { blockIdField, mayDecide, mayWrite, metadataField, statusField, tool, writer } from "./tool.ts";

const input = z.strictObject({
  block_id: blockIdField,
  status: statusField.optional(),
  metadata: metadataField
    .optional()
    .describe(
      "Patch of the metadata, written in the same step: null deletes a key, anything else replaces it",
    ),
});

export const blockStatus = tool({
  name: "block.status",
  description:
    "Set a block's status (pending → running → done | error; never backwards, and an ended block stays ended) and patch its " +
    "metadata in the same step. Pass status, metadata, or both.",
  input,
  output: z.object({ version: z.number().int(), status: statusField }),
  access: "write",
  carriesText: true,
  async run(call, { block_id, status, metadata }) {
    if (status === undefined && metadata === undefined) {
      return problem("invalid", "pass status, metadata, or both", { valid_fields: Object.keys(input.shape) });
    }
    const reserved = mayWrite(metadata);
    if (reserved) return reserved;
    return call.kernel.writeBlock(block_id, {
      ...writer(call),
      plan: (draft) => {
        const block = draft.block(block_id);
        if (isProblem(block)) return block;
        const refused =
          mayDecide(call, block) ??
          mayClaim(call.caller, metadata, (turn) => draft.turn(turn)?.agent) ??
          (block.kind === "file" ? keptByFiles(block_id) : undefined);
        if (refused) return refused;
        const patch = (metadata ?? {}) as JsonObject;
        const next =
          status === undefined ? draft.meta(block_id, patch) : draft.status(block_id, status, patch);
        return isProblem(next) ? next : { version: next.version, status: next.status };
      },
    });
  },
});

/** Another path or persisted version would make it the block of a file that it is not. */
function keptByFiles(id: BlockId): Problem {
  return problem(
    "forbidden",
    `block ${id} is a workspace file: its metadata follows the file and it never ends. Use the file tools`,
    { block_id: id },
  );
}
