/** conversation.list: conversations, the last changed first. */

import { z } from "zod";
import { limits } from "../limits.ts";
import { isProblem } from "../problem.ts";
import { rowsField, tool } from "./tool.ts";
import { conversationSchema, conversationView } from "./view.ts";

const input = z.strictObject({
  title: z.string().max(limits.titleChars).optional().describe("Only those whose title contains this"),
  before: z.number().optional().describe("Only those last changed before this time (updated_at): to read on"),
  limit: rowsField(limits.listRows, 50),
});

export const conversationList = tool({
  name: "conversation.list",
  description:
    "List conversations, the last changed first. more says that there are further ones; read on with before.",
  input,
  output: z.object({ conversations: z.array(conversationSchema), more: z.boolean() }),
  access: "read",
  async run(call, { title, before, limit }) {
    const found = await call.kernel.conversations({
      limit: limit + 1,
      ...(title === undefined ? {} : { title }),
      ...(before === undefined ? {} : { before }),
    });
    if (isProblem(found)) return found;
    return { conversations: found.slice(0, limit).map(conversationView), more: found.length > limit };
  },
});
