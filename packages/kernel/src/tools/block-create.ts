/**
 * block.create: a new block. Its agent is the caller's, its id is given by the kernel. A file is a block only as a file of
 * the workspace: it is opened there, or the call is refused.
 */

import { z } from "zod";
import { parseBlockId, RESULT_KINDS, type Role, type Status } from "../model/block.ts";
import type { JsonObject } from "../model/json.ts";
import { isProblem, type Problem, problem } from "../model/problem.ts";
import { ownTurn } from "../nodes/leased.ts";
import { mayClaim, mayPlace, maySpeak } from "./rights.ts";
import {
  blockIdField,
  type Call,
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
  status: statusField
    .optional()
    .describe("Default: pending without content; with it running, or done where the role is user or system"),
  side: z
    .boolean()
    .optional()
    .describe("Hangs off its parent instead of continuing the conversation. Default: true for tool results"),
});

const output = z.object({ block_id: z.string(), version: z.number().int(), status: statusField });

export const blockCreate = tool({
  name: "block.create",
  description:
    "Create a block in a conversation (or under parent_id) and get its block_id. It starts pending, or running if it has " +
    "content; end it with block.status. A message of a user or of the system that has content is done at once. In a turn " +
    "that you have begun (turn.begin) it belongs to that turn. Kinds: text, thinking, tool_call, tool_result, code, " +
    "command, file_change, todo, image, error, unknown; and file, with metadata.path alone, which makes that file in the " +
    "workspace (file.open opens one that is there).",
  input,
  output,
  access: "write",
  carriesText: true,
  async run(call, input) {
    const { conversation, parent_id, role, kind, content, metadata, status, side } = input;
    if (kind === "file") return createFile(call, input);
    const above = typeof parent_id === "string" ? parseBlockId(parent_id) : undefined;
    if (typeof parent_id === "string" && above === undefined) {
      return problem("not_found", `parent_id ${JSON.stringify(parent_id.slice(0, 80))} is not a block id`);
    }
    const reserved = maySpeak(call.caller, role) ?? mayWrite(metadata);
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
        const isSide = side ?? RESULT_KINDS.includes(kind);
        const refused =
          mayPlace(call.caller, draft, parent_id, isSide) ??
          mayClaim(call.caller, metadata, (turn) => draft.turn(turn)?.agent);
        if (refused) return refused;
        const turn = ownTurn(draft, call.caller.agent)?.id;
        const block = draft.create({
          kind,
          role,
          ...(parent_id === undefined ? {} : { parent: parent_id }),
          ...(side === undefined ? {} : { side }),
          ...statusOf(status, role, content),
          ...(content === undefined ? {} : { text: content }),
          metadata: { ...(turn === undefined ? {} : { turn }), ...(metadata as JsonObject | undefined) },
        });
        if (isProblem(block)) return block;
        return { block_id: block.id, version: block.version, status: block.status };
      },
    });
  },
});

/** What a person or the system says is said whole; what a model or a tool says may grow. */
function statusOf(
  given: Status | undefined,
  role: Role,
  content: string | undefined,
): { readonly status?: Status } {
  if (given !== undefined) return { status: given };
  return content && (role === "user" || role === "system") ? { status: "done" } : {};
}

async function createFile(
  { files, caller }: Call,
  { content, metadata = {}, ...rest }: z.infer<typeof input>,
): Promise<{ block_id: string; version: number; status: Status } | Problem> {
  const { path, language: _language, ...others } = metadata;
  const misplaced = (["conversation", "parent_id", "status", "side"] as const).filter(
    (field) => rest[field] !== undefined,
  );
  const unknown = Object.keys(others).map((key) => `metadata.${key}`);
  if (typeof path !== "string" || path === "" || misplaced.length + unknown.length > 0) {
    const wrong = [...misplaced, ...unknown];
    return problem(
      "invalid",
      "a file is made with kind, role, content and metadata.path alone: its block has a place of its own. " +
        "conversation.include gives it to a conversation's models" +
        (wrong.length === 0 ? "" : `. Leave out ${wrong.join(", ")}`),
      {
        valid_fields: ["kind", "role", "content", "metadata.path"],
        ...(wrong.length > 0 ? { unknown_fields: wrong } : {}),
      },
    );
  }
  if (files === undefined)
    return problem("invalid", "there is no workspace here whose file this could be", { path });
  const block = await files.create(caller, path, content);
  if (isProblem(block)) return block;
  return { block_id: block.id, version: block.version, status: block.status };
}
