/**
 * block.create: a new block. Its agent is the caller's, its id is assigned by the kernel. A file is a block only as a
 * workspace file: it is opened there, or the call is refused.
 */

import { z } from "zod";
import { parseBlockId } from "../model/ids.ts";
import type { JsonObject } from "../model/json.ts";
import { type Kind, RESULT_KINDS, type Role, type Status } from "../model/kind.ts";
import { isProblem, type Problem, problem } from "../model/problem.ts";
import { ownTurn } from "../nodes/leased.ts";
import type { Draft } from "../write/draft.ts";
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
    .describe("The block to continue from. Default: the conversation's head. null: a new root"),
  role: roleField,
  kind: kindField,
  content: textField.optional().describe("Initial text"),
  metadata: metadataField
    .optional()
    .describe("The fields of its kind; an unknown key is refused with the list of valid ones"),
  status: statusField
    .optional()
    .describe(
      "Default: pending without content; with content running, or done if the role is user or system",
    ),
  side: z
    .boolean()
    .optional()
    .describe(
      "Attach it to its parent instead of continuing the conversation. Default: true for tool results",
    ),
});

const output = z.object({ block_id: z.string(), version: z.number().int(), status: statusField });

export const blockCreate = tool({
  name: "block.create",
  description:
    "Create a block in a conversation (or under parent_id) and return its block_id. It starts pending, or running if it has " +
    "content; end it with block.status. A user or system message with content is done at once. In a turn " +
    "that you began (turn.begin) it belongs to that turn. Kinds: text, thinking, tool_call, tool_result, code, " +
    "command, file_change, todo, image, error, unknown; and file, with only metadata.path, which creates that file in the " +
    "workspace (file.open opens an existing one).",
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
      return problem("invalid", "pass conversation, or the parent_id of a block in it");
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
          metadata: {
            ...(turn === undefined ? {} : { turn }),
            ...callNamed(draft, kind, parent_id),
            ...(metadata as JsonObject | undefined),
          },
        });
        if (isProblem(block)) return block;
        return { block_id: block.id, version: block.version, status: block.status };
      },
    });
  },
});

/** A result names its call; the caller need not repeat it. */
function callNamed(draft: Draft, kind: Kind, parent: string | null | undefined): JsonObject {
  if (!RESULT_KINDS.includes(kind) || typeof parent !== "string") return {};
  const call = draft.block(parent);
  if (isProblem(call) || call.kind !== "tool_call") return {};
  const { toolUseId, toolName } = call.metadata;
  return {
    ...(toolUseId === undefined ? {} : { toolUseId }),
    ...(toolName === undefined ? {} : { toolName }),
  };
}

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
      "a file block takes only kind, role, content and metadata.path. " +
        "To share it with a conversation's models use conversation.include" +
        (wrong.length === 0 ? "" : `. Leave out ${wrong.join(", ")}`),
      {
        valid_fields: ["kind", "role", "content", "metadata.path"],
        ...(wrong.length > 0 ? { unknown_fields: wrong } : {}),
      },
    );
  }
  if (files === undefined) return problem("invalid", "this server has no workspace for files", { path });
  const block = await files.create(caller, path, content);
  if (isProblem(block)) return block;
  return { block_id: block.id, version: block.version, status: block.status };
}
