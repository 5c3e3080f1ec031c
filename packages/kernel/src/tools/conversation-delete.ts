/**
 * conversation.delete and conversation.restore: a conversation is hidden at once, can be restored for a short time, and
 * is then removed from the store for ever. Exports and backups are not affected.
 */

import { z } from "zod";
import { limits } from "../model/limits.ts";
import { isProblem, problem } from "../model/problem.ts";
import { type Call, conversationField, tool } from "./tool.ts";
import { conversationSchema, conversationView } from "./view.ts";

const input = z.strictObject({ conversation: conversationField });

export const conversationDelete = tool({
  name: "conversation.delete",
  description:
    "Delete a conversation: blocks, history, turns, raw lines, and pictures that no other conversation shows. It is hidden at " +
    `once; conversation.restore brings it back for ${limits.deletedUndoMs / 1_000} seconds, then it is removed for good. ` +
    "Refused while a turn is running in it. Workspace files, exports, backups and the agent's own session files stay.",
  input,
  output: z.object({ conversation: z.string(), deleted_at: z.number(), restorable_until: z.number() }),
  access: "owner",
  sensitive: () => true,
  async run(call, { conversation }) {
    const refused = await holdsFiles(call, conversation);
    if (refused) return refused;
    const deleted = await call.kernel.deletions.delete(conversation, call.caller.agent, call.key);
    if (isProblem(deleted)) return deleted;
    return { conversation, deleted_at: deleted.at, restorable_until: deleted.until };
  },
});

export const conversationRestore = tool({
  name: "conversation.restore",
  description: "Restore a conversation that was just deleted.",
  input,
  output: z.object({ conversation: conversationSchema }),
  access: "owner",
  async run({ kernel, caller }, { conversation }) {
    const record = await kernel.deletions.restore(conversation, caller.agent);
    return isProblem(record) ? record : { conversation: conversationView(record) };
  },
});

/** The files of a workspace are blocks of one conversation, which goes on as long as the workspace does. */
async function holdsFiles({ kernel }: Call, conversation: string) {
  const record = await kernel.conversation(conversation);
  if (isProblem(record)) return record;
  const files = await kernel.blocks({ conversation, kinds: ["file"], order: "first", limit: 1 });
  if (isProblem(files) || files.length === 0) return isProblem(files) ? files : undefined;
  return problem("forbidden", `conversation ${conversation} contains workspace files and cannot be deleted`, {
    conversation,
  });
}
