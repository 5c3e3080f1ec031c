/** conversation.read: a conversation's record, its turns, and the outline of its last blocks. */

import { z } from "zod";
import type { Block } from "../model/block.ts";
import { limits } from "../model/limits.ts";
import { isProblem } from "../model/problem.ts";
import { rowOf, rowSchema } from "./block-list.ts";
import { conversationField, rowsField, tool } from "./tool.ts";
import { conversationSchema, conversationView, turnSchema, turnView } from "./view.ts";

const input = z.strictObject({
  conversation: conversationField,
  blocks: z
    .number()
    .int()
    .min(0)
    .max(limits.listRows)
    .default(50)
    .describe("How many of its last blocks to outline"),
  turns: rowsField(limits.listRows, 50).describe("How many of its last turns"),
  heads: z
    .boolean()
    .default(false)
    .describe("Also return all heads: blocks where the conversation can continue"),
});

export const conversationRead = tool({
  name: "conversation.read",
  description:
    "Read a conversation: title, head, usage, cost, its last turns, and a summary of its last blocks, oldest first. Read " +
    "texts with block.read, older blocks with block.list.",
  input,
  output: z.object({
    conversation: conversationSchema,
    turns: z.array(turnSchema),
    blocks: z.array(rowSchema),
    more: z.boolean().describe("There are older blocks"),
    heads: z.array(z.string()).optional(),
  }),
  access: "read",
  async run(call, given) {
    const { kernel } = call;
    const { conversation } = given;
    const record = await kernel.conversation(conversation);
    if (isProblem(record)) return record;
    const turns = await kernel.turns(conversation);
    if (isProblem(turns)) return turns;
    const limit = given.heads ? 1e9 : given.blocks + 1;
    const found = await kernel.blocks({ conversation, order: "last", limit });
    if (isProblem(found)) return found;
    const rows: z.infer<typeof rowSchema>[] = [];
    for (const block of found.slice(0, given.blocks).reverse()) rows.push(await rowOf(kernel, block));
    return {
      conversation: conversationView(record),
      turns: turns.slice(-given.turns).map(turnView),
      blocks: rows,
      more: found.length > given.blocks,
      ...(given.heads ? { heads: headsOf(found) } : {}),
    };
  },
});

/** Blocks that continue the conversation and that nothing continues, newest first. */
function headsOf(blocks: readonly Block[]): string[] {
  const path = blocks.filter(({ side }) => !side);
  const continued = new Set(path.map(({ parent }) => parent));
  return path
    .filter(({ id }) => !continued.has(id))
    .map(({ id }) => id)
    .slice(0, limits.listRows);
}
