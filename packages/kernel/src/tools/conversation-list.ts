/** conversation.list: conversations, the last changed first. */

import { z } from "zod";
import type { Conversation } from "../model/conversation.ts";
import { limits } from "../model/limits.ts";
import { isProblem } from "../model/problem.ts";
import { rowsField, tool } from "./tool.ts";
import { conversationSchema, conversationView } from "./view.ts";

const input = z.strictObject({
  title: z
    .string()
    .max(limits.titleChars)
    .optional()
    .describe("Only conversations whose title contains this"),
  before: z
    .number()
    .optional()
    .describe("Only conversations changed before this time (updated_at): for the next page"),
  limit: rowsField(limits.listRows, 50),
});

export const conversationList = tool({
  name: "conversation.list",
  description:
    "List conversations, most recent first. more means there are further ones; get the next page with before, the " +
    "updated_at of the last one. A page may be a little shorter or longer than limit: it ends where the time changes.",
  input,
  output: z.object({ conversations: z.array(conversationSchema), more: z.boolean() }),
  access: "read",
  async run({ kernel }, { title, before, limit }) {
    const query = { ...(title === undefined ? {} : { title }), ...(before === undefined ? {} : { before }) };
    // `before` is a time: a page that ended between rows of the same time would lose the rest of them.
    for (let most = limit; ; most *= 2) {
      const found = await kernel.conversations({ ...query, limit: most + 1 });
      if (isProblem(found)) return found;
      const end = lastBreak(found, limit);
      if (end === undefined && found.length > most) continue;
      const conversations = found.slice(0, end ?? found.length).map(listed);
      return { conversations, more: conversations.length < found.length };
    }
  },
});

/** Lists leave out session facts, which may be long; conversation.read has them. */
function listed(record: Conversation): ReturnType<typeof conversationView> {
  const { session: _, ...metadata } = record.metadata;
  return conversationView({ ...record, metadata });
}

/** The end of a page of `limit` rows: at the last place up to there, else the first after it, where the time changes. */
function lastBreak(found: readonly Conversation[], limit: number): number | undefined {
  if (found.length <= limit) return found.length;
  const isBreak = (at: number) => found[at]?.updatedAt !== found[at - 1]?.updatedAt;
  for (let at = limit; at > 0; at--) if (isBreak(at)) return at;
  for (let at = limit + 1; at < found.length; at++) if (isBreak(at)) return at;
  return undefined;
}
