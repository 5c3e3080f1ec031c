/** conversation.update: changes the title, archives or unarchives. Nothing is deleted. */

import { z } from "zod";
import { limits } from "../model/limits.ts";
import { cleanText } from "../text/sanitize.ts";
import { mayDirect } from "./rights.ts";
import { conversationField, tool, writer } from "./tool.ts";

const input = z.strictObject({
  conversation: conversationField,
  title: z.string().max(limits.titleChars).optional(),
  archived: z.boolean().optional().describe("true archives it, false unarchives it"),
});

export const conversationUpdate = tool({
  name: "conversation.update",
  description:
    "Rename a conversation, archive it (archived: true) or unarchive it (archived: false). An " +
    "archived conversation can still be found and read; lists for people leave it out.",
  input,
  output: z.object({ title: z.string(), archived: z.boolean() }),
  access: "write",
  run: (call, { conversation, title, archived }) =>
    call.kernel.write(conversation, {
      ...writer(call),
      plan: (draft) => {
        const { record } = draft;
        const refused = mayDirect(call.caller, record);
        if (refused) return refused;
        const isArchived = record.metadata.archived === true;
        const name = title === undefined ? undefined : cleanText(title).trim();
        const isNew = name !== undefined && name !== record.title;
        const isMoved = archived !== undefined && archived !== isArchived;
        if (isNew || isMoved)
          draft.conversation({
            ...(isNew ? { title: name } : {}),
            metadata: {
              ...(isNew ? { titled: null } : {}),
              ...(isMoved ? { archived: archived ? true : null } : {}),
            },
          });
        return { title: draft.record.title, archived: archived ?? isArchived };
      },
    }),
});
