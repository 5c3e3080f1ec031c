/** block.create: a new block. Its agent is the caller's, its id is given by the kernel. */

import { z } from "zod";
import { parseBlockId } from "../block.ts";
import type { JsonObject } from "../json.ts";
import { isProblem, problem } from "../problem.ts";
import {
  blockIdField,
  conversationField,
  kindField,
  mayWrite,
  metadataField,
  roleField,
  statusField,
  textField,
  tool,
  writer,
} from "./tool.ts";

const input = z.strictObject({
  conversation: conversationField.optional(),
  parent_id: blockIdField
    .nullable()
    .optional()
    .describe("The block that it follows. Default: the conversation's head. null: a new root"),
  role: roleField,
  kind: kindField,
  content: textField.optional().describe("Its text so far"),
  metadata: metadataField
    .optional()
    .describe("What its kind defines; a wrong key is answered with the valid ones"),
  status: statusField.optional().describe("Default: pending without content, running with it"),
  side: z
    .boolean()
    .optional()
    .describe("Hangs off its parent instead of continuing the conversation. Default: true for tool results"),
});

const output = z.object({ block_id: z.string(), version: z.number().int(), status: statusField });

export const blockCreate = tool({
  name: "block.create",
  description:
    "Create a block in a conversation (or under parent_id) and get its block_id. It starts pending (running if it has " +
    "content); end it with block.status. Kinds: text, thinking, tool_call, tool_result, code, command, file_change, " +
    "todo, image, file, error, unknown.",
  input,
  output,
  access: "write",
  async run(call, { conversation, parent_id, role, kind, content, metadata, status, side }) {
    const above = typeof parent_id === "string" ? parseBlockId(parent_id) : undefined;
    if (typeof parent_id === "string" && above === undefined) {
      return problem("not_found", `parent_id ${JSON.stringify(parent_id.slice(0, 80))} is not a block id`);
    }
    const reserved = mayWrite(metadata);
    if (reserved) return reserved;
    const where = conversation ?? above?.conversation;
    if (where === undefined)
      return problem("invalid", "give conversation, or the parent_id of a block in it");
    if (above !== undefined && above.conversation !== where) {
      return problem(
        "invalid",
        `parent ${parent_id} is in conversation ${above.conversation}, not in ${where}`,
        {
          conversation: where,
          parent_conversation: above.conversation,
        },
      );
    }
    return call.kernel.write(where, {
      ...writer(call),
      plan: (draft) => {
        const block = draft.create({
          kind,
          role,
          ...(parent_id === undefined ? {} : { parent: parent_id }),
          ...(side === undefined ? {} : { side }),
          ...(status === undefined ? {} : { status }),
          ...(content === undefined ? {} : { text: content }),
          ...(metadata === undefined ? {} : { metadata: metadata as JsonObject }),
        });
        if (isProblem(block)) return block;
        return { block_id: block.id, version: block.version, status: block.status };
      },
    });
  },
});
