/**
 * conversation.context: what a model would be sent now, for programs with a loop of their own. The messages are those that
 * the built-in loop sends, in names that no provider owns; what a provider wants them to be called is up to the program.
 */

import {
  blockIdField,
  conversationField,
  isProblem,
  type Json,
  limits,
  problem,
  snapshotSchema,
  snapshotView,
  tool,
} from "@blockyard/kernel";
import { z } from "zod";
import { PROVIDER_NAMES } from "../../access/agent-names.ts";
import { ownerName } from "../../access/auth.ts";
import { type Message, type Picture, validate } from "./exchange.ts";
import { type ModelContext, modelContext } from "./model-context.ts";

const input = z.strictObject({
  conversation: conversationField,
  head: blockIdField.optional().describe("Up to this block. Default: the conversation's head"),
  reasoner: z
    .enum(["anthropic", "openai"])
    .optional()
    .describe("Also the signed reasoning that goes back to this provider. Default: none"),
  blocks: z.boolean().default(true).describe("Give the blocks, with their text"),
  messages: z.boolean().default(true).describe("Give the messages"),
});

const picture = z.object({ media_type: z.string(), data: z.string().describe("Base64") });

const part = z.union([
  z.object({ type: z.literal("text"), text: z.string() }),
  z.object({ type: z.literal("image"), image: picture }),
  z.object({
    type: z.literal("thinking"),
    text: z.string(),
    signature: z.string().optional(),
    opaque: z.string().optional(),
    item_id: z.string().optional(),
  }),
  z.object({
    type: z.literal("tool_call"),
    tool_use_id: z.string(),
    tool_name: z.string(),
    input: z.record(z.string(), z.unknown()),
  }),
  z.object({
    type: z.literal("tool_result"),
    tool_use_id: z.string(),
    text: z.string(),
    images: z.array(picture),
    is_error: z.boolean(),
  }),
]);

const output = z.object({
  head: z.string().nullable(),
  system: z.string().describe("What the conversation's system blocks say"),
  blocks: z
    .array(snapshotSchema.extend({ included: z.boolean().describe("From elsewhere; it stands in front") }))
    .optional(),
  messages: z
    .array(z.object({ role: z.enum(["user", "assistant"]), content: z.array(part) }))
    .optional()
    .describe("Alternating, the user first; each tool_call has its tool_result in the next message"),
  unsendable: z.string().optional().describe("Why a provider would not take the messages as they are"),
});

type Part = z.infer<typeof part>;

export const conversationContext = tool({
  name: "conversation.context",
  description:
    "What a model would be sent now: the path to the head without what is pruned, each tool call with its result, and what " +
    "is included in front. As blocks, and as messages that fit any provider's API. For your own loop: send these, then " +
    "write the answer with turn.begin, block.create, block.append and turn.end.",
  input,
  output,
  access: "read",
  async run({ kernel, caller }, { conversation, head, reasoner, ...wanted }) {
    const record = await kernel.conversation(conversation);
    if (isProblem(record)) return record;
    // Whose loop it is, its own words are the model's.
    const owner = caller.role === "owner" ? caller.agent : ownerName();
    const voices = { owner, agents: new Set([...PROVIDER_NAMES, caller.agent]) };
    const context = await modelContext(kernel, { conversation, head, reasoner, system: "", voices });
    if (isProblem(context)) return context;
    const chars = context.blocks.reduce((sum, { block }) => sum + block.chars, 0);
    if (chars > limits.contextChars) {
      const message = `the context has ${chars} characters, more than the ${limits.contextChars} of one answer; prune some of it`;
      return problem("too_large", message, { chars, max_chars: limits.contextChars });
    }
    return { head: head ?? record.head, ...answerOf(context, wanted) };
  },
});

function answerOf(
  { blocks, exchange }: ModelContext,
  wanted: { readonly blocks: boolean; readonly messages: boolean },
): Omit<z.infer<typeof output>, "head"> {
  const unsendable = validate(exchange)?.message;
  return {
    system: exchange.system,
    ...(wanted.blocks
      ? { blocks: blocks.map(({ block, included }) => ({ ...snapshotView(block), included })) }
      : {}),
    ...(wanted.messages ? { messages: exchange.messages.map(messageView) } : {}),
    ...(unsendable === undefined ? {} : { unsendable }),
  };
}

function messageView({ role, parts }: Message): { role: "user" | "assistant"; content: Part[] } {
  return { role, content: parts.map(partView) };
}

function partView(given: Message["parts"][number]): Part {
  switch (given.type) {
    case "text":
      return { type: "text", text: given.text };
    case "image":
      return { type: "image", image: pictureView(given.picture) };
    case "thinking": {
      const { text, signature, opaque, itemId } = given;
      const own = {
        ...(signature === undefined ? {} : { signature }),
        ...(opaque === undefined ? {} : { opaque }),
      };
      return { type: "thinking", text, ...own, ...(itemId === undefined ? {} : { item_id: itemId }) };
    }
    case "call":
      return {
        ...{ type: "tool_call", tool_use_id: given.id, tool_name: given.name },
        input: given.input as Record<string, Json>,
      };
    case "result": {
      const { id, text, pictures, isError } = given;
      return {
        type: "tool_result",
        tool_use_id: id,
        text,
        images: pictures.map(pictureView),
        is_error: isError,
      };
    }
  }
}

function pictureView({ mediaType, data }: Picture): z.infer<typeof picture> {
  return { media_type: mediaType, data };
}
